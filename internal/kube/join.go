package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A haul is the result of the LISTs: the reduced objects, and the parts that could not be
// listed.
type haul struct {
	workloads   []reading
	autoscalers []autoscaler
	// blindTo is a kind of autoscaler that could not be listed. All scales are then
	// unknown. It is "" if all required kinds were listed.
	blindTo string

	history history
}

// samples returns the samples in the order of workload.Compare, with unique IDs.
func (h haul) samples() []workload.Sample {
	by := make(map[workload.ID][]*autoscaler, len(h.autoscalers))
	for i, a := range h.autoscalers {
		by[a.target] = append(by[a.target], &h.autoscalers[i])
	}
	all := make([]workload.Sample, 0, len(h.workloads))
	scale := func(s workload.Sample) *workload.Scale {
		if s.Scale == nil {
			return nil
		}
		scale := driven(*s.Scale, by[s.ID])
		if scale.Blind != "" { // only if set: it may have text from the cluster
			scale.Blind = sanitize.Words(scale.Blind)
		}
		return scale
	}
	for _, r := range h.workloads {
		s := r.sample
		s.Scale = scale(s)
		if r.promotion != nil {
			s = r.promotion.sample(&r, r.primary, s.Scale, scale(r.primary.sample))
		}
		if h.blindTo != "" && s.ID.Kind.Scales() && s.Unknown == "" {
			s.Scale, s.Unknown = nil, h.blindTo+" could not be listed"
		}
		if r.flight != nil {
			var unread string
			s.Rollout, unread = h.rollout(s.ID.Kind, r.flight)
			s.Unknown = join(s.Unknown, unread)
		}
		if s.Rollout != nil {
			for i := range s.Rollout.Templates { // a status may have any text as a hash
				s.Rollout.Templates[i].Hash = sanitize.Words(s.Rollout.Templates[i].Hash)
			}
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b workload.Sample) int { return workload.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b workload.Sample) bool { return a.ID == b.ID })
}

// rollout returns the rollout of a workload in flight. If the rollout is unknown, it
// returns nil and the reason.
func (h haul) rollout(kind workload.Kind, f *flight) (r *workload.Rollout, unknown string) {
	owned, lost := h.history.of[f.uid], h.history.lost[f.uid]
	switch {
	case lost != "":
		return nil, lost + " could not be listed"
	case kind == workload.Deployment:
		return rolloutOf(f, owned), ""
	case kind == workload.ArgoRollout:
		return steppedOf(f, owned), ""
	}
	return revised(kind, f, owned), ""
}

// join joins two phrases. Each may be "".
func join(a, b string) string {
	return strings.Trim(a+"; "+b, "; ")
}

// driven returns the scale with the data of the autoscalers that target it.
func driven(s workload.Scale, by []*autoscaler) *workload.Scale {
	// A ScaledObject creates an HPA as its tool. The HPA is an autoscaler in its own
	// right only if the ScaledObject could not be read.
	var own []*autoscaler
	tools := map[string]*autoscaler{}
	for _, a := range by {
		isTool := a.owner != "" && slices.ContainsFunc(by, func(o *autoscaler) bool {
			return o.driver == workload.DrivenByKEDA && o.name == a.owner
		})
		if isTool {
			tools[a.owner] = a
			continue
		}
		own = append(own, a)
	}
	if len(own) == 0 {
		return &s
	}
	s.Unstated = false
	s.UpOnly = true
	for _, a := range own {
		b := a.brake
		tool, ok := tools[a.name]
		lowers := ok && a.driver == workload.DrivenByKEDA && !tool.upOnly
		if lowers && b.On != "" {
			b.Ignored = tool.name
		}
		s.UpOnly = s.UpOnly && a.upOnly && !lowers
		s.Brake = cmp.Or(s.Brake, b)
		s.Fixed = cmp.Or(s.Fixed, a.fixed)
	}
	if len(own) > 1 {
		return contested(s, own)
	}
	a := own[0]
	s.Driver = a.driver
	s.Min, s.Max = a.min, a.max
	s.Blind = a.blind
	s.Paused = a.paused
	a.metrics(&s)
	if a.owner != "" {
		s.Driver = workload.DrivenByKEDA
	}
	if tool, ok := tools[a.name]; ok && a.driver == workload.DrivenByKEDA {
		tool.metrics(&s)
		// At zero replicas KEDA decides whether to start pods, and the HPA is idle.
		if s.Blind == "" && s.Desired > 0 {
			s.Blind = tool.blind
		}
	}
	return &s
}

// metrics sets the metric data of the scale.
func (a *autoscaler) metrics(s *workload.Scale) {
	s.Target = a.utilisation
	s.Tolerance = a.tolerance
	s.Load = a.load
}

// contested returns the scale of a workload with several autoscalers. Kubernetes does not
// scale such a workload by metrics: each HPA reports AmbiguousSelector. It still enforces the
// minimum and the maximum of each HPA, except that 0 replicas stay.
func contested(s workload.Scale, by []*autoscaler) *workload.Scale {
	slices.SortFunc(by, func(a, b *autoscaler) int { return strings.Compare(a.String(), b.String()) })
	s.Driver = by[0].driver
	s.Min, s.Max = by[0].min, by[0].max
	for _, a := range by[1:] {
		s.Min, s.Max = max(s.Min, a.min), workload.Maximum(s.Max, a.max)
	}
	if slices.ContainsFunc(by, func(a *autoscaler) bool { return a.min == 0 }) {
		s.Min = 0
	}
	s.Blind = fmt.Sprintf("%s and %s both scale it", by[0], by[1])
	return &s
}
