package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// attempts is the number of attempts for a push that keeps losing the race.
const attempts = 6

// A Plan is the input of publish.
type Plan struct {
	Found
	Decided policy.Decided
	Stored  latch.Head // as loaded
}

// Published is the effect of a tick on git and on the host.
type Published struct {
	// Decisions are the decisions of the plan, with the removals of entries under the old
	// name of a kind.
	Decisions []policy.Decision
	// Commit is the commit on the base. Agrees is true if its parent is the judged tip, and the
	// commit makes no other entry readable. If it is false, the next tick judges the entries
	// and the commits in between, enters this commit into the latches and charges it to the
	// budget.
	Commit *Commit
	Agrees bool
	// Dropped is true if an entry changed before the push: git has a level that the latch
	// does not have.
	Dropped bool

	// Pushed is true if the proposal's branch got a commit, with the Proposed changes.
	Pushed   bool
	Proposed []checkpoint.Change
	// Open is the open proposal, if it was pushed or opened, and Withdrawn is true if it was
	// closed.
	Open      *latch.Proposal
	Withdrawn bool
	// Asked is the proposal that users see; nil if this tick did not change it.
	Asked *Proposed
}

// A publisher publishes one plan. It fills its Published and its notes.
type publisher struct {
	*tenancy
	Plan
	Published
	Notes
	tip     tip
	changes []policy.Decision // the level changes that are left to publish
}

// A tip is the commit of the base, with its content if it was read.
type tip struct {
	commit, directory string
	tree              *checkpoint.Tree // nil: not read
	unjudged          bool             // it has changes that this tick did not judge
}

// publish pushes all level changes as one commit, and proposes those that users review
// first. If an entry changed since its decision, the next tick decides again.
func (t *Tick) publish(ctx context.Context, tenancy *tenancy, plan Plan) (Published, Notes, error) {
	p := &publisher{tenancy: tenancy, Plan: plan, tip: tip{commit: plan.Tip, directory: plan.Directory, tree: plan.Tree}}
	p.Published.Decisions = plan.Decided.Decisions
	if p.Stop != "" || !p.Set.Latch || p.Decided.Stop.All {
		return p.Published, p.Notes, nil
	}
	var err error
	if !p.Propose {
		err = p.commit(ctx)
	}
	if err == nil {
		err = p.propose(ctx)
	}
	return p.Published, p.Notes, err
}

// commit pushes the level changes that need no review to the base.
func (p *publisher) commit(ctx context.Context) error {
	p.changes = lists.Filter(p.Published.Decisions, policy.Decision.Crosses)
	attempt := 0
	for len(p.changes) > 0 || len(p.repairs(p.Decided.State, len(p.changes) > 0, nil)) > 0 {
		if attempt == attempts {
			p.problem(fmt.Errorf("publish: the branch moved %d times in a row; the next tick tries again", attempts))
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
		if p.refused(err, "publish: %w; the levels in git do not change until the branch accepts a push", "") {
			return nil
		}
		if !errors.Is(err, repo.ErrMoved) {
			return err
		}
		attempt++
		if p.Wait != nil {
			p.Wait(ctx, time.Duration(attempt)*200*time.Millisecond)
		}
		commit, _, err := p.Repository.Heads(ctx)
		if err != nil {
			return err
		}
		// The next tick reconciles the new tip.
		p.tip = tip{commit: commit, directory: p.tip.directory, unjudged: true}
	}
	return nil
}

// repairs returns the repairs to publish without a level change. before are the repairs of the
// open proposal: if the tick did not read the directory, it returns them unchanged. rides is
// true if a commit is made anyway: otherwise a new repair waits for the budget.
func (p *publisher) repairs(s latch.State, rides bool, before []latch.Repair) []latch.Repair {
	if p.tip.unjudged || p.tip.tree == nil {
		return before
	}
	due := stale(p.tip.tree, s.Head.Declined)
	if rides || policy.Affords(p.Set.Guards, s.Head.Budget, p.Fleet.At) {
		return due
	}
	return lists.Filter(due, func(m latch.Repair) bool { return slices.Contains(before, m) })
}

// A writing is the content of a commit.
type writing struct {
	files    map[string][]byte   // new contents by path; nil removes the file
	restored []string            // the namespaces whose checkpoint file is restored to its canonical form
	changes  []checkpoint.Change // the changes to make, in the order of workload.Compare
	renamed  []policy.Decision   // the removals of entries under the old name of a kind, also in changes
	skipped  []workload.ID       // the workloads whose change was not applied
}

// merge applies the level changes to the files of the tip, without those whose entry no longer
// has the value that the decision used. It then drops these from the changes of the tick. It
// returns no files if no change is left that causes a commit.
func (p *publisher) merge(ctx context.Context) (writing, error) {
	w, err := p.write(ctx, policy.Changes(p.changes), namespaces(p.repairs(p.Decided.State, len(p.changes) > 0, nil)))
	if err != nil {
		return writing{}, err
	}
	drop := func(id workload.ID) {
		p.changes = slices.DeleteFunc(p.changes, func(d policy.Decision) bool { return d.ID == id })
	}
	for _, removal := range w.renamed {
		drop(removal.ID)
		p.changes = append(p.changes, removal)
	}
	slices.SortStableFunc(p.changes, func(a, b policy.Decision) int { return workload.Compare(a.ID, b.ID) })
	for _, id := range w.skipped {
		p.notice(NoticeMoved, id.String(), "its entry changed before the push; the next tick decides again")
		drop(id)
		p.Dropped = true
	}
	if !policy.Commits(p.changes) && len(p.repairs(p.Decided.State, len(p.changes) > 0, nil)) == 0 {
		return writing{}, nil
	}
	return w, nil
}

// renaming returns the removal of an entry under the old name of its kind as a decision.
func renaming(c checkpoint.Change, tree checkpoint.Tree, kinds workload.Kinds) policy.Decision {
	o, _ := tree.Site.Kinds.Object(c.ID.Kind)
	now, _ := kinds.Named(o.Group, o.Kind)
	return policy.Decision{
		ID: c.ID, Reading: policy.ReadingScale, Verdict: policy.Cross, From: c.From, To: c.To,
		Text: fmt.Sprintf("the policy now calls its kind %s", now),
	}
}

// replaced returns decisions with some of them replaced.
func replaced(decisions, by []policy.Decision) []policy.Decision {
	if len(by) == 0 {
		return decisions
	}
	with := lists.Index(by, policy.Decision.Subject)
	return lists.Map(decisions, func(d policy.Decision) policy.Decision {
		if r, is := with[d.Subject()]; is {
			return r
		}
		return d
	})
}

// write applies changes to the files of the tip, and restores the checkpoint files of the
// repaired namespaces.
func (p *publisher) write(ctx context.Context, changes []checkpoint.Change, repaired []string) (w writing, err error) {
	if p.tip.tree == nil {
		tree, _, err := ledger.TreeAt(ctx, p.Repository, p.tip.commit, p.Site)
		if err != nil {
			return writing{}, err
		}
		p.tip.tree = &tree
	}
	tree := *p.tip.tree
	changes, removals := tree.Rename(p.Fleet.Kinds, changes)
	w.changes = changes
	w.renamed = lists.Map(removals, func(c checkpoint.Change) policy.Decision { return renaming(c, tree, p.Fleet.Kinds) })
	p.Published.Decisions = replaced(p.Published.Decisions, w.renamed)
	site := checkpoint.Site{Name: p.Site, Cluster: p.Decided.Head.Cluster.UID, Kinds: p.Fleet.Kinds}
	w.files, w.skipped = checkpoint.Merge(tree, site, changes)
	checkpoint.Repair(tree, w.files, repaired)
	w.restored = lists.Filter(tree.Stale(), func(namespace string) bool {
		return w.files[checkpoint.RecordPath(p.Site, namespace)] != nil
	})
	return w, nil
}

// push makes one commit on the tip. gitlatch stores nothing before a push. The commit may
// have landed despite an error, and then the next tick finds it in git.
func (p *publisher) push(ctx context.Context, w writing, c repo.Commit) (id string, err error) {
	err = p.take(ctx)
	if err != nil {
		return "", err
	}
	c.Parent = p.tip.commit
	c.Files = w.files
	c.When = p.Fleet.At
	return p.Repository.Commit(ctx, c)
}

// pushBase pushes to the base.
func (p *publisher) pushBase(ctx context.Context, w writing) error {
	by, _, readable, err := trailers(p.Site, p.tip.commit, *p.tip.tree, w)
	if err != nil {
		return err
	}
	surges := lists.Filter(p.changes, func(d policy.Decision) bool { return d.Surge })
	by.Surges = lists.Map(surges, func(d policy.Decision) ledger.Surge { return ledger.Surge{ID: d.ID, Need: d.Count} })
	made := &Commit{Changes: p.changes, Message: ledger.Message(p.Set.Subject, by, p.SkipCI, lists.Map(p.changes, proposal.Line), w.restored)}
	if p.DryRun {
		p.Commit = made
		return nil
	}
	made.ID, err = p.push(ctx, w, repo.Commit{Message: made.Message})
	if err != nil {
		return err
	}
	p.Commit = made
	p.Agrees = !p.tip.unjudged && !readable
	if p.Agrees {
		changes := policy.Changes(p.changes)
		for _, s := range by.Surges {
			i := slices.IndexFunc(changes, func(c checkpoint.Change) bool { return c.ID == s.ID })
			p.Conditions = append(p.Conditions, surge(p.Site, s, changes[i].From.Replicas, changes[i].To.Replicas))
		}
	}
	p.changes = nil
	p.tip = tip{commit: made.ID, unjudged: !p.Agrees}
	return nil
}

// tooLarge reports whether the host refused the size, and may accept a part.
func tooLarge(err error) bool {
	refused, is := errors.AsType[*repo.RefusedError](err)
	return is && refused.TooLarge
}

// later returns the namespaces that wait for another commit. It returns half of the
// namespaces that the proposal does not have yet. If the proposal has every namespace or no
// namespace, it returns half of them.
func later(all, has []string) []string {
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	rest := slices.DeleteFunc(slices.Clone(all), func(namespace string) bool { return slices.Contains(has, namespace) })
	if len(rest) == 0 || len(rest) == len(all) {
		return all[(len(all)+1)/2:]
	}
	return rest[len(rest)/2:]
}

// halve returns the level changes that cause a commit, or half of the namespaces if all do. The
// next tick decides the others.
func halve(crossings []policy.Decision) []policy.Decision {
	causes := lists.Filter(crossings, func(d policy.Decision) bool { return !d.Rides })
	if len(causes) < len(crossings) {
		return causes
	}
	later := later(lists.Map(crossings, func(d policy.Decision) string { return d.ID.Namespace }), nil)
	return slices.DeleteFunc(slices.Clone(crossings), func(d policy.Decision) bool { return slices.Contains(later, d.ID.Namespace) })
}

// trailers returns the trailers of a commit, and the changes of entries that it makes to a
// tip. readable is true if a broken checkpoint file can be read after the commit, because
// site.yaml then has the kind of a user's entry.
func trailers(site, tip string, tree checkpoint.Tree, w writing) (
	by ledger.Trailers, changes []checkpoint.Change, readable bool, err error) {
	before, err := tree.With(nil)
	if err != nil {
		return by, nil, false, err
	}
	after, err := before.With(w.files)
	if err != nil {
		return by, nil, false, err
	}
	changes = ledger.Changes(ledger.HoldingOf(before), ledger.HoldingOf(after))
	return ledger.Trailers{Site: site, Intent: ledger.Intent(site, tip, changes)}, changes, len(after.Broken) < len(before.Broken), nil
}
