package config

import (
	"errors"
	"fmt"
	"path"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// wrongPattern returns an error if s is not a pattern of path.Match.
func wrongPattern(s string) error {
	if _, err := path.Match(s, ""); err != nil {
		return fmt.Errorf("must be a pattern, got %s: a [ has no ]", yamldoc.Quote(s))
	}
	return nil
}

// WrongSite returns an error if gitlatch uses a DNS label for a folder that is not of a site.
func WrongSite(label string) error {
	if label == "admission" {
		return errors.New("must not be admission, because the folder checkpoints/admission contains the admission policy. Use another name, such as prod-eu")
	}
	return nil
}

// check reports the problems between fields, after all fields were read. A field that
// could not be read has its preset's value, and so causes no second problem.
func (d *policyDocument) check(r *yamldoc.Reader, _ string) {
	for i, rule := range d.rules {
		checkPolicy(r, yamldoc.Index("policies", i), rule.Policy)
	}
	for _, p := range d.set.Guards.Problems() {
		r.Report(p.Field, "%s", p.Text)
	}
	d.checkNames(r)
	d.checkOrder(r)
}

func checkPolicy(r *yamldoc.Reader, at string, p policy.Policy) {
	for _, problem := range p.Problems() {
		// The check of a margin depends on the series. If the series could not be read
		// and the document sets no margin, the problem is only a consequence of that.
		margin := at + ".margin"
		if problem.Field == "margin" && r.Failed(at+".series") && r.Line(margin) == 0 {
			continue
		}
		r.Report(at+"."+problem.Field, "%s", problem.Text)
	}
}

func (d *policyDocument) checkNames(r *yamldoc.Reader) {
	named := firsts{}
	for i, rule := range d.rules {
		at := yamldoc.Index("policies", i) + ".name"
		switch before, twice := named.before(i, rule.Policy.Name); {
		case rule.Policy.Name == "":
		case rule.Policy.Name == defaultName && !rule.Match.Empty():
			r.Report(at, "must not be default, the name of the policy for all other workloads. Rename it")
		case twice:
			r.Report(at, "must be unique, got %q, which policies[%d] has: rename one", rule.Policy.Name, before)
		}
	}
}

// checkOrder reports the policies after a policy with an empty match, which never select a
// workload.
func (d *policyDocument) checkOrder(r *yamldoc.Reader) {
	rest := -1
	for i, rule := range d.rules {
		at := yamldoc.Index("policies", i)
		match := at + ".match"
		switch {
		case rest >= 0:
			r.Report(at, "must come before policies[%d], whose empty match selects all other workloads. Only the last policy may have an empty match", rest)
		case rule.Match.Empty() && r.Line(match) > 0 && !r.Failed(match):
			rest = i
		}
	}
}
