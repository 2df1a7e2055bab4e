// Package history lists the history of an entry from git: each commit on the branch that
// changed the entry of a workload.
package history

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Repository is the part of a repo.Repository that this package uses.
type Repository interface {
	Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]repo.Object, error)
	History(ctx context.Context, commit, until string, limit int) (log []repo.LogEntry, whole bool, err error)
}

// A Query selects a workload and the length of its history.
type Query struct {
	Site    string
	ID      workload.ID
	Changes int       // maximum number of changes; 0 is all
	Since   time.Time // oldest time of a change; zero is all
	Commits int       // maximum number of commits to search, the branch's own and merged ones
}

// A Log is the history of one entry.
type Log struct {
	Query
	Changes []Change // the newest first
	Looked  int      // number of commits of the branch that were searched
	// Cut is true if older changes may exist: the query allowed no more commits, or a
	// shallow clone has no more. Oldest is the time of the last commit that was searched.
	Cut    bool
	Oldest time.Time
}

// A Change is one commit that changed the entry.
type Change struct {
	Commit  string    `json:"commit"`
	At      time.Time `json:"at"`     // the author's time
	Author  string    `json:"author"` // name <email>
	Subject string    `json:"subject"`
	Ours    bool      `json:"-"`                // gitlatch made the commit
	Reason  string    `json:"reason,omitempty"` // gitlatch's reason, in the commit or in the one that it merges; "" if there is none
	// From and To are the entry before and after the commit; zero if there was no entry.
	// Broken is the error of the checkpoint file after it. WasBroken is true if the file
	// could not be read before. That side is then zero.
	From      checkpoint.Entry `json:"-"`
	To        checkpoint.Entry `json:"-"`
	Broken    error            `json:"-"`
	WasBroken bool             `json:"-"`
}

// Of returns the history of an entry, from a commit back along first parents. So a merge
// is one commit, as the branch itself saw it. It reads each version of the checkpoint
// file once.
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

// A state is the entry of the workload at some commit.
type state struct {
	blob   string
	entry  checkpoint.Entry // zero if there is no entry
	broken error
}

func (s state) same(other state) bool {
	if s.broken != nil || other.broken != nil {
		return s.blob == other.blob
	}
	return s.entry == other.entry
}

// A walk is a search through the history.
type walk struct {
	repository Repository
	query      Query
	tip        string
	commits    map[string]repo.LogEntry // that were requested so far
	depth      int                      // number of commits that were requested so far
	over       bool                     // no further commits exist, or the query allows no more
	blobs      map[string]state
	last       string // the blob that was read last
}

// firstDepth is the number of commits in the first request. Each further request has four
// times as many.
const firstDepth = 64

// commit returns a commit, and whether it is within the commits to search.
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

// step returns a commit of the branch. whole is true if the commit and its first parent
// are within the commits to search.
func (w *walk) step(ctx context.Context, id string) (c repo.LogEntry, whole bool, err error) {
	c, whole, err = w.commit(ctx, id)
	if whole && len(c.Parents) > 0 {
		_, whole, err = w.commit(ctx, c.Parents[0])
	}
	return c, whole, err
}

// state reads the entry of the workload at a commit.
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

// change returns the Change of a commit. A merge has the reason of the commit that it
// merges.
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

// reason returns the reasons for the workload in a commit's message.
func (w *walk) reason(c repo.LogEntry) string {
	own := lists.Filter(ledger.Reasons(c.Message), func(r ledger.Reason) bool { return r.ID == w.query.ID })
	return strings.Join(lists.Map(own, func(r ledger.Reason) string { return r.Text }), "; ")
}
