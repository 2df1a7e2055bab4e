package policy

import (
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// system is a namespace that gitlatch latches only if a rule names it.
const system = "kube-system"

// Choose returns the policy of a workload. If the workload is not latched,
// latched is false and skip has the reason.
func (s Set) Choose(sample workload.Sample) (p Policy, skip Decision, latched bool) {
	p, explicit := s.find(sample)
	p.Review = p.Review && !s.NoReview
	skip = Decision{ID: sample.ID}
	if sample.Scale != nil {
		skip.Count = sample.Scale.Desired
	}
	switch {
	case !sample.ID.Kind.Scales():
		return p, skip.as(Skip, ReasonNoScale, "its kind has no scale"), false
	case sample.OptOut:
		return p, skip.as(Skip, ReasonOptedOut, "an annotation on the workload opts out"), false
	case sample.ID.Namespace == system && !explicit:
		return p, skip.as(Skip, ReasonSystem, "no policy lists the namespace "+system), false
	case p.Scale == ModeIgnore:
		return p, skip.as(Skip, ReasonIgnored, fmt.Sprintf("policy %q ignores scale", p.Name)), false
	case sample.Scale != nil && sample.Scale.Driver == workload.DrivenByNothing && !p.Undriven:
		return p, skip.as(Skip, ReasonUndriven, "it has no autoscaler"), false
	}
	return p, Decision{}, true
}

// Unreviewed returns the fields that have no effect because the host has no pull requests.
func (s Set) Unreviewed() []Problem {
	var found checker
	for i, rule := range s.Rules {
		found.check(!rule.Policy.Review || !s.NoReview, fmt.Sprintf("policies[%d].review", i),
			"the repository's host has no pull requests, so gitlatch commits a surge and sends an alert: remove the field, or use a repository on GitHub, GitLab or CodeCommit")
	}
	return found
}

// ChooseRollout returns the policy for the rollouts of a workload, with or without an
// autoscaler. For a workload that opted out, it returns a policy that ignores rollouts. Then
// gitlatch removes an existing rollout entry, because no later sample would end it.
func (s Set) ChooseRollout(sample workload.Sample) Policy {
	p, explicit := s.find(sample)
	if sample.OptOut || sample.ID.Namespace == system && !explicit {
		p.Rollout = ModeIgnore
	}
	return p
}

// find returns the policy that the workload's annotation names, else the policy of
// the first rule that matches. explicit is true if that rule names the namespace
// without a pattern. An annotation counts only if the match of the named policy covers
// the namespace, so a tenant cannot choose a policy of another namespace. It does not count
// if the match is empty, because that policy is for the workloads that no other selects.
// Choose ignores an annotation that names no such policy, so a typo does not end latching.
func (s Set) find(sample workload.Sample) (p Policy, explicit bool) {
	p = s.Default
	for i := len(s.Rules) - 1; i >= 0; i-- {
		if rule := s.Rules[i]; rule.Match.Matches(sample) {
			p, explicit = rule.Policy, slices.Contains(rule.Match.Namespaces, sample.ID.Namespace)
		}
	}
	if sample.Policy == "" {
		return p, explicit
	}
	for _, rule := range s.Rules {
		if rule.Policy.Name == sample.Policy && !rule.Match.Empty() && anyOf(rule.Match.Namespaces, sample.ID.Namespace) {
			return rule.Policy, explicit
		}
	}
	return p, explicit
}
