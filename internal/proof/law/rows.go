package law

import (
	"slices"

	"github.com/gitlatch/gitlatch/internal/tick/notes"
)

// The rows of the table of states that a tick may find in git, as in the design.
const (
	nothing     = "nothing, after a push that failed"
	stands      = "a commit of ours, its value stands"
	otherNow    = "a commit of ours, and another value now"
	edited      = "another's change"
	deleted     = "entry deleted by another"
	rewritten   = "the tip does not descend from the agreed one"
	merged      = "what was proposed was merged"
	withdrawn   = "proposal closed by us"
	saidNo      = "proposal closed by a person, or taken over"
	lostState   = "state lost"
	stateIsNew  = "state new"
	stillAgreed = "nothing moved"
	cut         = "a window cut short"
)

// Rows are the rows that Found counts.
var Rows = []string{nothing, stands, otherNow, edited, deleted, rewritten, merged, withdrawn, saidNo, lostState, stateIsNew, stillAgreed, cut}

// count notes the state of git that a tick is about to find.
func (w *Witness) count(h Held) {
	agreed := h.Head.Agreed.Tip
	switch {
	case agreed == "":
		w.Found[stateIsNew]++
		return
	case agreed == h.Tip && w.failed:
		w.Found[nothing]++
	case agreed == h.Tip:
		w.Found[stillAgreed]++
	}
	window, descends := w.window(w.tip, agreed)
	if !descends {
		w.Found[rewritten]++
		return
	}
	rows := map[string]bool{}
	for _, c := range window {
		rows[merged] = rows[merged] || c.By == merge
		for _, change := range c.Changes {
			now := h.Entries[change.ID] == change.To
			switch {
			case c.By == ours && now:
				rows[stands] = true
			case c.By == ours:
				rows[otherNow] = true
			case c.By == person && now && change.To.IsZero():
				rows[deleted] = true
			case c.By == person && now:
				rows[edited] = true
			}
		}
	}
	for row, found := range rows {
		if found {
			w.Found[row]++
		}
	}
}

// window returns the commits from id back to older, without older, along first parents.
// The oldest is first. descends is false if id does not descend from older.
func (w *Witness) window(id, older string) (commits []Commit, descends bool) {
	for id != older {
		c, known := w.known[id]
		if !known || len(c.Parents) == 0 {
			return nil, false
		}
		commits, id = append(commits, c), c.Parents[0]
	}
	slices.Reverse(commits)
	return commits, true
}

// counted notes a tick's findings about its proposal, and whether its push failed.
func (w *Witness) counted(s *Seen) {
	w.failed = s.World.Pushed && len(s.Mine) == 0
	for _, n := range s.Told.Notices {
		switch n.Kind {
		case notes.Withdrawn:
			w.Found[withdrawn]++
		case notes.Declined:
			w.Found[saidNo]++
		case notes.Cut:
			w.Found[cut]++
		}
	}
}
