package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// decided is a report with a decision for each of the given.
func decided(decisions ...policy.Decision) tick.Report {
	r := tick.Report{Site: "prod", At: noon}
	for i, d := range decisions {
		if d.ID == (workload.ID{}) {
			d.ID = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("web-%d", i)}
		}
		r.Decisions = append(r.Decisions, d)
		r.Samples = append(r.Samples, workload.Sample{ID: d.ID, Scale: &workload.Scale{Desired: d.Count}})
	}
	return r
}

func table(t *testing.T, r tick.Report, columns int) string {
	t.Helper()
	var out bytes.Buffer
	if err := New(r).Table(&out, term.Style{Width: columns}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The table has what there is something to say of; the rest is counted, the
// commonest reason first.
func TestTheTableShowsWhatIsNotQuiet(t *testing.T) {
	t.Parallel()
	quiet := policy.Decision{Verdict: policy.Quiet, Text: "within"}
	moved := policy.Decision{Verdict: policy.Quiet, Text: "within", Mismatch: &policy.Bounds{Min: 2}}
	frozen := policy.Decision{Verdict: policy.Frozen, Reason: policy.ReasonRollout, Text: "a rollout"}
	skip := func(r policy.Reason) policy.Decision { return policy.Decision{Verdict: policy.Skip, Reason: r} }
	const end = "no threshold was crossed: no commit\n"
	for _, c := range []struct {
		name      string
		decisions []policy.Decision
		want      string
	}{
		{"nothing at all", nil, end},
		{"quiet alone", []policy.Decision{quiet, quiet}, "2 quiet; tick -o json lists all\n" + end},
		{"all there is", []policy.Decision{frozen}, "WORKLOAD    REPLICAS  DECLARED  DECISION  WHY\nshop/web-0  0         -         freeze    a rollout\n" + end},
		{"quiet with other bounds", []policy.Decision{moved}, "WORKLOAD    REPLICAS  DECLARED  DECISION  WHY\nshop/web-0  0         -         quiet     within; live bounds differ from git's: 2 and up\n" + end},
		{"not latched", []policy.Decision{skip(policy.ReasonNoScale), skip(policy.ReasonUndriven), quiet, skip(policy.ReasonUndriven), skip(policy.ReasonIgnored)},
			"1 quiet, 4 not latched: undriven 2, ignored 1, no-scale 1; tick -o json lists all\n" + end},
	} {
		if got := table(t, decided(c.decisions...), 0); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
}

// On a terminal the reasons are folded below themselves, and nothing of them is
// lost; elsewhere a workload is a line.
func TestTheTableFitsATerminal(t *testing.T) {
	t.Parallel()
	r := decided(
		policy.Decision{
			Verdict: policy.Cross, From: checkpoint.Entry{Replicas: 50}, To: checkpoint.Entry{Replicas: 100}, Count: 51,
			Text: "2 samples in a row round to 100 or more; the last was 51", Mismatch: &policy.Bounds{Min: 2, Max: 900},
		},
		policy.Decision{Verdict: policy.Frozen, Count: 4, Text: "its autoscaler cannot judge: ScalingActive is False: FailedGetResourceMetric"},
	)
	want := `WORKLOAD    REPLICAS  DECLARED  DECISION      WHY
shop/web-0  51        50        cross to 100  2 samples in a row round to 100 or
                                              more; the last was 51; live bounds
                                              differ from git's: 2 to 900
shop/web-1  4         -         freeze        its autoscaler cannot judge:
                                              ScalingActive is False:
                                              FailedGetResourceMetric
what crosses could not be committed
`
	if got := table(t, r, 80); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	plain := table(t, r, 0)
	if n := strings.Count(plain, "\n"); n != 4 {
		t.Errorf("%d lines where it is no terminal:\n%s", n, plain)
	}
	for columns := range 200 {
		if got := table(t, r, columns); !slices.Equal(strings.Fields(got), strings.Fields(plain)) {
			t.Errorf("in %d columns it says other words:\n%s", columns, got)
		}
	}
}

// What is told of a condition stands below it, however narrow the terminal.
func TestAConditionKeepsItsIndent(t *testing.T) {
	t.Parallel()
	r := tick.Report{Site: "prod", At: noon, Conditions: []alert.Condition{{
		Kind: alert.Surge, Subject: "shop/deployment/web", Text: "its need rose from 100 to 900 pods within five minutes", Do: "see whether that is meant",
	}}}
	for line := range strings.Lines(table(t, r, 40)) {
		if !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "warning: ") && !strings.HasPrefix(line, "no threshold") {
			t.Errorf("%q begins where its condition does", line)
		}
	}
}
