package publish

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The body of a proposal has a row for each crossing and a list of the restored files. Text
// from a cluster stays in its cell, and has no effect in Markdown.
func TestTheBodyOfAProposal(t *testing.T) {
	t.Parallel()
	id := func(name string) workload.ID {
		return workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
	}
	at := func(n int32) checkpoint.Entry { return checkpoint.Entry{Replicas: n} }
	crossings := []policy.Decision{
		{ID: id("web"), Verdict: policy.Review, From: at(100), To: at(500), Surge: true, Text: "a|b\n<img> *c*"},
		{ID: id("api"), Verdict: policy.Cross, To: at(20)},
	}
	const (
		table = "These workloads have left their levels."
		parts = "This proposal restores it, and changes no level:"
		inert = "It does not change the live cluster."
	)
	all := []string{table, parts, inert}
	for _, c := range []struct {
		name      string
		crossings []policy.Decision
		restored  []string
		want      []string
	}{
		{"crossings", crossings, nil, []string{table, inert,
			"\n| shop/deployment/web | 100 | 500 | **surge:** a\\|b &lt;img> \\*c\\* |\n",
			"\n| shop/deployment/api | new | 20 | unchanged since the last proposal |\n",
		}},
		{"restored text", nil, []string{"pay", "shop"}, []string{parts, inert, "\n- pay\n- shop\n"}},
	} {
		body := body("prod", c.crossings, c.restored)
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, body)
			}
		}
		for _, part := range all {
			if wanted := strings.Contains(strings.Join(c.want, "\x00"), part); !wanted && strings.Contains(body, part) {
				t.Errorf("%s: %q is in\n%s", c.name, part, body)
			}
		}
	}
}
