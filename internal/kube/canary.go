package kube

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A canary has the fields that gitlatch reads of Flagger's Canary resource.
type canary struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		TargetRef      Reference `json:"targetRef"`
		Suspend        bool      `json:"suspend"`
		Analysis       *analysis `json:"analysis"`
		CanaryAnalysis *analysis `json:"canaryAnalysis"` // the former name of analysis
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
	Iterations  int32   `json:"iterations"` // for blue-green and A/B, which have no weights
	MaxWeight   int32   `json:"maxWeight"`
	StepWeights []int32 `json:"stepWeights"`
}

// The phases of Flagger that change the reading. In all other phases the primary carries
// the full load.
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

// PrimarySuffix is the suffix that Flagger adds to the name of a target. The result is
// the name of the copy that carries the load.
const PrimarySuffix = "-primary"

// IsPrimary reports whether Flagger created the object. Such an object is not in git.
func IsPrimary(o *metav1.ObjectMeta) bool { return ownerOf(o, "Canary", "flagger.app") != "" }

// A promotion is the state of Flagger's promotion of one workload, the target, which is
// in git. Flagger copies it to a second workload, the primary, which carries the load.
// The target has pods only while Flagger tests a new template.
type promotion struct {
	target workload.ID // the zero ID if gitlatch does not sample the target
	phase  string
	weight int32 // the target's share of the traffic, in percent
	// to is Flagger's hash of the target's template. from is the hash of the template
	// that was promoted last; "" before the first promotion.
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
		// The status reports a weight of 0 from here on, but the traffic does not move.
		p.weight = cmp.Or(o.Spec.Analysis, o.Spec.CanaryAnalysis, &analysis{}).top()
	}
	return p
}

// top returns the target's share of the traffic at the end of its analysis, in percent.
func (a *analysis) top() int32 {
	switch n := len(a.StepWeights); {
	case a.Iterations > 0:
		return 0
	case n > 0:
		return percent(a.StepWeights[n-1], 100)
	}
	return percent(cmp.Or(a.MaxWeight, 100), 100)
}

// primary returns the ID of the workload that Flagger creates for the target.
func (p promotion) primary() workload.ID {
	id := p.target
	id.Name += PrimarySuffix
	return id
}

// begun reports whether Flagger has taken over the target. Before that, and after the
// Canary is deleted, the target is an ordinary workload.
func (p promotion) begun() bool {
	return !slices.Contains([]string{phaseNone, phaseInitializing, phaseTerminating, phaseTerminated}, p.phase)
}

// inFlight reports whether the target's template differs from the primary's. After a
// failed promotion it does until git states another template.
func (p promotion) inFlight() bool {
	return p.begun() && p.from != "" && p.to != p.from
}

// promoted joins each target with its primary, and leaves out workloads that are not in
// git. unread is the reason why the promotions could not be listed, or "". If it is set,
// each target whose primary exists is unknown.
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
		return all // avoids a copy of the list of a large cluster
	}
	return slices.DeleteFunc(slices.Clone(all), isGone)
}

// unknown returns the sample without its readings, and with the reason.
func unknown(s workload.Sample, why string) workload.Sample {
	s.Scale, s.Rollout = nil, nil
	s.Unknown = join(s.Unknown, why)
	return s
}

// sample returns the sample of the target under the name that its manifest has. scale and
// primarys are the scales of both workloads with the data of their autoscalers.
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

// served returns the scale that carries the load. It is the primary's scale with the
// bounds of the primary's autoscaler, and never more pods than get traffic. If the target
// gets no traffic, its replicas do not change the result.
func (p promotion) served(target, primary workload.Scale) *workload.Scale {
	s := primary
	s.Unstated = false
	switch {
	case !p.begun(), p.phase == phasePromoting, p.phase == phaseFinalising:
		// The load moves between both, and either may have all of it.
		s.Desired = max(target.Desired, primary.Desired)
	case p.inFlight() && p.weight > 0:
		s.Desired = shared(target, primary, p.weight)
	default:
		return &s
	}
	s.Ready = min(s.Desired, target.Ready+primary.Ready)
	return &s
}

// shared returns how many pods the load needs while target and primary share it. weight
// is the target's share of the traffic in percent.
//
// If an autoscaler runs more pods than its minimum, its replicas divided by its share of
// the traffic are the need. If both do, the lower need counts, because the autoscaler
// with the higher one has not scaled down yet. If neither does, the need is the higher
// number of replicas of the two. The result is never more than the sum of both.
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

// rollout returns the rollout in flight from the promoted template to the target's
// template. Its progress is the target's share of the traffic. After the analysis the
// primary also has the target's template, so the share is 100 %.
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

// original returns the template of a primary without Flagger's changes, as far as
// gitlatch can revert them. It cannot revert the names of copied ConfigMaps and Secrets.
// If the template has such names, it differs from the target's in more than the images.
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
