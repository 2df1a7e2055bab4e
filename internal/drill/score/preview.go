package score

import (
	"cmp"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Preview predicts the rebuild of a cluster that is lost now. The case has the readings of the
// cluster and a policy, and no files in git: the levels are the present needs, rounded by the
// policy.
func Preview(c doctor.Case) drill.Preview {
	c.Preview = true
	c.Site, _ = c.Cluster.Levels.Site().Value() // "" in a cluster without levels
	c.Set.Latch = true
	decided := policy.Round(policy.Site{
		State: latch.State{Latches: latch.LatchesOf(map[workload.ID]latch.Latch{})},
		Set:   c.Set, Fleet: c.Fleet, Period: c.Set.Guards.Period, Flush: true,
	})
	c.Tree = checkpoint.Tree{Site: checkpoint.Site{Cluster: c.Fleet.Cluster, Kinds: c.Fleet.Kinds}, Records: map[string]checkpoint.Record{}}
	for _, raised := range policy.Changes(lists.Filter(decided.Decisions, policy.Decision.Crosses)) {
		namespace := raised.ID.Namespace
		if c.Tree.Records[namespace].Entries == nil {
			c.Tree.Records[namespace] = checkpoint.Record{Namespace: namespace, Entries: map[workload.ID]checkpoint.Entry{}}
		}
		c.Tree.Records[namespace].Entries[raised.ID] = raised.To
	}
	look := Look{Tick: tick.Report{Fleet: c.Fleet, Set: c.Set, Decided: decided}, Doctor: doctor.Examine(c), Tree: c.Tree}
	worst := Document(look) // with the lowest start with gitlatch, and the highest without it
	look.Doctor.Workloads = lists.Map(look.Doctor.Workloads, func(w doctor.Workload) doctor.Workload {
		w.Start.Low, w.Without.High = w.Start.High, w.Without.Low
		return w
	})
	best := Document(look)
	p := drill.Preview{
		Document: term.DocumentOf(drill.PreviewKind), Cluster: c.Fleet.Cluster, At: c.Fleet.At.UTC(),
		Need: worst.Fleet.Need, Nothing: worst.Fleet.Nothing, Fit: worst.Fit,
		With: drill.Outcome{
			PodsAtLeast: worst.Fleet.Rebuilt, PodsAtMost: best.Fleet.Rebuilt,
			CoveredAtLeast: worst.Fleet.Covered, CoveredAtMost: worst.Fleet.CoveredAtMost,
			SecondsAtLeast: best.Fleet.With, SecondsAtMost: worst.Fleet.With, Stuck: worst.Fleet.StuckWith,
		},
		Without: drill.Outcome{
			CoveredAtLeast: worst.Fleet.BareAtLeast, CoveredAtMost: worst.Fleet.BareAtMost,
			SecondsAtLeast: worst.Fleet.Without, SecondsAtMost: best.Fleet.Without, Stuck: worst.Fleet.StuckWithout,
		},
		Workloads: lists.Filter(worst.Workloads, func(w drill.Workload) bool { return w.Coverage != nil }),
		LeftOut:   worst.LeftOut, Findings: worst.Findings, Unread: worst.Unread, Model: worst.Model,
	}
	for _, w := range p.Workloads {
		p.Without.PodsAtLeast += int64(w.Bare.AtLeast)
		p.Without.PodsAtMost += int64(w.Bare.AtMost)
	}
	slices.SortStableFunc(p.Workloads, func(a, b drill.Workload) int {
		lacks := func(w drill.Workload, start int32) int32 { return max(0, ptr.Deref(w.Need, 0)-start) }
		return cmp.Or(
			cmp.Compare(lacks(b, b.Bare.AtMost), lacks(a, a.Bare.AtMost)),
			cmp.Compare(lacks(b, b.Bare.AtLeast), lacks(a, a.Bare.AtLeast)))
	})
	return p.Told()
}
