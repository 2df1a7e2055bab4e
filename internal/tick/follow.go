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
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// follow returns the state that agrees with git. If a user changed an entry, its latch takes
// the new value.
func (t *Tick) follow(s latch.State, f read.Found) (latch.State, notes.Notes) {
	loaded := s.Head
	s.Head.Declined = read.Unexpired(s.Head.Declined, f.Fleet.At)
	s.Head.Agreed = f.Next
	s.Head.Cluster.UID = f.Cluster
	if loaded.At.IsZero() {
		s.Latches = s.Latches.Each(restarted)
	}
	var n, more notes.Notes
	clean := f.Clean
	if f.Tree != nil {
		s.Head.Proposal = f.Fate.Left
		if f.Fate.Merged > 0 {
			n.Notice(notes.Merged, loaded.Proposal.URL, "users merged %d of %d proposed changes", f.Fate.Merged, f.Fate.All)
		}
		s, more = charge(t.Site, s, f)
		n = n.And(more)
		s.Latches, more = followEntries(s.Latches, f)
		n = n.And(more)
		more = t.staleNotes(s, f)
		n = n.And(more)
		clean = clean && len(more.Notices) == 0
	}
	if f.Judged {
		// If a part of the tip could not be read, the latches follow the other parts, and the
		// head agrees with no directory.
		s.Head.Agreed.Tip = f.Tip
		s.Head.Agreed.Directory = f.Directory
		s.Head.Agreed.Suspect = ""
		s.Head.Agreed.Reread = false
		if !clean {
			s.Head.Agreed = s.Head.Agreed.ReadAgain()
		}
	}
	s, more = followProposal(s, f)
	return s, n.And(more)
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

// charge charges the pushes of earlier ticks to the budget, and alerts on their surges that
// are still in git. If such a tick did not save its state, its sample is lost. A workload may
// have been back in that sample, so absences start again.
func charge(site string, s latch.State, f read.Found) (latch.State, notes.Notes) {
	var n notes.Notes
	judged := lists.Index(f.Changes, read.WorkloadOf)
	for _, c := range f.Pushes {
		s.Head.Budget = policy.Spend(f.Set.Guards, s.Head.Budget, c.When)
		unsaved := c.When.After(s.Head.At)
		if unsaved {
			s.Latches = s.Latches.Each(present)
		}
		n.Notice(notes.Landed, c.Intent, "the push of an earlier tick had landed")
		for _, surged := range c.Surges {
			to := c.After.Entries[surged.ID].Replicas
			j := judged[surged.ID]
			if j.Now.Replicas == to && j.WithoutUser.Replicas == to {
				n.Surge(site, surged, c.Before.Entries[surged.ID].Replicas, to)
			}
		}
	}
	return s, n
}

// followEntries returns the latches that agree with the entries. An entry that a user removed
// together with many others gets an edit grace period.
func followEntries(l latch.Latches, f read.Found) (latch.Latches, notes.Notes) {
	var n notes.Notes
	changed := map[workload.ID]latch.Latch{}
	removed := commitOf(f.Removals)
	until := f.Until()
	optOutUntil := until.Add(f.Set.Guards.RetireAfter)
	for _, c := range f.Changes {
		was := l.Get(c.ID)
		var one latch.Latch
		var notices []notes.Notice
		commit := removed[c.ID]
		if commit == "" {
			one, notices = followEntry(was, c, until)
		} else {
			one = was.Removed(until, optOutUntil)
			notices = []notes.Notice{removedNotice(c.ID, commit, until, optOutUntil)}
		}
		if !one.Equal(was) {
			changed[c.ID] = one
		}
		n.Notices = append(n.Notices, notices...)
	}
	return l.With(changed), n
}

// followEntry returns the latch that agrees with its entry: first with the pushes and merges of
// gitlatch, which leave the entry WithoutUser, and then with the last change if a user made it.
// These differ after a push, a merge, or a new or lost state. An edit grace period ends at the given
// instant.
func followEntry(l latch.Latch, c ledger.Change, until time.Time) (latch.Latch, []notes.Notice) {
	var n notes.Notes
	differs := l.Declared != c.WithoutUser
	if differs {
		l = l.Settled(c.WithoutUser)
		l.OptedOut = l.OptedOut && c.WithoutUser.IsZero() // an entry ends an opt-out
	}
	if c.Persons() {
		return followUser(l, c, until)
	}
	seeded := differs && !c.Ours // no push or merge explains the difference
	if seeded {
		n.Notice(notes.Seeded, c.ID.String(), "%s read from git", cmp.Or(declared(c.Now), "no entry"))
	}
	return l, n.Notices
}

// followUser returns the latch that agrees with an entry that a user changed last:
//
//	entry now                        what the user did           the workload
//	absent, and agreed               deleted the entry           is opted out
//	agreed, after gitlatch's change  reverted gitlatch's change  has an edit grace period
//	anything else                    edited the entry            has an edit grace period
//
// An edit grace period ends an opt-out.
func followUser(l latch.Latch, c ledger.Change, until time.Time) (latch.Latch, []notes.Notice) {
	deleted := c.Now.IsZero() && !c.Agreed.IsZero()
	reverted := c.Ours && c.Now == c.Agreed
	switch {
	case deleted:
		return optedOut(l, c)
	case reverted:
		return accepted(l, c, until, notes.Reverted, "a user reverted gitlatch's change")
	}
	return accepted(l, c, until, notes.Adopted, "a user edited its entry")
}

// optedOut returns the latch of a workload that a user opted out. It has no timer of a
// retirement, because no entry is left to retire.
func optedOut(l latch.Latch, c ledger.Change) (latch.Latch, []notes.Notice) {
	var n notes.Notes
	n.Notice(notes.OptedOut, c.ID.String(), "a user deleted its entry, so gitlatch no longer latches it. To latch it again, write the entry or run gitlatch adopt")
	l = l.Adopted(c.Now, time.Time{})
	l.OptedOut = true
	l.RemovedUntil = time.Time{}
	return present(l), n.Notices
}

// accepted returns the latch with a user's entry, and an edit grace period.
func accepted(l latch.Latch, c ledger.Change, until time.Time, kind notes.Kind, why string) (latch.Latch, []notes.Notice) {
	var n notes.Notes
	what := declared(c.Now) + " accepted"
	if c.Now.IsZero() {
		what = "it has no entry"
	}
	n.Notice(kind, c.ID.String(), "%s: %s; edit grace period until %s, or until gitlatch adopt %s", why, what, notes.Time(until), c.ID.Short())
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
func (t *Tick) staleNotes(s latch.State, f read.Found) (n notes.Notes) {
	ours := s.Head.Proposal
	for _, m := range read.Repairs(f.Tree, s.Head.Declined) {
		proposed := t.Propose && ours != nil && slices.Contains(ours.Repairs, m)
		if !proposed {
			n.Notice(notes.Stale, m.Namespace, "its checkpoint file has text that gitlatch does not write, and the next commit restores it. Its levels stay")
		}
	}
	return n
}

// followProposal returns the state after the outcome of the proposal. If users closed the
// proposal or took over its branch, its workloads get an edit grace period.
func followProposal(s latch.State, f read.Found) (latch.State, notes.Notes) {
	var n notes.Notes
	ours := f.Fate.Left
	if f.Fate.Pushed {
		n.Notice(notes.Landed, f.Branch, "the push of an earlier tick to the proposal's branch had landed")
	}
	switch f.Fate.Outcome {
	case read.Open:
		open := *ours
		open.ID = f.Fate.Host.ID
		open.URL = f.Fate.Host.URL
		open.Closing = ""
		if open.Opened.After(f.Fleet.At) { // a clock was ahead
			open.Opened = f.Fleet.At
		}
		s.Head.Proposal = &open
	case read.Unopened:
		unopened := *ours
		unopened.ID = ""
		s.Head.Proposal = &unopened
	case read.Overtaken:
		s = s.WithoutProposal()
	case read.Withdrawn:
		s = s.WithoutProposal()
		n.Notice(notes.Withdrawn, ours.URL, "an earlier tick had closed it")
	case read.Closed, read.Taken:
		declining, more := decline(s, f)
		return declining, n.And(more)
	}
	return s, n
}

// decline starts an edit grace period for each workload of a declined proposal.
func decline(s latch.State, f read.Found) (latch.State, notes.Notes) {
	var n notes.Notes
	ours := f.Fate.Left
	until := f.Until()
	changes := read.Proposed(s.Latches)
	adopted := map[workload.ID]latch.Latch{}
	for _, c := range changes {
		adopted[c.ID] = s.Latches.Get(c.ID).Adopted(c.From, until)
	}
	s.Latches = s.Latches.With(adopted)
	s.Head.Declined = declining(s.Head.Declined, ours.Repairs, until)
	s.Head.Proposal = nil
	n.Notice(notes.Declined, ours.URL, "%s: edit grace period for its %s until %s", f.Fate.Wait, proposedIn(len(changes), len(ours.Repairs)), notes.Time(until))
	return s, n
}

// proposedIn counts the changes of a proposal, in words.
func proposedIn(changes, repairs int) string {
	workloads := term.Count(changes, "workload")
	files := term.Count(repairs, "restored checkpoint file")
	switch {
	case repairs == 0:
		return workloads
	case changes == 0:
		return files
	}
	return workloads + " and " + files
}

// declining adds repairs to the declined ones, until an instant. gitlatch does not repair
// their namespaces until then, unless their checkpoint files change.
func declining(before []latch.Declined, repairs []latch.Repair, until time.Time) []latch.Declined {
	all := slices.DeleteFunc(slices.Clone(before), func(d latch.Declined) bool { return slices.Contains(repairs, d.Repair) })
	all = append(all, lists.Map(repairs, func(m latch.Repair) latch.Declined { return latch.Declined{Repair: m, Until: until} })...)
	slices.SortStableFunc(all, func(a, b latch.Declined) int { return strings.Compare(a.Namespace, b.Namespace) })
	return all
}

// commitOf returns the commits that removed entries, by workload.
func commitOf(removals []ledger.Removal) map[workload.ID]string {
	commits := map[workload.ID]string{}
	for _, r := range removals {
		for _, c := range r.Changes {
			commits[c.ID] = r.Commit
		}
	}
	return commits
}

func removedNotice(id workload.ID, commit string, until, optOutUntil time.Time) notes.Notice {
	text := fmt.Sprintf("commit %s removed its entry with many others: edit grace period until %s, or until gitlatch adopt %s. If a user removes the entry again before %s, the workload is opted out",
		commit, notes.Time(until), id.Short(), notes.Time(optOutUntil))
	return notes.Notice{Kind: notes.Removed, Subject: id.String(), Text: text}
}
