package score

import (
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// seen is a look by workload.
type seen struct {
	Look
	samples map[workload.ID]workload.Sample
	scales  map[workload.ID]policy.Decision // on the scale
	entries map[workload.ID]checkpoint.Entry
	starts  map[string]int64 // pods by namespace, where a quota stops a rebuild
}

func newSeen(l Look) seen {
	byID := func(s workload.Sample) workload.ID { return s.ID }
	s := seen{Look: l, samples: each.By(l.Tick.Samples, byID),
		scales: map[workload.ID]policy.Decision{}, entries: l.Tree.Entries(), starts: map[string]int64{}}
	for _, d := range l.Tick.Decisions {
		if d.Reading == policy.ReadingScale {
			s.scales[d.ID] = d
		}
	}
	for _, w := range l.Doctor.Workloads {
		start := w.Start
		if w.RebuiltAt() == nil {
			start = w.Level // at least, if it comes back
		}
		s.starts[w.ID.Namespace] += int64(start)
	}
	return s
}

// A subject is one workload with all that is known of it.
type subject struct {
	doctor.Workload
	sample   workload.Sample // the zero value where it does not run
	runs     bool
	decision policy.Decision
	policy   policy.Policy
	proposed int32
	start    int32 // as far as its namespace has room
	need     int32 // 0 is none, or not known
	// unknown is why the need is not known.
	unknown string
}

// workload scores one workload.
func (s seen) workload(of doctor.Workload) drill.Workload {
	one := subject{Workload: of, decision: s.scales[of.ID], start: of.Start}
	one.sample, one.runs = s.samples[of.ID]
	if one.runs {
		one.policy, _, _ = s.Tick.Set.Choose(one.sample)
	}
	if scale := one.sample.Scale; scale != nil && scale.Desired > 0 {
		one.need = policy.Need(one.policy, *scale)
	}
	one.unknown = s.unknown(one)
	if p := s.Tick.Latches.Get(of.ID).Proposed().Replicas; p != of.Level {
		one.proposed = p
	}
	if room, short := s.Doctor.Room[of.ID.Namespace]; short && s.starts[of.ID.Namespace] > room {
		one.start = int32(int64(of.Start) * room / s.starts[of.ID.Namespace])
	}
	w := drill.Workload{
		Named: term.NamedBy(of.ID),
		Need:  known(one.need), Declared: known(of.Level), Proposed: known(one.proposed), RebuiltAt: one.rebuiltAt(), RebuiltBy: of.By,
		Causes: one.causes(), Unknown: one.unknown, Frozen: s.frozen(one), Rollout: one.rollout(), Checkpoint: s.checkpoint(of),
		Policy: one.decision.Policy, InertBy: of.Inert.Line(),
	}
	if scale := one.sample.Scale; scale != nil {
		w.Live, w.Ready = &scale.Desired, &scale.Ready
	}
	w.StartUnknown = one.need > 0 && !one.leftOut() && w.RebuiltAt == nil
	if w.StartUnknown {
		return w
	}
	if one.need > 0 && !one.leftOut() {
		w.Missing = max(0, one.need-one.start)
		covered := float64(one.need-w.Missing) / float64(one.need)
		w.Coverage, w.Low = &covered, covered < s.MinCoverage
		w.With, w.Without = one.estimate(one.start), one.estimate(0)
	}
	return w
}

// rebuiltAt is what a rebuild starts it at, nil where nothing here builds it.
func (one subject) rebuiltAt() *int32 {
	if one.Start == 0 && !one.Paused {
		return nil
	}
	return &one.start
}

// leftOut is a workload that a person took out of latching, and of which git
// declares nothing: what a rebuild makes of it is theirs.
func (one subject) leftOut() bool {
	return one.decision.Reason == policy.ReasonOptedOut && one.Level == 0
}

// estimate is how long it takes from a start; nil where it is not known who
// scales it.
func (one subject) estimate(start int32) *drill.Estimate {
	if one.Paused {
		return &drill.Estimate{Never: true}
	}
	scale := one.sample.Scale
	driven := scale.Driver == workload.DrivenByHPA || scale.Driver == workload.DrivenByKEDA
	if !driven && scale.Driver != workload.DrivenByNothing && start < one.need {
		return nil
	}
	e := drill.Takes(start, one.need, driven, scale.Min, scale.Max)
	return &e
}

func (s seen) frozen(one subject) *drill.Frozen {
	if one.decision.Verdict != policy.Frozen {
		return nil
	}
	f := drill.Frozen{Reason: string(one.decision.Reason), Text: one.decision.Text}
	if l := s.Tick.Latches.Get(one.ID); l.Freeze.Reason == f.Reason {
		f.Since = l.Freeze.Since.UTC()
	}
	return &f
}

func (s seen) checkpoint(of doctor.Workload) *drill.Checkpoint {
	age, ok := s.Ages[of.ID]
	if !ok || of.Level == 0 {
		return nil
	}
	return &drill.Checkpoint{
		Since: age.Since.UTC(), OrBefore: age.OrBefore, Commit: age.Commit,
		AgeSeconds: max(0, int64(s.Tick.At.Sub(age.Since).Seconds())),
	}
}
