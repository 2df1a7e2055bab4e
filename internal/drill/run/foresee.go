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
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Foresee runs two drills of the same sample, and writes nothing. Now scores git. Then
// scores git after a flush of a site that latches, if a rebuild starts each workload with
// at least its level. If Now knows the start of a workload, Then leaves out the workloads
// whose start Now does not know, so that both have the same workloads.
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
	l.Now = score.Document(look)
	look.Tree, err = after(look.Tree, flushed)
	if err != nil {
		return l, err
	}
	seen.Tree = look.Tree
	look.Doctor = applied(doctor.Examine(seen), l.Now)
	l.Then = score.Document(look)
	return l, nil
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

// applied returns the report for a rebuild that applies the levels. A start stays unknown
// if now does not know it, unless now knows no start.
func applied(r doctor.Report, now drill.Document) doctor.Report {
	unknown := map[workload.ID]bool{}
	for _, w := range now.Workloads {
		unknown[w.ID()] = w.StartUnknown && now.Fleet.Coverage != nil
	}
	r.Workloads = slices.Clone(r.Workloads)
	for i := range r.Workloads {
		switch w := &r.Workloads[i]; {
		case unknown[w.ID]:
			w.Start = 0
		case !w.Paused:
			w.Start = max(w.Start, w.Level)
		}
	}
	return r
}
