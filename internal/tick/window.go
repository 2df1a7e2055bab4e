package tick

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A belief is the relation of the tip to the agreed tip.
type belief int

const (
	unmoved   belief = iota // the tip is the agreed tip, or nothing was agreed
	descends                // the window has every commit since the agreed tip
	truncated               // the window has too few commits to find the authors of changes
	rewritten               // the tip does not descend from the agreed tip, on two ticks; the window starts at the first of these tips
)

// A window contains the commits on the base since git and the latches agreed.
type window struct {
	repo.Window
	belief belief
	// ours are the commits with the trailers of this site: pushes to the base, and commits of
	// the site's proposals, which have a Base. The oldest is first.
	ours []ledger.Pushed
}

// lookBack reads the window. The first time that the tip does not descend from the agreed
// tip, it ends the read: a rewritten branch and a lagging replica look the same.
func (r *reconciler) lookBack(ctx context.Context) error {
	agreed := &r.Found.Agreed
	if agreed.Tip == "" || agreed.Tip == r.Tip {
		return nil
	}
	between, err := r.Repository.Between(ctx, agreed.Tip, r.Tip)
	if err != nil {
		return err
	}
	r.window.Window = between
	switch {
	case between.Cut:
		r.window.belief = truncated
		r.notice(NoticeCut, r.Tip, "too many commits came since %s to find the author of each change: gitlatch accepts the branch, without edit grace periods", agreed.Tip)
		return nil
	case between.Descends:
		r.window.belief = descends
		r.window.classify(r.Site, agreed.Tip)
		return nil
	}
	if agreed.Suspect != "" {
		since, err := r.Repository.Between(ctx, agreed.Suspect, r.Tip)
		if err != nil {
			return err
		}
		if since.Descends {
			r.window.Window = since
			r.window.belief = rewritten
			r.window.classify(r.Site, agreed.Suspect)
			r.notice(NoticeRewritten, r.Tip, "the branch did not descend from %s on two ticks: gitlatch accepts it", agreed.Tip)
			text := r.Notices[len(r.Notices)-1].Text
			r.condition(alert.Rewritten, r.Tip, text, "a rebuild starts with the levels of the new commit. gitlatch does not change the rewritten entries for 24 hours",
				fmt.Sprintf("to compare the levels, run \"git diff %s %s -- %s\". To restore a level, commit it again", agreed.Tip, r.Tip, checkpoint.Directory(r.Site)))
			return nil
		}
	}
	agreed.Suspect = r.Tip
	r.notice(NoticeRewritten, r.Tip, "the branch is at %s, which does not descend from %s: gitlatch publishes nothing until the next tick confirms it", r.Tip, agreed.Tip)
	r.Stop = r.Notices[len(r.Notices)-1].Text
	err = r.readPolicy(repo.Object{ID: agreed.Policy})
	if err != nil {
		return err
	}
	return errUnwritable
}

// classify finds the commits of ticks. The parent of a push to the base is the agreed tip or
// a later commit. The parent of a proposal may be older.
func (w *window) classify(site, agreed string) {
	parents := map[string]bool{agreed: true}
	for _, c := range w.Commits {
		parents[c.ID] = true
	}
	for _, c := range slices.Backward(w.Commits) {
		by := ledger.ReadTrailers(c.Message)
		if by.Pushed(site) && len(c.Parents) == 1 && (by.Base != "" || parents[c.Parents[0]]) {
			w.ours = append(w.ours, ledger.Pushed{LogEntry: c, Trailers: by})
		}
	}
}

// since reports whether a commit is the agreed tip or came after it.
func (w window) since(agreed, commit string) bool {
	return commit == agreed || slices.ContainsFunc(w.Commits, func(c repo.LogEntry) bool { return c.ID == commit })
}

// ancestors returns a commit and its ancestors in the window.
func (w window) ancestors(commit string) map[string]bool {
	found := map[string]bool{commit: true}
	for _, c := range w.Commits { // each commit is listed before its parents
		if !found[c.ID] {
			continue
		}
		for _, parent := range c.Parents {
			found[parent] = true
		}
	}
	return found
}

// replacedBy returns the commits of the window that a stacked proposal replaces: it descends
// from them, but has the content of its Base, which does not.
func (w window) replacedBy(c ledger.Pushed) map[string]bool {
	below := w.ancestors(c.Parents[0])
	for id := range w.ancestors(c.Base) {
		delete(below, id)
	}
	return below
}

// A verified commit is a push or a proposal of the site with the content that its trailers
// state.
type verified struct {
	ledger.Pushed
	ledger.Step
}

// verify returns the verified commits of the window, the newest first. It skips the commits
// that a stacked proposal replaces. CodeCommit stacks proposals: a new commit on the
// proposal's branch descends from the old ones, and from a push that users removed from the
// base.
func (r *reconciler) verify(ctx context.Context) (all []verified, err error) {
	replaced := map[string]bool{}
	for _, c := range slices.Backward(r.window.ours) {
		if replaced[c.ID] {
			continue
		}
		base := cmp.Or(c.Base, c.Parents[0])
		before, after, ok, err := r.commits.Verify(ctx, c, c.Parents[0], base)
		if err == nil && !ok {
			before, after, ok, err = r.commits.Verify(ctx, c, base, base)
			if ok {
				maps.Copy(replaced, r.window.replacedBy(c))
			}
		}
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, verified{c, ledger.Step{Before: before.Holding, After: after.Holding}})
		}
	}
	return all, nil
}

// readPast reads the pushes and proposals on the base, and the content of the tip. A commit
// whose content differs from its trailers is a user's commit.
func (r *reconciler) readPast(ctx context.Context) error {
	all, err := r.verify(ctx)
	if err != nil {
		return err
	}
	for _, c := range slices.Backward(all) {
		if c.Base != "" {
			r.Past.Merged = append(r.Past.Merged, ledger.Changes(c.Before, c.After)...)
			continue
		}
		r.Landed = append(r.Landed, c.Pushed)
		r.Past.Steps = append(r.Past.Steps, c.Step)
	}
	r.Past.Tip = ledger.HoldingOf(*r.Tree)
	agreed, err := r.agreedHolding(ctx)
	r.Past.Agreed = agreed
	return err
}

// agreedHolding returns the content of git at the last agreement. If it is unknown, as after
// the loss of the head, it returns the content of the tip: then no change counts as a user's,
// and no entry gets an edit grace period. For a rewritten branch it returns the content of
// the latches.
func (r *reconciler) agreedHolding(ctx context.Context) (ledger.Holding, error) {
	agreed := r.Found.Agreed
	switch {
	case r.window.belief == rewritten:
		return ledger.Holding{Entries: r.declared()}, nil
	case r.window.belief != descends:
		return r.Past.Tip, nil
	case agreed.Directory != "" && agreed.Directory == r.Directory:
		return r.Past.Tip, nil
	}
	s, err := r.commits.At(ctx, agreed.Tip)
	if err != nil {
		return ledger.Holding{}, err
	}
	for id, e := range r.declared() {
		if s.Broken[id.Namespace] != nil {
			s.Entries[id] = e
		}
	}
	return s.Holding, nil
}

// declared returns the declared entries of the latches.
func (r *reconciler) declared() map[workload.ID]checkpoint.Entry {
	entries := map[workload.ID]checkpoint.Entry{}
	for one := range r.Latches.All() {
		if !one.Declared.IsZero() {
			entries[one.ID] = one.Declared
		}
	}
	return entries
}

// judge finds the author of each change. Before a change counts as a user's, it asks the host
// whether users merged the proposal, because a squash does not name its author. If authors
// are unknown, also because no tip was agreed, it asks the host about the open proposal.
func (r *reconciler) judge(ctx context.Context) error {
	r.Changes = r.Past.Judge()
	unknown := r.window.belief == truncated || r.window.belief == rewritten || r.Head.Agreed.Tip == ""
	asks := slices.ContainsFunc(r.Changes, ledger.Change.Persons) || unknown && r.Head.Proposal != nil
	if asks && r.Proposals != nil && r.Head.Agreed.Tip != r.Tip {
		merged, err := r.hostMerged(ctx)
		if err != nil {
			return err
		}
		if len(merged) > 0 {
			// The host reports only the newest proposal of a branch. A new one waits for the
			// next tick, so that the merge is saved first.
			r.Fate.Stop = "users merged the proposal"
			r.Past.Merged = append(r.Past.Merged, merged...)
			r.Changes = r.Past.Judge()
		}
	}
	judged := lists.Index(r.Changes, workloadOf)
	for _, one := range r.Latches.Sorted() {
		_, has := judged[one.ID]
		if !has && r.Tree.Broken[one.ID.Namespace] == nil {
			r.Changes = append(r.Changes, ledger.Change{ID: one.ID}) // git has no entry, and had no entry
		}
	}
	return nil
}

// workloadOf returns the workload of a change.
func workloadOf(c ledger.Change) workload.ID { return c.ID }

// hostMerged returns the changes of the newest proposal if the host reports that users
// merged it, and it was open when git and the latches last agreed.
func (r *reconciler) hostMerged(ctx context.Context) (changes []checkpoint.Change, err error) {
	last, err := r.Proposals.Find(ctx, ledger.ProposalBranch(r.Site))
	if err != nil || last == nil || last.State != repo.ProposalMerged {
		return nil, err
	}
	ours := r.Head.Proposal
	open := ours != nil && ours.Head == last.Head
	if open {
		changes = proposal.Changes(r.Latches)
	}
	made, err := r.commits.made(ctx, last.Head)
	if err != nil && last.Head != r.Branch && ctx.Err() == nil {
		return changes, nil // the host may delete the commits of a deleted branch
	}
	if err != nil || made == nil {
		return changes, err
	}
	// A dead tick may have pushed a proposal that is not in the state. Its base is the agreed
	// tip or a later commit. A proposal on an older base was merged before.
	if open || r.window.since(r.Head.Agreed.Tip, made.Base) {
		changes = append(changes, made.Changes...)
	}
	return changes, nil
}
