package law

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// at returns the entries in a commit.
func (w *Witness) at(id string) map[workload.ID]checkpoint.Entry {
	if entries, ok := w.entries[id]; ok {
		return entries
	}
	tree, err := w.read(id)
	broken := err != nil // its site.yaml is
	entries := tree.Entries()
	if broken || len(tree.Broken) > 0 { // an unreadable file keeps its earlier entries
		log, _, err := w.story.Repository.History(context.Background(), id, "", 1)
		if err == nil && len(log[0].Parents) > 0 {
			for of, e := range w.at(log[0].Parents[0]) {
				if broken || tree.Broken[of.Namespace] != nil {
					entries[of] = e
				}
			}
		}
	}
	w.entries[id] = entries
	return entries
}

// unread returns the namespaces that cannot be read at a commit, each with the reason. If
// site.yaml is broken, it returns all of them.
func (w *Witness) unread(id string) map[string]error {
	tree, err := w.read(id)
	if err == nil {
		return tree.Broken
	}
	all := map[string]error{}
	for of := range w.at(id) {
		all[of.Namespace] = err
	}
	return all
}

// read returns the site's tree in a commit. The error is about site.yaml.
func (w *Witness) read(id string) (checkpoint.Tree, error) {
	if known, is := w.trees[id]; is {
		return known.Tree, known.err
	}
	files := map[string][]byte{}
	for path, text := range w.story.Repository.Show(id) {
		files[path] = []byte(text)
	}
	tree, err := checkpoint.ParseTree(w.story.Site, files)
	w.trees[id] = parsed{tree, err}
	return tree, err
}

// parsed is the site's tree in a commit.
type parsed struct {
	checkpoint.Tree
	err error
}

// An author is the author of a commit.
type author string

const (
	ours   author = "gitlatch"
	person author = "a person"
	merge  author = "a person, by merging what was proposed"
	other  author = "another site"
)

// yield is longer than any site's edit grace period: the first tick afterwards corrects
// it.
const yield = 1000 * time.Hour

// A Commit is a commit on the base.
type Commit struct {
	repo.LogEntry
	By      author
	Changes []checkpoint.Change // of the site's entries
	Paths   []string            // paths that it changed
}

// look reads the commits since its last call.
func (w *Witness) look(s *Seen) {
	tip := w.head()
	if tip == w.tip {
		return
	}
	log, _, err := w.story.Repository.History(context.Background(), tip, w.tip, 100000)
	if err != nil {
		panic(err)
	}
	byID := map[string]repo.LogEntry{}
	for _, c := range log {
		byID[c.ID] = c
	}
	var since []Commit
	id := tip
	for _, known := w.known[id]; !known; _, known = w.known[id] {
		c := w.commit(byID[id])
		w.known[id] = c
		since, id = append(since, c), c.Parents[0]
	}
	s.Moved = s.Moved || id != w.tip && !w.rewound && !s.below(tip, w.tip)
	slices.Reverse(since)
	for _, c := range since {
		w.account(s, c)
	}
	s.New, w.tip, w.rewound = append(s.New, since...), tip, false
}

func (w *Witness) commit(c repo.LogEntry) Commit {
	made := Commit{LogEntry: c, By: person}
	switch {
	case w.story.Merged[c.ID]:
		made.By = merge
	case c.Author == "gitlatch" && ledger.Ours(w.story.Site, c.Message):
		made.By = ours
	case c.Author == "gitlatch":
		made.By = other
	}
	parent := c.Parents[0]
	if made.By == ours { // CodeCommit stacks proposals
		parent = cmp.Or(ledger.ReadTrailers(c.Message).Base, parent)
	}
	before, after := w.story.Repository.Show(parent), w.story.Repository.Show(c.ID)
	for path := range union(before, after) {
		if old, ok := before[path]; after[path] != old || !ok {
			made.Paths = append(made.Paths, path)
		}
	}
	was, is := w.at(parent), w.at(c.ID)
	for id := range union(was, is) {
		edited := slices.Contains(made.Paths, checkpoint.RecordPath(w.story.Site, id.Namespace)) // else site.yaml made it readable
		if was[id] != is[id] && edited {
			made.Changes = append(made.Changes, checkpoint.Change{ID: id, From: was[id], To: is[id]})
		}
	}
	slices.SortFunc(made.Changes, func(a, b checkpoint.Change) int { return workload.Compare(a.ID, b.ID) })
	slices.Sort(made.Paths)
	if made.By == person && w.again(made) {
		made.By = ours
	}
	return made
}

// again reports whether a commit repeats a commit of gitlatch that a user removed from
// the branch: with the same message, the same parent and the same files.
func (w *Witness) again(c Commit) bool {
	files := w.story.Repository.Show(c.ID)
	for _, known := range w.known {
		if known.By == ours && known.Message == c.Message && slices.Equal(known.Parents, c.Parents) && maps.Equal(w.story.Repository.Show(known.ID), files) {
			return true
		}
	}
	return false
}

// stood returns the entry before a commit, without the edits that users made since git
// and the latches last agreed. While a checkpoint file cannot be read, gitlatch uses the last
// entry that it accepted.
func (w *Witness) stood(c Commit, id workload.ID) (e checkpoint.Entry) {
	window, descends := w.window(c.Parents[0], w.agreed)
	if !descends { // gitlatch compares a rewritten branch with the agreed entry
		window = nil
	}
	e = w.at(w.agreed)[id]
	if w.unread(w.agreed)[id.Namespace] != nil {
		e = w.latched[id].Declared
	}
	for _, before := range window {
		for _, change := range before.Changes {
			if before.By == ours && change.ID == id {
				e = change.To
			}
		}
	}
	return e
}

// offered reports whether a merge brought the planned change of a commit of the site to
// an entry. Other commits on the branch do not matter.
func (w *Witness) offered(c Commit, change checkpoint.Change) bool {
	if len(c.Parents) < 2 {
		return false
	}
	log, _, err := w.story.Repository.History(context.Background(), c.Parents[1], c.Parents[0], 100)
	if err != nil {
		panic(err)
	}
	return slices.ContainsFunc(log, func(by repo.LogEntry) bool {
		if len(by.Parents) == 0 {
			return false // the parent of the merged commit is not on the branch
		}
		made := w.commit(by)
		return made.By == ours && slices.ContainsFunc(made.Changes, func(of checkpoint.Change) bool { return of.ID == change.ID && brings(of, change) })
	})
}

// brings reports whether one change includes every part of another change. Levels and
// rollouts are merged separately.
func brings(of, change checkpoint.Change) bool {
	level := func(e checkpoint.Entry) checkpoint.Entry { return e.WithRollout(checkpoint.Rollout{}) }
	return (change.From.Rollout == change.To.Rollout || of.To.Rollout == change.To.Rollout) &&
		(level(change.From) == level(change.To) || level(of.To) == level(change.To))
}

// account notes the author of an entry's value after a commit.
func (w *Witness) account(s *Seen, c Commit) {
	if c.By == merge { // a user's edit, if the state does not have the proposal
		w.all, w.amended = w.all || w.amended, false
	}
	for namespace := range w.unread(c.ID) { // a later commit may make the user's entries readable
		w.all = w.all || c.By == person && slices.Contains(c.Paths, checkpoint.RecordPath(w.story.Site, namespace))
	}
	for _, change := range c.Changes {
		if c.By == person && change.From.Replicas != change.To.Replicas {
			delete(w.asked, change.ID) // earlier requests for the workload have ended
		}
		lost := change.To.IsZero() && w.blind[change.ID.Namespace] != nil
		w.touched[change.ID] = w.touched[change.ID] || c.By == person && !lost
		for _, of := range parts(change.ID) {
			w.attribute(c, change, of)
		}
	}
}

// attribute notes the author of a part of an entry.
func (w *Witness) attribute(c Commit, change checkpoint.Change, of part) {
	t, is := w.theirs[of]
	moved := of.of(change.From) != of.of(change.To)
	switch {
	case c.By == person && of.of(change.To).IsZero() && w.blind[of.id.Namespace] != nil:
		delete(w.theirs, of) // git and the state had lost this part before
	case c.By == person && w.offered(c, change):
		delete(w.theirs, of)
	case c.By == person && (moved || !of.rollout): // an edit of a minimum also covers the level
		w.say(c, change, of)
	case c.By == person, !moved:
	case c.By == ours && w.renamed(w.at(c.Parents[0]), change.ID):
		delete(w.theirs, of) // the workload had a level under the new name
	case c.By == ours && is && c.When.Before(t.until):
		text := fmt.Sprintf("%s, which a person set to %+v, went from %+v to %+v at %s, before %s", change.ID, t.value,
			of.of(change.From), of.of(change.To), c.When.Format(time.TimeOnly), t.until.Format(time.TimeOnly))
		if of.rollout {
			w.undone = append(w.undone, text)
		} else {
			w.lost = append(w.lost, text)
		}
	default:
		delete(w.theirs, of)
	}
}

// say notes a user's edit. An edit that the user reverts before a tick reads it does
// not count, and the edit before it stays valid.
func (w *Witness) say(c Commit, change checkpoint.Change, of part) {
	stood := w.stood(c, change.ID)
	t, is := w.theirs[of]
	next := word{of.of(change.To), w.story.Now.Add(yield), t.before}
	if is && change.From == stood {
		next.before = &t
	}
	w.theirs[of] = next
	if change.To == stood {
		if delete(w.theirs, of); next.before != nil {
			w.theirs[of] = *next.before
		}
	}
}
