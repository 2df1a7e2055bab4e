package tick

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// follow returns the state that agrees with git. If a user changed an entry, its latch takes
// the new value.
func (t *Tick) follow(s latch.State, f Found) (latch.State, Notes) {
	loaded := s.Head
	s.Head.Declined = unexpired(s.Head.Declined, f.Fleet.At)
	s.Head.Agreed = f.Agreed
	s.Head.Cluster.UID = boundTo(s.Head, f.Tree)
	if loaded.At.IsZero() {
		s.Latches = s.Latches.Each(restarted)
	}
	var n, more Notes
	clean := f.Clean
	if f.Tree != nil {
		s.Head.Proposal = f.Fate.Left
		if f.Fate.Merged > 0 {
			n.notice(NoticeMerged, loaded.Proposal.URL, "users merged %d of %d proposed changes", f.Fate.Merged, f.Fate.All)
		}
		s, more = landed(t.Site, s, f)
		n = n.and(more)
		s.Latches, more = followEntries(s.Latches, f)
		n = n.and(more)
		more = t.staleNotes(s, f)
		n = n.and(more)
		clean = clean && len(more.Notices) == 0
	}
	if f.Judged {
		// If a part of the tip could not be read, the latches follow the other parts, and the
		// head agrees with no directory.
		s.Head.Agreed.Tip = f.Tip
		s.Head.Agreed.Suspect = ""
		s.Head.Agreed.Partly = !clean
		s.Head.Agreed.Directory = ""
		if clean {
			s.Head.Agreed.Directory = f.Directory
		}
	}
	s, more = followProposal(s, f)
	return s, n.and(more)
}

// restarted returns a latch for a lost head. Timers of lowering and retirement start again,
// because the length of their pauses is unknown.
func restarted(l latch.Latch) latch.Latch {
	l.Down = latch.Down{}
	return present(l)
}

// present returns the latch of a workload that is not absent.
func present(l latch.Latch) latch.Latch {
	l.Missing = latch.Stopwatch{}
	return l
}

// landed charges the pushes of earlier ticks to the budget, and alerts on their surges that
// are still in git. If such a tick did not save its state, its sample is lost. A workload may
// have been back in that sample, so absences start again.
func landed(site string, s latch.State, f Found) (latch.State, Notes) {
	var n Notes
	judged := lists.Index(f.Changes, workloadOf)
	for i, c := range f.Landed {
		s.Head.Budget = policy.Spend(f.Set.Guards, s.Head.Budget, c.When)
		if c.When.After(s.Head.At) {
			s.Latches = s.Latches.Each(present)
		}
		n.notice(NoticeLanded, c.Intent, "the push of an earlier tick had landed")
		step := f.Past.Steps[i]
		for _, surged := range c.Surges {
			to := step.After.Entries[surged.ID].Replicas
			j := judged[surged.ID]
			if j.Now.Replicas == to && j.Was.Replicas == to {
				n.Conditions = append(n.Conditions, surge(site, surged, step.Before.Entries[surged.ID].Replicas, to))
			}
		}
	}
	return s, n
}

// followEntries returns the latches that agree with the entries.
func followEntries(l latch.Latches, f Found) (latch.Latches, Notes) {
	var n Notes
	changed := map[workload.ID]latch.Latch{}
	removed := commitOf(f.Removals)
	until := f.until()
	again := until.Add(f.Set.Guards.RetireAfter)
	for _, c := range f.Changes {
		one, notices := followEntry(l.Get(c.ID), c, until)
		commit := removed[c.ID]
		if commit != "" {
			one = l.Get(c.ID).Removed(until, again)
			notices = []Notice{removedNotice(c.ID, commit, until, again)}
		}
		if !one.Equal(l.Get(c.ID)) {
			changed[c.ID] = one
		}
		n.Notices = append(n.Notices, notices...)
	}
	return l.With(changed), n
}

// followEntry returns the latch that agrees with its entry. If a user made the last change,
// the edit grace period ends at the given instant.
func followEntry(l latch.Latch, c ledger.Change, until time.Time) (latch.Latch, []Notice) {
	var n Notes
	differs := l.Declared != c.Was                               // the state is new or lost, or a push landed
	merged := c.Ours && l.Proposed() == c.Was && !c.Was.IsZero() // a user merged the proposed entry
	if differs || merged {
		l = l.Settled(c.Was)
		l.OptedOut = l.OptedOut && c.Was.IsZero() // a user wrote the entry again, or merged it
		if !c.Ours && !c.Persons() {
			n.notice(NoticeSeeded, c.ID.String(), "%s read from git", cmp.Or(declared(c.Now), "no entry"))
		}
	}
	if !c.Persons() {
		return l, n.Notices
	}
	kind, why := NoticeAdopted, "a user edited its entry"
	if c.Ours && c.Now == c.Agreed { // back to the entry before gitlatch's change
		kind = NoticeReverted
		why = "a user reverted gitlatch's change"
	}
	end := until.UTC().Format(timeFormat) + ", or until gitlatch adopt " + c.ID.Short()
	switch {
	case !c.Now.IsZero():
		n.notice(kind, c.ID.String(), "%s: %s accepted; edit grace period until %s", why, declared(c.Now), end)
	case c.Agreed.IsZero(): // gitlatch wrote the entry in this window, and a user removed it
		n.notice(NoticeReverted, c.ID.String(), "%s: it has no entry; edit grace period until %s", why, end)
	default:
		n.notice(NoticeOptedOut, c.ID.String(), "a user deleted its entry, so gitlatch no longer latches it. To latch it again, write the entry or run gitlatch adopt")
		l = l.Adopted(c.Now, time.Time{})
		l.OptedOut = true
		l.RemovedUntil = time.Time{}
		l.Missing = latch.Stopwatch{} // no entry is left to retire
		return l, n.Notices
	}
	return l.Adopted(c.Now, until), n.Notices
}

// declared returns the content of an entry in words.
func declared(e checkpoint.Entry) string {
	var texts []string
	if e.Replicas > 0 {
		texts = append(texts, fmt.Sprintf("level %d", e.Replicas))
	}
	if r := e.Rollout; r != (checkpoint.Rollout{}) {
		texts = append(texts, fmt.Sprintf("rollout at %d %%, %s, which returns %s", r.Milestone, r.Phase, r.Returns))
	}
	return strings.Join(texts, " and ")
}

// staleNotes reports the stale namespaces that no proposal repairs. The next tick reads the
// directory again, until a commit or a proposal repairs them.
func (t *Tick) staleNotes(s latch.State, f Found) (n Notes) {
	ours := s.Head.Proposal
	for _, m := range stale(f.Tree, s.Head.Declined) {
		proposed := t.Propose && ours != nil && slices.Contains(ours.Repairs, m)
		if !proposed {
			n.notice(NoticeStale, m.Namespace, "its checkpoint file has text that gitlatch does not write, and the next commit restores it. Its levels stay")
		}
	}
	return n
}

// followProposal returns the state after the outcome of the proposal. If users closed the
// proposal or took over its branch, its workloads get an edit grace period.
func followProposal(s latch.State, f Found) (latch.State, Notes) {
	var n Notes
	ours := f.Fate.Left
	if f.Fate.Landed {
		n.notice(NoticeLanded, f.Branch, "the push of an earlier tick to the proposal's branch had landed")
	}
	switch f.Fate.Outcome {
	case proposal.Open:
		open := *ours
		open.ID = f.Fate.Host.ID
		open.URL = f.Fate.Host.URL
		open.Closing = ""
		if open.Opened.After(f.Fleet.At) { // a clock was ahead
			open.Opened = f.Fleet.At
		}
		s.Head.Proposal = &open
	case proposal.Unopened:
		unopened := *ours
		unopened.ID = ""
		s.Head.Proposal = &unopened
	case proposal.Overtaken:
		s = forget(s)
	case proposal.Withdrawn:
		s = forget(s)
		n.notice(NoticeWithdrawn, ours.URL, "an earlier tick had closed it")
	case proposal.Closed, proposal.Taken:
		declining, more := decline(s, f)
		return declining, n.and(more)
	}
	return s, n
}

// decline starts an edit grace period for each workload of a declined proposal.
func decline(s latch.State, f Found) (latch.State, Notes) {
	var n Notes
	ours := f.Fate.Left
	until := f.until()
	changes := proposal.Changes(s.Latches)
	adopted := map[workload.ID]latch.Latch{}
	for _, c := range changes {
		adopted[c.ID] = s.Latches.Get(c.ID).Adopted(c.From, until)
	}
	s.Latches = s.Latches.With(adopted)
	s.Head.Declined = declined(s.Head.Declined, ours.Repairs, until)
	s.Head.Proposal = nil
	n.notice(NoticeDeclined, ours.URL, "%s: edit grace period for its %s until %s", f.Fate.Stop, proposedIn(len(changes), len(ours.Repairs)), until.UTC().Format(timeFormat))
	return s, n
}

// proposedIn counts the changes of a proposal, in words.
func proposedIn(changes, repairs int) string {
	workloads := fmt.Sprintf("%d workloads", changes)
	files := fmt.Sprintf("%d restored checkpoint files", repairs)
	switch {
	case repairs == 0:
		return workloads
	case changes == 0:
		return files
	}
	return workloads + " and " + files
}

// forget returns the state without the proposal and its proposed entries.
func forget(s latch.State) latch.State {
	s.Head.Proposal = nil
	s.Latches = s.Latches.Each(latch.Latch.Unproposed)
	return s
}

// unexpired returns the declined repairs that have not expired.
func unexpired(all []latch.Declined, now time.Time) []latch.Declined {
	return slices.DeleteFunc(slices.Clone(all), func(d latch.Declined) bool { return !now.Before(d.Until) })
}
