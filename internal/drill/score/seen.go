package score

import (
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// seen is a Look, indexed by workload.
type seen struct {
	Look
	samples map[workload.ID]workload.Sample
	scales  map[workload.ID]policy.Decision // decision about the replicas
	entries map[workload.ID]checkpoint.Entry
	starts  map[string]int64 // pods that a rebuild starts, by namespace
}

func newSeen(l Look) seen {
	byID := func(s workload.Sample) workload.ID { return s.ID }
	s := seen{Look: l, samples: lists.Index(l.Tick.Samples, byID),
		scales: map[workload.ID]policy.Decision{}, entries: l.Tree.Entries(), starts: map[string]int64{}}
	for _, d := range l.Tick.Decisions {
		if d.Reading == policy.ReadingScale {
			s.scales[d.ID] = d
		}
	}
	for _, w := range l.Doctor.Workloads {
		s.starts[w.ID.Namespace] += int64(w.Start.High) // it may take this much of a quota
	}
	return s
}

// A subject is one workload with all its inputs.
type subject struct {
	doctor.Workload
	sample   workload.Sample // zero if the cluster does not have the workload
	runs     bool
	decision policy.Decision
	policy   policy.Policy
	proposed int32
	start    int32 // pods that a rebuild provably starts within the quota of the namespace
	most     int32 // pods that it may start within the quota
	need     int32 // 0 if it needs no pods or if the need is unknown
	// unknown is the reason why the need is unknown.
	unknown string
}

// workload scores one workload.
func (s seen) workload(of doctor.Workload) drill.Workload {
	one := subject{Workload: of, decision: s.scales[of.ID], start: of.Start.Low, most: of.Start.High}
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
		within := func(pods int32) int32 { return int32(int64(pods) * room / s.starts[of.ID.Namespace]) }
		one.start, one.most = within(of.Start.Low), within(of.Start.High)
	}
	w := drill.Workload{
		Named: term.NamedBy(of.ID),
		Need:  known(one.need), Declared: known(of.Level), Proposed: known(one.proposed), Start: one.starts(), Bare: start(of.Without),
		Causes: one.causes(), Unknown: one.unknown, Frozen: s.frozen(one), Rollout: one.rollout(), Checkpoint: s.checkpoint(of),
		Policy: one.decision.Policy,
	}
	if scale := one.sample.Scale; scale != nil {
		w.Live, w.Ready = &scale.Desired, &scale.Ready
	}
	if one.need > 0 && !one.leftOut() {
		w.Missing = max(0, one.need-one.start)
		w.Surplus = max(0, one.start-one.sample.Scale.Desired)
		w.SurplusStuck = w.Surplus > 0 && !one.autoscaled()
		covered := float64(one.need-w.Missing) / float64(one.need)
		w.Coverage, w.Low = &covered, covered < s.MinCoverage
		w.With, w.Without = one.estimate(one.start), one.estimate(of.Without.High)
	}
	return w
}

// starts returns the pods that a rebuild starts within the quota of the namespace.
func (one subject) starts() drill.Start {
	s := start(one.Start)
	s.AtLeast, s.AtMost = one.start, one.most
	return s
}

func start(s doctor.Start) drill.Start {
	return drill.Start{Basis: s.Basis.String(), AtLeast: s.Low, AtMost: s.High, Text: s.Text}
}

// leftOut reports whether a user opted the workload out and git has no level for it. Its
// replicas in a rebuild are then the user's choice.
func (one subject) leftOut() bool {
	return one.decision.Reason == policy.ReasonOptedOut && one.Level == 0
}

// estimate returns the time until a start has grown to the need. It returns nil if the
// autoscaler is unknown.
func (one subject) estimate(start int32) *drill.Estimate {
	scale := one.sample.Scale
	driven := one.autoscaled()
	if !driven && scale.Driver != workload.DrivenByNothing && start < one.need {
		return nil
	}
	e := drill.Takes(start, one.need, driven, scale.Min, scale.Max)
	return &e
}

// autoscaled reports whether an autoscaler drives the workload.
func (one subject) autoscaled() bool {
	driver := one.sample.Scale.Driver
	return driver == workload.DrivenByHPA || driver == workload.DrivenByKEDA
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
