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
	missing := slices.DeleteFunc(slices.Clone(r.Set.InPlace), func(path string) bool { return slices.Contains(r.Named.InPlace, path) })
	if len(missing) > 0 {
		more, err := inplace.Read(ctx, r.Repository, r.Tip, nil, missing)
		if err != nil {
			return err
		}
		for _, path := range missing {
			objects[path] = more[path]
		}
	}
	m := markers{read: true, files: inplace.Look(r.Set.InPlace, objects, r.Found.Fleet.Kinds)}
	rule, err := r.markerRule(ctx, m.files)
	if err != nil {
		return err
	}
	m.rule = rule
	m.marks = rule.Judge(m.files, replicas(r.Past.Tip.Entries))
	r.Markers = m
	return nil
}

// markerRule finds the rule for files at the tip. If the window does not show the authors of
// changes, the agreed commit counts as equal to the tip. An entry whose checkpoint file was
// broken at the agreed commit is not new: its level at the tip counts as its only level.
func (r *reconciler) markerRule(ctx context.Context, files []inplace.File) (inplace.Rule, error) {
	rule := inplace.Rule{Levels: inplace.Levels(r.Past.Agreed.Entries), Agreed: files, Cover: r.cover()}
	for id, e := range r.Past.Tip.Entries {
		_, known := r.Past.Agreed.Entries[id]
		if !known && r.Past.Agreed.Broken[id.Namespace] != nil {
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
		objects, err := inplace.Read(ctx, r.Repository, r.Head.Agreed.Tip, nil, r.Named.InPlace)
		if err != nil {
			return rule, err
		}
		rule.Agreed = inplace.Look(r.Named.InPlace, objects, r.Found.Fleet.Kinds)
	}
	if ours == nil || ours.Head != r.Branch || len(ours.Repairs) == 0 {
		return rule, nil
	}
	before, after, err := r.commits.files(ctx, ours.Head, r.Found)
	rule.Asked = before
	rule.Asks = after
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
	was, err := inplace.Read(ctx, c.from, made.Base, nil, f.Set.InPlace)
	if err != nil {
		return nil, nil, err
	}
	is, err := inplace.Read(ctx, c.from, made.Head, nil, f.Set.InPlace)
	return inplace.Look(f.Set.InPlace, was, f.Fleet.Kinds), inplace.Look(f.Set.InPlace, is, f.Fleet.Kinds), err
}

// replicas returns the levels of entries, in pods.
func replicas(entries map[workload.ID]checkpoint.Entry) map[workload.ID]int32 {
	levels := make(map[workload.ID]int32, len(entries))
	for id, e := range entries {
		levels[id] = e.Replicas
	}
	return levels
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
	ids := func(files []inplace.File) (all []string) {
		for _, f := range files {
			all = append(all, f.Path+" "+f.ID)
		}
		return all
	}
	return !slices.Equal(ids(m.rule.Agreed), ids(m.files))
}
