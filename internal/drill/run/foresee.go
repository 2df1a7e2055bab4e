package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/score"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// Foresee scores the levels of a flush as if the site latched them, and as if a rebuild
// applied them before the workloads. It writes nothing.
func (r *Run) Foresee(ctx context.Context) (l drill.Loss, err error) {
	parse := r.Tick.ParsePolicy
	r.Tick.ParsePolicy = func(file string, data []byte) (policy.Set, error) {
		set, err := parse(file, data)
		set.Latch = true
		return set, err
	}
	r.Tick.DryRun = true
	flushed, err := r.flush(ctx)
	if err != nil {
		return l, fmt.Errorf("flush: %w", err)
	}
	look, seen, err := r.look(ctx, flushed)
	if err != nil {
		return l, err
	}
	look.Tree, err = after(look.Tree, flushed)
	if err != nil {
		return l, err
	}
	seen.Tree = look.Tree
	look.Doctor = applied(doctor.Examine(seen))
	return drill.Loss{Document: score.Document(look)}, nil
}

// after returns a tree with the changes of a tick that wrote nothing.
func after(tree checkpoint.Tree, t tick.Report) (checkpoint.Tree, error) {
	var changes []policy.Decision
	if t.Commit != nil {
		changes = t.Commit.Changes
	}
	if t.Proposal != nil {
		changes = slices.Concat(changes, t.Proposal.Changes)
	}
	site := checkpoint.Site{Name: t.Site, Cluster: t.Head.Cluster.UID, Kinds: t.Kinds}
	files, _ := checkpoint.Merge(tree, site, policy.Changes(changes))
	return tree.With(files)
}

// applied returns the report for a rebuild that starts each workload with its level.
func applied(r doctor.Report) doctor.Report {
	r.Findings = nil
	r.Workloads = slices.Clone(r.Workloads)
	for i := range r.Workloads {
		w := &r.Workloads[i]
		if w.Level > 0 {
			pods := max(w.Level, w.Without.Low)
			w.Start = doctor.Start{Basis: doctor.Observed, Low: pods, High: pods, Text: "if a rebuild applies the levels first"}
		}
	}
	return r
}
