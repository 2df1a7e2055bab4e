// Package history is what became of one checkpoint, out of git: each commit on
// the branch that changed what is declared of a workload.
package history

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Repository is what is needed of a repo.Repository.
type Repository interface {
	Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]repo.Object, error)
	History(ctx context.Context, commit, until string, limit int) (log []repo.LogEntry, whole bool, err error)
}

// A Query says whose history is wanted, and how much of it.
type Query struct {
	Site    string
	ID      workload.ID
	Changes int       // at most so many; 0 is all
	Since   time.Time // none that is older; zero is all
	Commits int       // are looked through at most, the branch's own and those merged
}

// A Log is the history of one checkpoint.
type Log struct {
	Query
	Changes []Change // the newest first
	Looked  int      // commits of the branch that were looked at
	// Cut is true if older changes may exist: the commits to look through were not
	// enough, or a shallow clone has no more. Oldest is when the last commit that was
	// looked at was made.
	Cut    bool
	Oldest time.Time
}

// A Change is one commit that changed what is declared.
type Change struct {
	Commit  string    `json:"commit"`
	At      time.Time `json:"at"`     // as its author has it
	Author  string    `json:"author"` // name <email>
	Subject string    `json:"subject"`
	Ours    bool      `json:"-"`                // gitlatch made it
	Reason  string    `json:"reason,omitempty"` // gitlatch's own, of the commit or of the one that it merges; "" is none
	// From and To are what was declared before and after; zero is nothing. Broken
	// is why the record cannot be read after it, and WasBroken true where it could
	// not before: then that side is zero.
	From      checkpoint.Entry `json:"-"`
	To        checkpoint.Entry `json:"-"`
	Broken    error            `json:"-"`
	WasBroken bool             `json:"-"`
}

// Of follows the branch from a commit down, each merge to what it was merged
// into, as the branch itself saw it. Each commit is read as far as its record
// differs from the one before.
func Of(ctx context.Context, r Repository, tip string, q Query) (log Log, err error) {
	w := walk{repository: r, query: q, tip: tip, commits: map[string]repo.LogEntry{}, blobs: map[string]state{}}
	log.Query = q
	here, err := w.state(ctx, tip)
	if err != nil {
		return log, err
	}
	for id := tip; ; {
		c, whole, err := w.step(ctx, id)
		if err == nil && c.ID != "" && c.When.Before(q.Since) {
			return log, nil
		}
		if err != nil || !whole {
			log.Cut = true
			return log, err
		}
		before := state{}
		if len(c.Parents) > 0 {
			if before, err = w.state(ctx, c.Parents[0]); err != nil {
				return log, err
			}
		}
		log.Looked, log.Oldest = log.Looked+1, c.When
		if !here.same(before) {
			log.Changes = append(log.Changes, w.change(c, before, here))
		}
		if len(c.Parents) == 0 || q.Changes > 0 && len(log.Changes) == q.Changes {
			return log, nil
		}
		id, here = c.Parents[0], before
	}
}

// A state is what a record says of the workload at some commit.
type state struct {
	blob   string
	entry  checkpoint.Entry // zero is nothing
	broken error
}

func (s state) same(other state) bool {
	if s.broken != nil || other.broken != nil {
		return s.blob == other.blob
	}
	return s.entry == other.entry
}

// A walk is a history being read.
type walk struct {
	repository Repository
	query      Query
	tip        string
	commits    map[string]repo.LogEntry // as far as they were asked for
	depth      int                      // to which they were
	over       bool                     // there are no more, or no more are wanted
	blobs      map[string]state
	last       string // blob that was read last
}

// firstDepth is how many commits are asked for at first, each further time four
// times as many.
const firstDepth = 64

// commit returns a commit, and whether it is within what is looked through.
func (w *walk) commit(ctx context.Context, id string) (repo.LogEntry, bool, error) {
	for {
		if c, ok := w.commits[id]; ok || w.over {
			return c, ok, nil
		}
		w.depth = min(max(firstDepth, 4*w.depth), w.query.Commits)
		found, whole, err := w.repository.History(ctx, w.tip, "", w.depth)
		if err != nil {
			return repo.LogEntry{}, false, err
		}
		w.over = whole || len(found) < w.depth || w.depth == w.query.Commits
		for _, c := range found {
			w.commits[c.ID] = c
		}
	}
}

// step returns a commit of the branch. whole is true if it and the commit before it are
// within what is looked through.
func (w *walk) step(ctx context.Context, id string) (c repo.LogEntry, whole bool, err error) {
	c, whole, err = w.commit(ctx, id)
	if whole && len(c.Parents) > 0 {
		_, whole, err = w.commit(ctx, c.Parents[0])
	}
	return c, whole, err
}

// state reads what a commit's record says.
func (w *walk) state(ctx context.Context, commit string) (state, error) {
	path := checkpoint.RecordPath(w.query.Site, w.query.ID.Namespace)
	objects, err := w.repository.Read(ctx, commit, map[string]string{path: w.last}, path)
	var unsafe *repo.UnsafeError
	if errors.As(err, &unsafe) {
		return state{blob: unsafe.Error(), broken: unsafe}, nil
	}
	if err != nil {
		return state{}, err
	}
	o := objects[path]
	if s, seen := w.blobs[o.ID]; seen || o.ID == "" {
		return s, nil
	}
	s := state{blob: o.ID}
	record, err := checkpoint.ParseRecord(w.query.ID.Namespace, o.Files[path])
	s.entry, s.broken = record.Entries[w.query.ID], err
	w.blobs[o.ID], w.last = s, o.ID
	return s, nil
}

// change is a commit with what it did. A merge has the reason of what it merges.
func (w *walk) change(c repo.LogEntry, from, to state) Change {
	done := Change{
		Commit: c.ID, At: c.When, Author: sanitize.Line(c.Author), Subject: ledger.Subject(c.Message), Ours: ledger.Ours(w.query.Site, c.Message),
		Reason: w.reason(c),
		From:   from.entry, To: to.entry, Broken: to.broken, WasBroken: from.broken != nil,
	}
	for _, merged := range c.Parents[min(1, len(c.Parents)):] {
		if of, ok := w.commits[merged]; ok && done.Reason == "" {
			done.Reason = w.reason(of)
		}
	}
	return done
}

// reason is what a commit says of the workload.
func (w *walk) reason(c repo.LogEntry) string {
	var texts []string
	for _, r := range ledger.Reasons(c.Message) {
		if r.ID == w.query.ID {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, "; ")
}
