// Package score builds the document of a drill from the report of a tick and the report
// of doctor. It does no I/O.
package score

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Look is the input of a score.
type Look struct {
	Tick   tick.Report   // report of the flush
	Doctor doctor.Report // report on the commit
	// Tree is the site's checkpoint files at the commit. Ages are the ages of its levels;
	// the age of a workload that is not in Ages is unknown.
	Tree checkpoint.Tree
	Ages map[workload.ID]history.Age

	Branch, Commit string
	MinCoverage    float64
}

// Document scores a Look.
func Document(l Look) drill.Document {
	d := drill.Document{
		Document: term.DocumentOf(drill.Kind), Site: l.Tick.Site, Cluster: l.Tick.Cluster, At: l.Tick.At.UTC(),
		Mode: "latch", DryRun: l.Tick.DryRun, Branch: l.Branch, Commit: l.Commit, MinCoverage: l.MinCoverage,
		Workloads: lists.Map(l.Doctor.Workloads, newSeen(l).workload), LeftOut: leftOut(l), Flush: flushed(l), Model: drill.DefaultModel(),
		Fit: &l.Doctor.Fit, Marks: l.Doctor.Marks,
		Links: []drill.Link{}, Unread: workload.Texts(l.Doctor.Unread), Problems: lists.Map(l.Tick.Problems, error.Error),
	}
	if l.Tick.Observe {
		d.Mode = "observe"
	}
	slices.SortStableFunc(d.Workloads, worst)
	d.Findings = findings(l.Doctor, d.Workloads)
	d.Fleet = sum(d.Workloads)
	d.Fleet.Nothing = nothing(d)
	d.MassDrop, d.Notices = notices(l, d)
	covered := d.Fleet.Coverage != nil && *d.Fleet.Coverage >= l.MinCoverage
	d.Passed = covered && len(d.Unread) == 0 && d.Fleet.NeedUnknown == 0 && !d.MassDrop && !d.Fit.Refuses()
	return d
}

// worst sorts workloads by missing pods, most first, and then by coverage, lowest first.
// Workloads without a coverage come last.
func worst(a, b drill.Workload) int {
	return cmp.Or(
		cmp.Compare(b.Missing, a.Missing),
		cmp.Compare(ptr.Deref(a.Coverage, math.Inf(1)), ptr.Deref(b.Coverage, math.Inf(1))),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

// sum returns the score of all workloads together.
func sum(all []drill.Workload) drill.Fleet {
	var f drill.Fleet
	for _, w := range all {
		if w.Frozen != nil {
			f.Frozen++
		}
		if w.Rollout != nil {
			f.Rollouts++
		}
		if w.Coverage == nil {
			f.Unscored++
			if w.Unknown != "" {
				f.NeedUnknown++
			}
			continue
		}
		f.Workloads++
		f.Need += int64(*w.Need)
		f.Covered += int64(*w.Need - w.Missing)
		f.CoveredAtMost += int64(min(w.Start.AtMost, *w.Need))
		f.BareAtLeast += int64(min(w.Bare.AtLeast, *w.Need))
		f.BareAtMost += int64(min(w.Bare.AtMost, *w.Need))
		switch w.Start.Basis {
		case drill.Unknown:
			f.Unknown++
		case drill.Stated:
			f.Stated++
		}
		f.Declared += int64(ptr.Deref(w.Declared, 0))
		f.Rebuilt += int64(w.Start.AtLeast)
		f.Ready += int64(ptr.Deref(w.Ready, 0))
		f.Live += int64(ptr.Deref(w.Live, 0))
		f.Surplus += int64(w.Surplus)
		if w.SurplusStuck {
			f.SurplusStuck += int64(w.Surplus)
		}
		if w.Missing == 0 {
			f.Full++
		}
		if w.Low {
			f.Low++
		}
		f.With, f.StuckWith = later(f.With, f.StuckWith, w.With)
		f.Without, f.StuckWithout = later(f.Without, f.StuckWithout, w.Without)
	}
	if f.Need > 0 {
		f.Coverage, f.AtMost = new(float64(f.Covered)/float64(f.Need)), new(float64(f.CoveredAtMost)/float64(f.Need))
	}
	return f
}

func later(seconds int64, stuck int, e *drill.Estimate) (int64, int) {
	switch {
	case e == nil:
		return seconds, stuck
	case e.Never:
		return seconds, stuck + 1
	}
	return max(seconds, e.Seconds), stuck
}

// findings returns the findings of doctor, with the workloads whose coverage they lower.
func findings(r doctor.Report, all []drill.Workload) []drill.Finding {
	lacks := map[string]int32{}
	for _, w := range all {
		lacks[w.ID().String()] = w.Missing
	}
	found := []drill.Finding{}
	for _, f := range r.Findings {
		one := drill.Finding{Trap: string(f.Trap), Basis: f.Basis.String(), Subjects: f.Subjects,
			Text: f.Text, Fix: f.Fix, Manifest: f.Manifest, Workloads: []string{}}
		for _, w := range r.Workloads {
			missing := lacks[w.ID.String()]
			crowded := f.Trap == doctor.Quota && slices.Contains(f.Subjects, w.ID.Namespace)
			lowers := slices.Contains(w.Lowers, doctor.Lower{Trap: f.Trap, Text: f.Text, Fix: f.Fix})
			if missing > 0 && (crowded || lowers) {
				one.Workloads = append(one.Workloads, w.ID.String())
				one.Missing += int64(missing)
			}
		}
		found = append(found, one)
	}
	return found
}

// known returns nil for a number that is not positive.
func known(n int32) *int32 {
	if n <= 0 {
		return nil
	}
	return &n
}
