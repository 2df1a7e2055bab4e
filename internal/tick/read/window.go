package read

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A belief is the relation of the tip to the agreed tip.
type belief int

const (
	unmoved   belief = iota // the tip is the agreed tip, or nothing was agreed
	descends                // the window has every commit since the agreed tip
	truncated               // the window has too few commits to find the authors of changes, and the pushes of ticks
	// suspect: the tip does not descend from the agreed tip, on one tick. A rewritten branch and
	// a lagging replica look the same.
	suspect
	rewritten // the same on two ticks; the window starts at the first of these tips
)

// A window contains the commits on the base since git and the latches agreed.
type window struct {
	repo.Window
	belief belief
	// ours are the commits with the trailers of this site: pushes to the base, and commits of
	// the site's proposals, which have a Base. The oldest is first.
	ours []ledger.Pushed
}

// lookBack reads the window from the agreed tip to the present one.
func (r *reader) lookBack(ctx context.Context, tip string) (w window, err error) {
	agreed := r.agreed
	if agreed.Tip == "" || agreed.Tip == tip {
		return w, nil
	}
	w.Window, err = r.Repository.Between(ctx, agreed.Tip, tip)
	switch {
	case err != nil:
		return w, err
	case w.Cut:
		w.belief = truncated
		r.Notice(notes.Cut, tip, "too many commits came since %s to find the author of each change: gitlatch accepts the branch, without edit grace periods", agreed.Tip)
		return w, nil
	case w.Descends:
		w.belief = descends
		w.ours = w.pushed(r.Site, agreed.Tip)
		return w, nil
	case agreed.Suspect == "":
		w.belief = suspect
		return w, nil
	}
	w.Window, err = r.Repository.Between(ctx, agreed.Suspect, tip)
	if err != nil || !w.Descends {
		w.belief = suspect
		return w, err
	}
	w.belief = rewritten
	w.ours = w.pushed(r.Site, agreed.Suspect)
	text := r.Notice(notes.Rewritten, tip, "the branch did not descend from %s on two ticks: gitlatch accepts it", agreed.Tip)
	r.Condition(alert.Rewritten, tip, text, "a rebuild starts with the levels of the new commit. gitlatch does not change the rewritten entries for 24 hours",
		fmt.Sprintf("to compare the levels, run \"git diff %s %s -- %s\". To restore a level, commit it again", agreed.Tip, tip, checkpoint.Directory(r.Site)))
	return w, nil
}

// pushed returns the commits of ticks. The parent of a push to the base is the agreed tip or a
// later commit. The parent of a proposal may be older.
func (w window) pushed(site, agreed string) (ours []ledger.Pushed) {
	parents := map[string]bool{agreed: true}
	for _, c := range w.Commits {
		parents[c.ID] = true
	}
	for _, c := range slices.Backward(w.Commits) {
		by := ledger.ReadTrailers(c.Message)
		if by.Pushed(site) && len(c.Parents) == 1 && (by.Base != "" || parents[c.Parents[0]]) {
			ours = append(ours, ledger.Pushed{LogEntry: c, Trailers: by})
		}
	}
	return ours
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

// A Push is a commit of an earlier tick, with the content that its trailers state.
type Push struct {
	ledger.Pushed
	ledger.Step
}

// content returns the content of a commit of a tick. It is not ok if the content differs from
// the trailers. An ordinary commit has the content of its parent, with its changes. A stacked
// one has the content of its Base with its changes, although its parent is an older proposal:
// CodeCommit stacks proposals.
//
//	base <- older proposal <- c
func (r *reader) content(ctx context.Context, c ledger.Pushed) (p Push, stacked, ok bool, err error) {
	parent := c.Parents[0]
	base := cmp.Or(c.Base, parent)
	before, after, ok, err := r.commits.Verify(ctx, c, parent, base)
	if err == nil && !ok && base != parent {
		stacked = true
		before, after, ok, err = r.commits.Verify(ctx, c, base, base)
	}
	return Push{c, ledger.Step{Before: before.Holding, After: after.Holding}}, stacked, ok, err
}

// replaced returns the commits of the window between the Base of a stacked commit and the
// commit: older proposals, and pushes that users removed from the base.
func (w window) replaced(by ledger.Pushed) map[string]bool {
	between := w.ancestors(by.Parents[0])
	for id := range w.ancestors(by.Base) {
		delete(between, id)
	}
	return between
}

// pushes returns the commits of ticks in the window, the oldest first, without those that a
// stacked commit replaces.
func (r *reader) pushes(ctx context.Context, w window) (all []Push, err error) {
	replaced := map[string]bool{}
	for _, c := range slices.Backward(w.ours) {
		if replaced[c.ID] {
			continue
		}
		p, stacked, ok, err := r.content(ctx, c)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if stacked {
			maps.Copy(replaced, w.replaced(c))
		}
		all = append(all, p)
	}
	slices.Reverse(all)
	return all, nil
}

// past returns the pushes and proposals on the base, and the content of the tip. A commit whose
// content differs from its trailers is a user's commit.
func (r *reader) past(ctx context.Context, f Found, w window) (Found, error) {
	all, err := r.pushes(ctx, w)
	if err != nil {
		return f, err
	}
	for _, p := range all {
		if p.Base != "" { // a proposal
			f.Past.Merged = append(f.Past.Merged, ledger.Changes(p.Before, p.After)...)
			continue
		}
		f.Pushes = append(f.Pushes, p)
		f.Past.Steps = append(f.Past.Steps, p.Step)
	}
	f.Past.Tip = ledger.HoldingOf(*f.Tree)
	f.Past.Agreed, err = r.agreedHolding(ctx, f, w)
	return f, err
}

// agreedHolding returns the content of git at the last agreement. An entry that differs from it
// at the tip, without a push of gitlatch, is a user's change and gets an edit grace period.
func (r *reader) agreedHolding(ctx context.Context, f Found, w window) (ledger.Holding, error) {
	noUserChange := f.Past.Tip
	sameDirectory := r.agreed.Directory != "" && r.agreed.Directory == f.Directory
	switch {
	case w.belief == rewritten: // the agreed tip is not in the history
		return ledger.Holding{Entries: r.declared()}, nil
	case w.belief != descends: // the authors of the changes are unknown
		return noUserChange, nil
	case sameDirectory: // the tick read it only to judge the commits of ticks
		return noUserChange, nil
	}
	s, err := r.commits.At(ctx, r.agreed.Tip)
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
func (r *reader) declared() map[workload.ID]checkpoint.Entry {
	entries := map[workload.ID]checkpoint.Entry{}
	for one := range r.Latches.All() {
		if !one.Declared.IsZero() {
			entries[one.ID] = one.Declared
		}
	}
	return entries
}

// mergedAtHost returns the changes of a proposal that users merged, if only the host knows it:
// a squash does not name its author. It asks the host before a change counts as a user's. If
// authors are unknown, also because no tip was agreed, it asks about the open proposal.
func (r *reader) mergedAtHost(ctx context.Context, f Found, w window, judged []ledger.Change) ([]checkpoint.Change, error) {
	unknown := w.belief == truncated || w.belief == rewritten || r.agreed.Tip == ""
	asks := slices.ContainsFunc(judged, ledger.Change.Persons) || unknown && r.Head.Proposal != nil
	if !asks || r.Proposals == nil || r.agreed.Tip == f.Tip {
		return nil, nil
	}
	last, err := r.Proposals.Find(ctx, ledger.ProposalBranch(r.Site))
	if err != nil || last == nil || last.State != repo.ProposalMerged {
		return nil, err
	}
	made, err := r.made(ctx, last.Head, f.Branch)
	if err != nil {
		return nil, err
	}
	var changes []checkpoint.Change
	saved := r.Head.Proposal != nil && r.Head.Proposal.Head == last.Head
	if saved {
		changes = Proposed(r.Latches)
	}
	// A dead tick may have pushed a proposal that is not in the state. Its base is the agreed
	// tip or a later commit. A proposal on an older base was merged before.
	if made != nil && (saved || w.since(r.agreed.Tip, made.Base)) {
		changes = append(changes, made.Changes...)
	}
	return changes, nil
}

// made returns gitlatch's commit at the head of a merged proposal; nil if it is another's, or if
// the host deleted it with its branch. branch is the present commit of the branch.
func (r *reader) made(ctx context.Context, head, branch string) (*Made, error) {
	made, err := r.commits.Made(ctx, head)
	deleted := head != branch
	if err != nil && deleted && ctx.Err() == nil {
		return nil, nil
	}
	return made, err
}
