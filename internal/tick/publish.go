package tick

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// attempts is how often a push is tried that others keep winning.
const attempts = 6

// publish pushes all crossings as one commit, and proposes the crossings that people
// want to see first. A crossing whose entry moved meanwhile is decided afresh on the
// next tick.
func (p *pass) publish(ctx context.Context) error {
	if p.git.publishStop != "" || !p.set.Latch || p.report.Stop.All {
		return nil
	}
	if !p.Propose {
		if err := p.commit(ctx); err != nil {
			return err
		}
	}
	return p.propose(ctx)
}

// commit pushes to the base what needs no review.
func (p *pass) commit(ctx context.Context) error {
	for _, d := range p.report.Decisions {
		if d.Crosses() {
			p.changes = append(p.changes, d)
		}
	}
	attempt := 0
	for len(p.changes) > 0 || len(p.repairs(len(p.changes) > 0, nil)) > 0 {
		if attempt == attempts {
			p.problem(fmt.Errorf("publish: others moved the branch %d times in a row; tried again on the next tick", attempts))
			return nil
		}
		w, err := p.merge(ctx)
		if err != nil || len(w.files) == 0 {
			return err
		}
		err = p.pushBase(ctx, w)
		if tooLarge(err) {
			half := halve(p.changes)
			if len(half) < len(p.changes) {
				p.changes = half
				continue
			}
		}
		if p.refused(err, "publish: %w; declared levels stay as they are until the branch takes a push", "", "let gitlatch's identity push to the branch, or give it another branch or identity") {
			return nil
		}
		if !errors.Is(err, repo.ErrMoved) {
			return err
		}
		attempt++
		if p.Wait != nil {
			p.Wait(ctx, time.Duration(attempt)*200*time.Millisecond)
		}
		if p.git.tip, _, err = p.Repository.Heads(ctx); err != nil {
			return err
		}
		// What the branch holds now was not reconciled: the next tick does that.
		p.git.tree, p.git.clean, p.git.moved = nil, false, true
	}
	return nil
}

// A writing is what a commit is to make of some files: nil removes one.
type writing struct {
	files    map[string][]byte
	marks    map[string]latch.Marks // the marks after the edit, by file
	records  []string               // the namespaces whose record it writes
	repaired []string               // the namespaces that are to follow their records
	changes  []checkpoint.Change    // those that it should make, in the order of workload.Compare
	renamed  []policy.Decision      // of these, the removals of entries under the old name of a kind
}

// merge applies the crossings to what the tip holds, and drops those whose entry
// or whose marks are not what their decision saw.
func (p *pass) merge(ctx context.Context) (writing, error) {
	w, skipped, err := p.write(ctx, policy.Changes(p.changes), namespaces(p.repairs(len(p.changes) > 0, nil)))
	if err != nil {
		return writing{}, err
	}
	for _, removal := range w.renamed {
		p.changes = slices.DeleteFunc(p.changes, func(d policy.Decision) bool { return d.ID == removal.ID })
		p.changes = append(p.changes, removal)
	}
	slices.SortStableFunc(p.changes, func(a, b policy.Decision) int { return workload.Compare(a.ID, b.ID) })
	for _, id := range skipped {
		p.notice(NoticeMoved, id.String(), "its entry moved while it was to be written: decided afresh on the next tick")
		p.changes = slices.DeleteFunc(p.changes, func(d policy.Decision) bool { return d.ID == id })
		p.head.Agreed.Partly, p.head.Agreed.Directory = true, "" // git holds what the latch does not
	}
	if !policy.Commits(p.changes) && len(p.repairs(len(p.changes) > 0, nil)) == 0 {
		return writing{}, err // nothing is left that causes a commit
	}
	return w, err
}

// renaming returns the removal of an entry under the old name of its kind as a decision.
func renaming(c checkpoint.Change, tree checkpoint.Tree, kinds workload.Kinds) policy.Decision {
	o, _ := tree.Site.Kinds.Object(c.ID.Kind)
	now, _ := kinds.Named(o.Group, o.Kind)
	return policy.Decision{
		ID: c.ID, Reading: policy.ReadingScale, Verdict: policy.Cross, From: c.From, To: c.To,
		Text: fmt.Sprintf("the policy calls its kind %s now", now),
	}
}

// replaced returns decisions with some of them replaced.
func replaced(decisions, by []policy.Decision) []policy.Decision {
	for _, r := range by {
		for i, d := range decisions {
			if d.ID == r.ID && d.Reading == r.Reading {
				decisions[i] = r
			}
		}
	}
	return decisions
}

// write applies changes to what the tip holds, and has namespaces follow their
// records. What was not applied is skipped.
func (p *pass) write(ctx context.Context, changes []checkpoint.Change, repaired []string) (w writing, skipped []workload.ID, err error) {
	if p.git.tree == nil {
		tree, _, err := ledger.TreeAt(ctx, p.Repository, p.git.tip, p.Site)
		if err != nil {
			return writing{}, nil, err
		}
		p.files.Revise(&tree, p.head.Edited)
		p.git.tree = &tree
	}
	tree := p.git.tree
	texts, err := p.files.At(ctx, p.Repository, p.git.tip)
	if err != nil {
		return writing{}, nil, err
	}
	w.repaired = repaired
	changes, removals := tree.Rename(p.fleet.Kinds, changes)
	w.changes = changes
	for _, c := range removals {
		w.renamed = append(w.renamed, renaming(c, *tree, p.fleet.Kinds))
	}
	p.report.Decisions = replaced(p.report.Decisions, w.renamed)
	changes, moved := p.files.Unmoved(texts, changes)
	site := checkpoint.Site{Name: p.Site, Cluster: p.head.Cluster.UID, Kinds: p.fleet.Kinds}
	w.files, skipped = checkpoint.Merge(*tree, site, changes)
	changes = slices.DeleteFunc(slices.Clone(changes), func(c checkpoint.Change) bool { return slices.Contains(skipped, c.ID) })
	checkpoint.Repair(*tree, w.files, slices.DeleteFunc(slices.Clone(repaired), func(namespace string) bool {
		return slices.ContainsFunc(changes, func(c checkpoint.Change) bool { return c.ID.Namespace == namespace }) // written anew
	}))
	w.marks = p.files.Splice(w.files, texts, p.cover(), targets(*tree, changes, repaired))
	for _, namespace := range tree.Namespaces() {
		if _, written := w.files[checkpoint.RecordPath(p.Site, namespace)]; written {
			w.records = append(w.records, namespace)
		}
	}
	return w, append(skipped, moved...), nil
}

// push makes one commit on the tip. Nothing is written down before: an error of
// any kind is no proof that it did not land, and the next tick finds it in git.
func (p *pass) push(ctx context.Context, w writing, c repo.Commit) (id string, err error) {
	if err := p.takeLease(ctx); err != nil {
		return "", err
	}
	c.Parent, c.Files, c.When = p.git.tip, w.files, p.fleet.At
	return p.Repository.Commit(ctx, c)
}

// pushBase pushes to the base.
func (p *pass) pushBase(ctx context.Context, w writing) error {
	edits := edits(p.head.Edited, w.records)
	by, _, err := trailers(p.Site, p.git.tip, *p.git.tree, w, edits)
	if err != nil {
		return err
	}
	for _, d := range p.changes {
		if d.Surge {
			by.Surges = append(by.Surges, ledger.Surge{ID: d.ID, Need: d.Count})
		}
	}
	made := &Commit{Changes: p.changes}
	made.Message = ledger.Message(by, p.SkipCI, slices.Concat(p.changes, edits), w.beside(p.Site))
	if p.DryRun {
		p.report.Commit = made
		return nil
	}
	made.ID, err = p.push(ctx, w, repo.Commit{Message: made.Message})
	if err != nil {
		return err
	}
	if p.report.Commit = made; !p.git.moved {
		p.pushed(made.ID, w, by)
	}
	p.changes, p.git.tip, p.git.tree, p.git.directory = nil, made.ID, nil, ""
	return nil
}

// tooLarge reports whether the host may take a part of what it refused.
func tooLarge(err error) bool {
	refused, is := errors.AsType[*repo.RefusedError](err)
	return is && refused.TooLarge
}

// later returns the namespaces that wait for another commit: half of those that the
// proposal does not have, or half of all if it has all or none of them.
func later(all, has []string) []string {
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	rest := slices.DeleteFunc(slices.Clone(all), func(namespace string) bool { return slices.Contains(has, namespace) })
	if len(rest) == 0 || len(rest) == len(all) {
		return all[(len(all)+1)/2:]
	}
	return rest[len(rest)/2:]
}

// halve leaves the crossings of half of the namespaces to the next tick. Those of
// one namespace stay together.
func halve(crossings []policy.Decision) []policy.Decision {
	var all []string
	for _, d := range crossings {
		all = append(all, d.ID.Namespace)
	}
	later := later(all, nil)
	return slices.DeleteFunc(slices.Clone(crossings), func(d policy.Decision) bool { return slices.Contains(later, d.ID.Namespace) })
}

// pushed agrees with a push on a tip that was judged. One after a lost race is
// left to the next tick, which judges what came between with it.
func (p *pass) pushed(id string, w writing, by ledger.Trailers) {
	agreed := &p.head.Agreed
	agreed.Tip, agreed.Directory, agreed.Partly = id, "", !p.git.clean
	p.head.Budget = policy.Spend(p.set.Guards, p.head.Budget, p.fleet.At)
	changes := policy.Changes(p.changes)
	for _, c := range changes {
		p.latches.set(p.latches.get(c.ID).Settled(c.To))
	}
	for _, s := range by.Surges {
		i := slices.IndexFunc(changes, func(c checkpoint.Change) bool { return c.ID == s.ID })
		p.conditions = append(p.conditions, surge(s, changes[i].From.Replicas, changes[i].To.Replicas))
	}
	p.files.Wrote(w.marks)
	p.head.Edited = slices.DeleteFunc(p.files.StandingNow(p.head.Edited), func(e latch.Edit) bool { return slices.Contains(w.records, e.ID.Namespace) })
}

// trailers name a commit of files by what it does to a tip, and return that too.
func trailers(site, tip string, tree checkpoint.Tree, w writing, edits []policy.Decision) (by ledger.Trailers, changes []checkpoint.Change, err error) {
	before, err := tree.With(nil)
	if err != nil {
		return by, nil, err
	}
	after, err := before.With(w.files)
	if err != nil {
		return by, nil, err
	}
	changes = ledger.Changes(ledger.HoldingOf(before), ledger.HoldingOf(after))
	by = ledger.Trailers{Site: site, Intent: ledger.Intent(site, tip, changes)}
	for _, d := range edits {
		if after := after.Entries()[d.ID]; after.Replicas == d.To.Replicas { // else a crossing set another level
			by.Follows = append(by.Follows, d.ID)
		}
	}
	return by, changes, nil
}

// targets are the levels for marks, in pods, once changes are made and namespaces
// follow their records.
func targets(tree checkpoint.Tree, changes []checkpoint.Change, repaired []string) map[workload.ID]int32 {
	to := map[workload.ID]int32{}
	for _, namespace := range repaired {
		for id, e := range tree.Records[namespace].Entries {
			to[id] = e.Replicas
		}
	}
	for _, c := range changes {
		to[c.ID] = c.To.Replicas
	}
	return to
}

// edits are people's edits in place that the records of some namespaces are to hold,
// as crossings for people to read.
func edits(pending []latch.Edit, in []string) (crossings []policy.Decision) {
	for _, e := range pending {
		if slices.Contains(in, e.ID.Namespace) {
			crossings = append(crossings, policy.Decision{
				ID: e.ID, Reading: policy.ReadingScale, Text: "a person set it in " + e.File,
				From: checkpoint.Entry{Replicas: e.From}, To: checkpoint.Entry{Replicas: e.To},
			})
		}
	}
	return crossings
}

// beside is what a commit does besides its crossings.
func (w writing) beside(site string) ledger.Beside {
	return ledger.Beside{Files: slices.Sorted(maps.Keys(w.marks)), Components: slices.DeleteFunc(slices.Clone(w.repaired), func(namespace string) bool {
		_, written := w.files[checkpoint.ComponentPath(site, namespace)]
		return !written
	})}
}

// components are those of the namespaces whose Component is stale, as far as the
// tree was read.
func components(tree *checkpoint.Tree, of []string) []string {
	if tree == nil {
		return of
	}
	stale := tree.Stale()
	return slices.DeleteFunc(of, func(namespace string) bool { return !slices.Contains(stale, namespace) })
}
