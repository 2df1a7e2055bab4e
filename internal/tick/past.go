package tick

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A past is what came to the base since git and the latches agreed.
type past struct {
	// authorsKnown is true if the window tells who made each change. rewritten is true
	// if the tip does not descend from what was agreed, and is believed all the same.
	authorsKnown, rewritten bool
	window                  repo.Window
	// pushes are the commits that, by their trailers, a tick of the site pushed to the
	// base. proposals are those of the site's proposals. The oldest is first.
	pushes, proposals []ledger.Pushed
	// commits are those that were read.
	commits ledger.Commits
}

// authorsUnknown reports whether nobody can tell who changed what. All changes on a
// rewritten branch count as people's.
func (p past) authorsUnknown() bool { return !p.authorsKnown && !p.rewritten }

// lookBack asks what came since git and the latches agreed. believed is false the first
// time that the tip does not descend from the agreed tip: a rewritten branch and a
// replica that lags look the same.
func (p *pass) lookBack(ctx context.Context) (believed bool, err error) {
	agreed := &p.head.Agreed
	p.past.authorsKnown = agreed.Tip == p.git.tip
	if agreed.Tip == "" || p.past.authorsKnown {
		return true, nil
	}
	if p.past.window, err = p.Repository.Between(ctx, agreed.Tip, p.git.tip); err != nil {
		return false, err
	}
	switch {
	case p.past.window.Cut:
		p.notice(NoticeCut, p.git.tip, fmt.Sprintf("too much came since %s to tell whose change each is: adopted as it is, and nobody is yielded to", agreed.Tip))
		return true, nil
	case p.past.window.Descends:
		p.past.authorsKnown = true
		p.past.classify(p.Site, agreed.Tip)
		return true, nil
	}
	if agreed.Suspect != "" {
		since, err := p.Repository.Between(ctx, agreed.Suspect, p.git.tip)
		if err != nil {
			return false, err
		}
		p.past.rewritten = since.Descends
	}
	if p.past.rewritten {
		text := fmt.Sprintf("the branch does not descend from %s, on two ticks: adopted as it is", agreed.Tip)
		p.notice(NoticeRewritten, p.git.tip, text)
		p.condition(alert.Rewritten, p.git.tip, text, "adopted what it holds; entries that changed with it are left alone for a day", "see who rewrote the branch")
		return true, nil
	}
	agreed.Suspect = p.git.tip
	p.git.publishStop = fmt.Sprintf("the branch is at %s, which does not descend from %s: nothing is published until the next tick sees it too", p.git.tip, agreed.Tip)
	p.notice(NoticeRewritten, p.git.tip, p.git.publishStop)
	return false, p.readPolicy(repo.Object{ID: agreed.Policy})
}

// classify finds the commits of ticks. A push to the base stands on the agreed tip or
// a later commit. A proposal may stand on an older commit.
func (p *past) classify(site, agreed string) {
	parents := map[string]bool{agreed: true}
	for _, c := range p.window.Commits {
		parents[c.ID] = true
	}
	for _, c := range slices.Backward(p.window.Commits) {
		switch by := ledger.ReadTrailers(c.Message); {
		case !by.Pushed(site) || len(c.Parents) != 1:
		case by.Base != "":
			p.proposals = append(p.proposals, ledger.Pushed{LogEntry: c, Trailers: by})
		case parents[c.Parents[0]]:
			p.pushes = append(p.pushes, ledger.Pushed{LogEntry: c, Trailers: by})
		}
	}
}

// since reports whether a commit is the agreed tip or came after it.
func (p past) since(agreed, commit string) bool {
	return commit == agreed || slices.ContainsFunc(p.window.Commits, func(c repo.LogEntry) bool { return c.ID == commit })
}

// readPast reads the pushes and proposals that came to the base, and returns the past
// of the tip. A commit that does not do what its trailers say is a person's. The tree
// of the tip declares the edits in place that still wait for their record.
func (p *pass) readPast(ctx context.Context, tree *checkpoint.Tree, directory string) (found ledger.Past, err error) {
	var landed []ledger.Pushed
	for _, c := range p.past.pushes {
		before, after, verified, err := p.past.commits.Verify(ctx, c, c.Parents[0], c.Parents[0])
		if err != nil {
			return found, err
		}
		if verified {
			landed = append(landed, c)
			found.Steps = append(found.Steps, ledger.Step{Before: withEdits(before, p.files, p.head.Edited), After: withEdits(after, p.files, p.head.Edited), Follows: c.Follows})
			p.files.AddPush(before, after, c.Follows)
			p.head.Edited = p.files.Standing(after, p.head.Edited)
		}
	}
	for _, c := range p.past.proposals {
		for _, base := range []string{c.Parents[0], c.Base} {
			before, after, verified, err := p.past.commits.Verify(ctx, c, base, c.Base)
			if err != nil {
				return found, err
			}
			if verified {
				p.files.AddPush(before, after, c.Follows)
				for _, change := range ledger.Changes(withEdits(before, p.files, p.stored.Edited), withEdits(after, p.files, p.stored.Edited)) {
					if slices.Contains(c.Follows, change.ID) { // its level is a person's
						change.To = change.From.WithRollout(change.To.Rollout)
					}
					found.Merged = append(found.Merged, change)
				}
				break
			}
		}
	}
	p.past.pushes = landed
	p.head.Edited = p.files.Revise(tree, p.head.Edited)
	found.Tip = ledger.HoldingOf(*tree)
	found.Agreed, err = p.agreed(ctx, found.Tip, directory)
	return found, err
}

// judge returns who made each change. It asks the host whether users merged the
// proposal before a change counts as a user's: a squash does not name its author.
// If authors are unknown, it asks the host about the proposal that is open.
func (p *pass) judge(ctx context.Context, found *ledger.Past) ([]ledger.Change, error) {
	changes := found.Judge()
	asks := slices.ContainsFunc(changes, ledger.Change.Persons) || !p.past.authorsKnown && p.head.Proposal != nil
	if !asks || p.Proposals == nil || p.stored.Agreed.Tip == p.git.tip {
		return changes, nil
	}
	merged, err := p.hostMerged(ctx)
	if err != nil || len(merged) == 0 {
		return changes, err
	}
	// The host reports only the newest proposal of a branch. A new one waits for the
	// next tick, so that the merge is saved first.
	p.git.proposalStop = "users merged the proposal"
	found.Merged = append(found.Merged, merged...)
	return found.Judge(), nil
}

// hostMerged returns the changes of the newest proposal if the host reports that users
// merged it, and it was open when git and the latches last agreed.
func (p *pass) hostMerged(ctx context.Context) (changes []checkpoint.Change, err error) {
	last, err := p.Proposals.Find(ctx, ledger.ProposalBranch(p.Site))
	if err != nil || last == nil || last.State != repo.ProposalMerged {
		return nil, err
	}
	ours := p.stored.Proposal
	open := ours != nil && ours.Head == last.Head
	if open {
		changes = proposal.Changes(p.latches.loaded())
	}
	made, err := p.made(ctx, last.Head)
	if err != nil && last.Head != p.git.proposed && ctx.Err() == nil {
		return changes, nil // a commit of a branch that is gone need not be there
	}
	if err != nil || made == nil {
		return changes, err
	}
	// A tick that died pushed a proposal that the state does not have. Its base is the
	// agreed tip or a later commit. A proposal on an older base was merged before.
	if open || p.past.since(p.stored.Agreed.Tip, made.Base) {
		changes = append(changes, made.Changes...)
	}
	return changes, nil
}

// agreed is what git held when last agreed with. If that is unknown, the present tip
// stands in, so that nobody changed anything. For a rewritten branch the latches
// stand in.
func (p *pass) agreed(ctx context.Context, tip ledger.Holding, directory string) (ledger.Holding, error) {
	agreed := p.head.Agreed
	switch {
	case p.past.rewritten:
		return p.latches.declared(), nil
	case p.past.authorsUnknown() || agreed.Tip == p.git.tip || agreed.Directory != "" && agreed.Directory == directory:
		return tip, nil
	}
	s, err := p.past.commits.At(ctx, agreed.Tip)
	if err != nil {
		return ledger.Holding{}, err
	}
	holding := withEdits(s, p.files, p.stored.Edited)
	for id, e := range p.latches.declared().Entries {
		if holding.Broken[id.Namespace] {
			holding.Entries[id] = e
		}
	}
	return holding, nil
}

// withEdits is what a commit held, with people's edits in place that its records did
// not hold yet.
func withEdits(s ledger.Snapshot, files inplace.Files, edited []latch.Edit) ledger.Holding {
	h := s.Holding
	h.Entries = maps.Clone(h.Entries)
	for _, e := range files.Standing(s, edited) {
		if held := h.Entries[e.ID]; held.Replicas == e.From {
			held.Replicas = e.To
			h.Entries[e.ID] = held
		}
	}
	return h
}

// settlePushes takes the pushes of earlier ticks out of the budget, and alerts people
// to their surges that still stand. If such a tick was not saved, what it saw is lost:
// a workload may have been back, so that absences begin anew.
func (p *pass) settlePushes(found ledger.Past, judged map[workload.ID]*ledger.Change) {
	for i, c := range p.past.pushes {
		p.head.Budget = policy.Spend(p.set.Guards, p.head.Budget, c.When)
		if c.When.After(p.stored.At) {
			p.latches.beginAbsences()
		}
		p.notice(NoticeLanded, c.Intent, "an earlier tick's push had landed: settled")
		for _, s := range c.Surges {
			from, to := found.Steps[i].Before.Entries[s.ID].Replicas, found.Steps[i].After.Entries[s.ID].Replicas
			if j := judged[s.ID]; j != nil && j.Now.Replicas == to && j.Was.Replicas == to {
				p.conditions = append(p.conditions, surge(s, from, to))
			}
		}
	}
}
