package doctor_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Each finding has a fix that its text does not repeat, and each trap has such a finding.
func TestEachTrapHasAFix(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(folder + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	unreviewed := doctor.Case{Site: "prod", Set: policy.Set{NoReview: true, Default: policy.Policy{Review: true}}}
	found := doctor.Examine(unreviewed).Findings
	changed := worker
	changed.Replicas = workload.Replicas
	differing := doctor.ReadCluster(t.Context(), defines, workload.Kinds{"worker": changed})
	found = append(found, doctor.Examine(doctor.Case{Site: "prod", Cluster: differing}).Findings...)
	for _, file := range files {
		found = append(found, read(t, strings.TrimSuffix(filepath.Base(file), ".txtar")).examine(t).Findings...)
	}
	seen := map[string]bool{}
	for _, f := range found {
		seen[string(f.Trap)] = true
		if f.Text == "" || f.Fix == "" || strings.Contains(f.Text, f.Fix) || strings.Contains(f.Text+f.Fix, "%!") {
			t.Errorf("%s of %s has the text %q and the fix %q", f.Trap, f.Subject, f.Text, f.Fix)
		}
	}
	source, err := os.ReadFile("trap.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, trap := range regexp.MustCompile(`Trap += "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		if !seen[trap[1]] {
			t.Errorf("nothing is found of %s", trap[1])
		}
	}
}

// A finding of several subjects is printed once: with up to five names, or else with the
// list of their namespaces. Different fixes have a line each.
func TestAFindingIsPrintedOnce(t *testing.T) {
	t.Parallel()
	report := func(trap doctor.Trap, fix string, subjects ...string) (r doctor.Report) {
		for _, subject := range subjects {
			r.Findings = append(r.Findings, doctor.Finding{Trap: trap, Subject: subject, Text: "No rule.", Fix: strings.ReplaceAll(fix, "SUBJECT", subject)})
		}
		return r
	}
	for name, c := range map[string]struct {
		r    doctor.Report
		want string
	}{
		"five workloads": {report(doctor.NoApplier, "render it", "cart/a", "cart/b", "shop/a", "shop/b", "shop/c"),
			"no-applier: cart/a, cart/b, shop/a, shop/b, shop/c\n  No rule.\n  Fix: render it\n\n"},
		"more workloads": {report(doctor.NoApplier, "render it", "cart/a", "cart/b", "shop/a", "shop/b", "shop/c", "shop/d"),
			"no-applier: 6 workloads in cart, shop\n  No rule.\n  Fix: render it\n\n"},
		"Applications": {report(doctor.NotBuilt, "copy it", "Application argocd/a", "Application argocd/b", "Application argocd/c", "Application argocd/d", "Application argocd/e", "Application argocd/f"),
			"not-built: 6 Applications in argocd\n  No rule.\n  Fix: copy it\n\n"},
		"namespaces": {report(doctor.ComponentMissing, "render it", "a", "b", "c", "d", "e", "f"),
			"component-missing: a, b, c, d, e, f\n  No rule.\n  Fix: render it\n\n"},
		"a fix for each": {report(doctor.ComponentMissing, "add checkpoints/SUBJECT", "cart", "shop"),
			"component-missing: cart, shop\n  No rule.\n  Fix: add checkpoints/cart\n  Fix: add checkpoints/shop\n\n"},
	} {
		var out bytes.Buffer
		if err := c.r.Table(&out, term.Style{}); err != nil || !strings.HasPrefix(out.String(), c.want) || strings.Count(out.String(), "No rule.") != 1 {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, &out, c.want)
		}
	}
}
