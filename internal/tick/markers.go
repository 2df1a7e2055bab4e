package tick

import (
	"context"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// markers are the markers in the files that gitlatch edits in place.
type markers struct {
	read  bool           // false: this tick read no file, so it judges no marker
	files []inplace.File // at the tip that was reconciled
	rule  inplace.Rule
	marks []inplace.Mark // as last judged
}

// readMarkers reads the files that the policy names, and judges their markers at the tip.
// objects are the files that the agreed policy names.
func (r *reconciler) readMarkers(ctx context.Context, objects map[string]repo.Object) error {
	files := inplace.Look(r.Set.InPlace, objects, r.Found.Fleet.Kinds)
	if slices.ContainsFunc(r.Set.InPlace, func(path string) bool { return !slices.Contains(r.Named.InPlace, path) }) {
		named, err := inplace.At(ctx, r.Repository, r.Tip, r.Set.InPlace, r.Found.Fleet.Kinds)
		if err != nil {
			return err
		}
		files = named
	}
	rule, err := r.markerRule(ctx, files)
	if err != nil {
		return err
	}
	r.Markers = markers{read: true, files: files, rule: rule, marks: rule.Judge(files, r.Past.Tip.Entries)}
	return nil
}

// markerRule finds the rule for files at the tip. If the window does not show the authors of
// changes, the agreed commit counts as equal to the tip. An entry whose checkpoint file was
// broken at the agreed commit is not new: its level at the tip counts as its only level. An
// entry that a truncated window lost is not new either: its latch has its level.
func (r *reconciler) markerRule(ctx context.Context, files []inplace.File) (inplace.Rule, error) {
	rule := inplace.Rule{Levels: inplace.Levels(r.Past.Agreed.Entries), Agreed: files, Cover: r.cover()}
	for id, e := range r.Past.Tip.Entries {
		_, known := r.Past.Agreed.Entries[id]
		if !known && r.Past.Agreed.Broken[id.Namespace] != nil {
			rule.Levels[id] = []int32{e.Replicas}
		}
	}
	for id, e := range r.declared() {
		if r.window.belief == truncated && e.Replicas > 0 && len(rule.Levels[id]) == 0 {
			rule.Levels[id] = []int32{e.Replicas}
		}
	}
	for _, s := range r.Past.Steps {
		rule = rule.With(s.After.Entries)
	}
	for _, c := range r.Past.Merged {
		rule = rule.With(map[workload.ID]checkpoint.Entry{c.ID: c.To})
	}
	ours := r.Head.Proposal
	if r.window.belief == descends && (ours != nil || !rule.With(r.Past.Tip.Entries).Settled(files)) {
		agreed, err := inplace.At(ctx, r.Repository, r.Head.Agreed.Tip, r.Named.InPlace, r.Found.Fleet.Kinds)
		if err != nil {
			return rule, err
		}
		rule.Agreed = agreed
	}
	if ours == nil || ours.Head != r.Branch || len(ours.Repairs) == 0 {
		return rule, nil
	}
	var err error
	rule.Asked, rule.Asks, err = r.commits.files(ctx, ours.Head, r.Found)
	return rule, err
}

// commits reads commits of a site, and remembers the proposal that it read last.
type commits struct {
	ledger.Commits
	from repo.Repository
	last *proposal.Made
}

// made reads the commit of a tick at the head of a proposal; nil if no tick pushed it.
func (c *commits) made(ctx context.Context, head string) (*proposal.Made, error) {
	if c.last != nil && c.last.Head == head {
		return c.last, nil
	}
	made, err := proposal.Read(ctx, c.from, &c.Commits, head)
	if made != nil {
		c.last = made
	}
	return made, err
}

// files returns the files before and after the commit of a proposal. It returns nil if no
// tick pushed that commit.
func (c *commits) files(ctx context.Context, head string, f Found) (before, after []inplace.File, err error) {
	if len(f.Set.InPlace) == 0 {
		return nil, nil, nil
	}
	made, err := c.made(ctx, head)
	if err != nil || made == nil {
		return nil, nil, err
	}
	before, err = inplace.At(ctx, c.from, made.Base, f.Set.InPlace, f.Fleet.Kinds)
	if err != nil {
		return nil, nil, err
	}
	after, err = inplace.At(ctx, c.from, made.Head, f.Set.InPlace, f.Fleet.Kinds)
	return before, after, err
}

// cover returns the workloads whose level may be in a file that acts on the live cluster.
func (f Found) cover() inplace.Cover {
	c := inplace.Cover{Evidence: f.Agreed.Evidence, Risk: map[workload.ID]bool{}}
	if len(f.Set.InPlace) == 0 {
		return c
	}
	strict := func(r policy.Rule) bool { return !r.Policy.AcceptRisk }
	c.AllRisk = f.Set.Default.AcceptRisk && !slices.ContainsFunc(f.Set.Rules, strict)
	for _, s := range f.Fleet.Samples {
		chosen, _, _ := f.Set.Choose(s)
		c.Risk[s.ID] = chosen.AcceptRisk
	}
	return c
}

// filesMoved reports whether a file that is edited in place differs between the agreed
// commit and the tip.
func (m markers) filesMoved() bool {
	return !slices.EqualFunc(m.rule.Agreed, m.files, func(a, b inplace.File) bool { return a.Path == b.Path && a.ID == b.ID })
}
