package kube

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A canary is what is read of Flagger's resource of that name.
type canary struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		TargetRef      Reference `json:"targetRef"`
		Suspend        bool      `json:"suspend"`
		Analysis       *analysis `json:"analysis"`
		CanaryAnalysis *analysis `json:"canaryAnalysis"` // its name before
	} `json:"spec"`

	Status struct {
		Phase            string             `json:"phase"`
		CanaryWeight     int32              `json:"canaryWeight"` // in percent
		LastAppliedSpec  string             `json:"lastAppliedSpec"`
		LastPromotedSpec string             `json:"lastPromotedSpec"`
		Conditions       []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

type analysis struct {
	Iterations  int32   `json:"iterations"` // of blue-green and A/B, without weights
	MaxWeight   int32   `json:"maxWeight"`
	StepWeights []int32 `json:"stepWeights"`
}

// Flagger's phases that are told apart. In those that are not named all load is
// the primary's.
const (
	phaseNone             = ""
	phaseInitializing     = "Initializing"
	phaseWaiting          = "Waiting"
	phaseWaitingPromotion = "WaitingPromotion"
	phasePromoting        = "Promoting"
	phaseFinalising       = "Finalising"
	phaseFailed           = "Failed"
	phaseTerminating      = "Terminating"
	phaseTerminated       = "Terminated"
)

// PrimarySuffix is what Flagger adds to the name of a target, for the copy of it
// that carries the load.
const PrimarySuffix = "-primary"

// IsPrimary reports whether Flagger made an object: it is in no manifest.
func IsPrimary(o *metav1.ObjectMeta) bool { return ownerOf(o, "Canary", "flagger.app") != "" }

// A promotion is how Flagger promotes one workload, the target, which git
// states: it makes a copy of it, the primary, which carries the load, and has
// pods of the target itself only while it tries a new template.
type promotion struct {
	target workload.ID // the zero ID where it is no workload that is sampled
	phase  string
	weight int32 // of the traffic that the target gets, in percent
	// to and from are Flagger's hashes of the target's template and of the one
	// that was promoted last; "" before there is one.
	to, from string
	failure  string
	halted   string
}

func readCanary(o *canary, kinds workload.Kinds) promotion {
	p := promotion{
		target: o.Spec.TargetRef.OrDeployment().Workload(kinds, o.Namespace),
		phase:  o.Status.Phase,
		weight: percent(o.Status.CanaryWeight, 100),
		to:     o.Status.LastAppliedSpec,
		from:   o.Status.LastPromotedSpec,
	}
	if o.DeletionTimestamp != nil {
		p.phase = phaseTerminating
	}
	switch {
	case p.phase == phaseFailed:
		p.failure = phaseFailed
		if c := apimeta.FindStatusCondition(o.Status.Conditions, "Promoted"); c != nil {
			p.failure = sanitize.Words(cmp.Or(c.Message, c.Reason))
		}
	case o.Spec.Suspend:
		p.halted = "suspended"
	case p.phase == phaseWaiting, p.phase == phaseWaitingPromotion:
		p.halted = "waiting for approval"
	}
	if p.phase == phaseWaitingPromotion {
		// The status says 0 from here on, and nothing moves the traffic.
		p.weight = cmp.Or(o.Spec.Analysis, o.Spec.CanaryAnalysis, &analysis{}).top()
	}
	return p
}

// top is the share of the traffic that a target ends its analysis with.
func (a *analysis) top() int32 {
	switch n := len(a.StepWeights); {
	case a.Iterations > 0:
		return 0
	case n > 0:
		return percent(a.StepWeights[n-1], 100)
	}
	return percent(cmp.Or(a.MaxWeight, 100), 100)
}

// primary is what Flagger makes of the target.
func (p promotion) primary() workload.ID {
	id := p.target
	id.Name += PrimarySuffix
	return id
}

// begun reports whether the target is a workload as any other still, or again.
func (p promotion) begun() bool {
	return !slices.Contains([]string{phaseNone, phaseInitializing, phaseTerminating, phaseTerminated}, p.phase)
}

// inFlight reports whether the target's template is another than the primary's.
// One that failed is so until git states another.
func (p promotion) inFlight() bool {
	return p.begun() && p.from != "" && p.to != p.from
}

// promoted joins each target with its primary, and leaves out what is in no
// manifest. Without the promotions, which is what unread says, of a target whose
// primary is there nothing is known.
func promoted(all []reading, by []promotion, unread string) []reading {
	at := make(map[workload.ID]*reading, len(all))
	gone := map[workload.ID]bool{}
	for i := range all {
		at[all[i].sample.ID] = &all[i]
		gone[all[i].stoodFor] = true
	}
	for i, p := range by {
		target, primary := at[p.target], at[p.primary()]
		switch {
		case target == nil, target.promotion != nil:
		case primary != nil:
			target.promotion, target.primary = &by[i], primary
			target.flight = nil
			if !p.inFlight() {
				target.flight = primary.flight
			}
		case p.begun():
			target.sample = unknown(target.sample, "its primary does not exist")
			target.flight = nil
		}
	}
	for i := range all {
		id := all[i].sample.ID
		if !all[i].made {
			continue
		}
		gone[id] = true
		id.Name = strings.TrimSuffix(id.Name, PrimarySuffix)
		if target := at[id]; unread != "" && target != nil {
			target.sample, target.flight = unknown(target.sample, unread), nil
		}
	}
	isGone := func(r reading) bool { return gone[r.sample.ID] }
	if !slices.ContainsFunc(all, isGone) {
		return all // those of a large cluster are not copied for nothing
	}
	return slices.DeleteFunc(slices.Clone(all), isGone)
}

// unknown returns the sample without its readings, and why.
func unknown(s workload.Sample, why string) workload.Sample {
	s.Scale, s.Rollout = nil, nil
	s.Unknown = join(s.Unknown, why)
	return s
}

// sample returns the sample of the target, as its manifest names it, from the
// scales of both, with what their autoscalers say.
func (p promotion) sample(target, primary *reading, scale, primarys *workload.Scale) workload.Sample {
	s := target.sample
	if why := join(s.Unknown, primary.sample.Unknown); why != "" {
		s.Unknown = ""
		return unknown(s, why)
	}
	if s.ID.Kind.Scales() {
		s.Scale = p.served(*scale, *primarys)
	}
	s.Rollout = primary.sample.Rollout
	if p.inFlight() {
		s.Rollout = p.rollout(target, primary)
		if s.Scale != nil {
			s.Rollout.Desired = s.Scale.Desired
		}
	}
	return s
}

// served returns what carries the load: the scale of the primary, as its own
// autoscaler bounds it, and never more pods than serve. A target at zero is at
// rest, one that something else scales does nothing, and neither is suspended.
func (p promotion) served(target, primary workload.Scale) *workload.Scale {
	s := primary
	s.Applied, s.Unstated = target.Applied, false
	switch {
	case !p.begun(), p.phase == phasePromoting, p.phase == phaseFinalising:
		// Either has all of the load: it is on its way from one to the other.
		s.Desired = max(target.Desired, primary.Desired)
	case p.inFlight() && p.weight > 0:
		s.Desired = shared(target, primary, p.weight)
	default:
		return &s
	}
	s.Ready = min(s.Desired, target.Ready+primary.Ready)
	return &s
}

// shared returns how many pods it takes to serve what two fleets share, of which
// the target has weight percent. Each that an autoscaler holds above its floor
// says what all of it would take; the lower of the two is the one that is not
// late. Where neither says anything, each has as many as it would alone: the
// larger is the need. It is never more than there are.
func shared(target, primary workload.Scale, weight int32) int32 {
	need := int64(target.Desired) + int64(primary.Desired)
	known := false
	for _, f := range []struct {
		workload.Scale
		weight int32
	}{{target, weight}, {primary, 100 - weight}} {
		if f.weight > 0 && f.Driver != workload.DrivenByNothing && f.Desired > max(1, f.Min) {
			need = min(need, (100*int64(f.Desired)+int64(f.weight)-1)/int64(f.weight))
			known = true
		}
	}
	most := max(target.Desired, primary.Desired)
	if !known {
		return most
	}
	return max(most, int32(need))
}

// rollout returns a rollout in flight: from what is promoted to what the target
// has, whose share is told by its traffic. Once its analysis is over the primary
// has the target's template, too, and it has it all.
func (p promotion) rollout(target, primary *reading) *workload.Rollout {
	r := &workload.Rollout{InFlight: true, Desired: primary.sample.Rollout.Desired, Failure: p.failure, Halted: p.halted}
	share, before := p.weight, primary.template
	if p.phase == phasePromoting || p.phase == phaseFinalising {
		share, before = 100, nil
	}
	r.Traffic = &share
	r.Templates = []workload.Template{
		{Hash: p.to, Images: images(target.template), Desired: target.sample.Rollout.Desired, Available: target.available},
		{Hash: p.from, Images: images(before), Desired: primary.sample.Rollout.Desired, Available: primary.available,
			ImagesOnly: before != nil && target.template != nil && differInImages(target.template, original(before, target.template))},
	}
	return r
}

// original returns the template of a primary without what Flagger changed of it,
// as far as that can be told: names of the ConfigMaps and Secrets that it copied
// stay, and the template then differs in more than its images.
func original(primary, target *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	t := primary.DeepCopy()
	for name, value := range t.Labels {
		if value == target.Labels[name]+PrimarySuffix {
			t.Labels[name] = target.Labels[name]
		}
	}
	delete(t.Annotations, "flagger-id")
	if len(t.Annotations) == 0 {
		t.Annotations = target.Annotations
	}
	return t
}
