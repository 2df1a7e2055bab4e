package config

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/strict"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// wrongPattern says what is wrong with a pattern of path.Match.
func wrongPattern(s string) error {
	if _, err := path.Match(s, ""); err != nil {
		return fmt.Errorf("must be a pattern, got %s: a [ has no ]", strict.Quote(s))
	}
	return nil
}

// check judges what was read as a whole. A field that could not be read has its
// preset's value, so that it draws no second problem.
func (d *policyDocument) check(r *strict.Reader, _ string) {
	for i, rule := range d.rules {
		checkPolicy(r, strict.Index("policies", i), rule.Policy)
	}
	if r.Line("default") > 0 {
		checkPolicy(r, "default", d.set.Default)
	}
	for _, p := range d.set.Guards.Problems() {
		r.Report("guards."+p.Field, "%s", p.Text)
	}
	d.checkNames(r)
	d.checkReach(r)
}

func checkPolicy(r *strict.Reader, at string, p policy.Policy) {
	for _, problem := range p.Problems() {
		// A margin is judged by the series. Where that could not be read, it is the
		// preset's, which a margin that nobody wrote fits by itself.
		margin := at + ".margin"
		if problem.Field == "margin" && r.Failed(at+".series") && r.Line(margin) == 0 {
			continue
		}
		r.Report(at+"."+problem.Field, "%s", problem.Text)
	}
}

func (d *policyDocument) checkNames(r *strict.Reader) {
	named := firsts{}
	for i, rule := range d.rules {
		at := strict.Index("policies", i) + ".name"
		switch before, twice := named.before(i, rule.Policy.Name); {
		case rule.Policy.Name == "":
		case rule.Policy.Name == defaultName:
			r.Report(at, "must not be default, which is the policy of what no other matches: rename it")
		case twice:
			r.Report(at, "must be unique, got %q, which policies[%d] has: rename one", rule.Policy.Name, before)
		}
	}
}

// checkReach reports a policy that no workload can have, since one before it
// matches whatever it matches.
func (d *policyDocument) checkReach(r *strict.Reader) {
	read := func(i int) bool {
		at := strict.Index("policies", i) + ".match"
		return r.Line(at) > 0 && !r.Failed(at)
	}
	for i, rule := range d.rules {
		for j, before := range d.rules[:i] {
			if read(i) && read(j) && covers(before.Match, rule.Match) {
				r.Report(strict.Index("policies", i)+".match", "must reach a workload, and policies[%d] takes all that it matches: move it before that one, or remove it", j)
				break
			}
		}
	}
}

const kubeSystem = "kube-system"

// covers reports whether a matches all that b matches. It errs towards false:
// of patterns it knows the star alone and names without any.
func covers(a, b policy.Match) bool {
	for key, want := range a.Labels {
		if got, ok := b.Labels[key]; !ok || got != want {
			return false
		}
	}
	if slices.Contains(b.Namespaces, kubeSystem) && !slices.Contains(a.Namespaces, kubeSystem) {
		return false
	}
	same := func(a, b workload.Kind) bool { return a == b }
	return all(a.Kinds, b.Kinds, same) && all(a.Namespaces, b.Namespaces, coversName) && all(a.Names, b.Names, coversName)
}

// all reports whether each of b is covered by one of a. A list that is empty names
// all there is.
func all[S ~string](a, b []S, covers func(a, b S) bool) bool {
	if len(b) == 0 {
		b = []S{"*"}
	}
	uncovered := func(b S) bool {
		return !slices.ContainsFunc(a, func(a S) bool { return covers(a, b) })
	}
	return len(a) == 0 || !slices.ContainsFunc(b, uncovered)
}

func coversName(pattern, name string) bool {
	matches, _ := path.Match(pattern, name)
	return pattern == "*" || pattern == name || matches && !strings.ContainsAny(name, "*?[")
}
