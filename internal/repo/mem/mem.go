// Package mem is a repository in memory: a working adapter of repo.Repository
// for tests that run many ticks, and the base on which they inject faults. It
// has one branch, keeps every commit, and is safe for concurrent use.
package mem

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Repository is a repository in memory. Use New.
type Repository struct {
	mu      sync.Mutex
	tip     string
	commits map[string]commit
}

type commit struct {
	Parents []string
	Files   map[string]string
	Author  string
	Message string
	When    time.Time
}

// New returns a repository whose branch holds one commit with the files.
func New(files map[string]string) *Repository {
	r := &Repository{commits: map[string]commit{}}
	r.tip = r.add(commit{Files: files, Author: "person", Message: "first"})
	return r
}

func (r *Repository) add(c commit) string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // plain values only
	}
	id := hash(string(text))
	r.commits[id] = c
	return id
}

func hash(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Tip returns the commit at the branch.
func (r *Repository) Tip(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tip, ctx.Err()
}

// Read reads paths at a commit.
func (r *Repository) Read(ctx context.Context, id string, known map[string]string, paths ...string) (map[string]repo.Object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.commits[id]
	if !ok {
		return nil, fmt.Errorf("commit %s does not exist", id)
	}
	objects := map[string]repo.Object{}
	for _, path := range paths {
		o := repo.Object{Files: map[string][]byte{}}
		var text strings.Builder
		for _, file := range slices.Sorted(maps.Keys(c.Files)) {
			if file == path || strings.HasPrefix(file, path+"/") {
				o.Files[file] = []byte(c.Files[file])
				fmt.Fprintf(&text, "%q %q\n", strings.TrimPrefix(file, path), c.Files[file])
			}
		}
		switch {
		case len(o.Files) == 0:
			o = repo.Object{}
		default:
			o.ID = hash(text.String())
			if known[path] == o.ID {
				o.Files = nil
			}
		}
		objects[path] = o
	}
	return objects, ctx.Err()
}

// History returns the commits that a commit descends from.
func (r *Repository) History(ctx context.Context, id, until string, limit int) (log []repo.LogEntry, whole bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, next := map[string]bool{id: true}, []string{id}
	for len(next) > 0 {
		if len(log) == limit {
			return log, false, ctx.Err()
		}
		id, next = next[0], next[1:]
		c, ok := r.commits[id]
		if !ok {
			return nil, false, fmt.Errorf("commit %s does not exist", id)
		}
		log = append(log, repo.LogEntry{ID: id, Author: c.Author, When: c.When, Message: c.Message})
		if id == until {
			return log, false, ctx.Err()
		}
		for _, parent := range c.Parents {
			if !seen[parent] {
				seen[parent], next = true, append(next, parent)
			}
		}
	}
	return log, true, ctx.Err()
}

// Commit makes one commit and moves the branch to it.
func (r *Repository) Commit(ctx context.Context, c repo.Commit) (string, error) {
	return r.commit("gitlatch", c)
}

func (r *Repository) commit(author string, c repo.Commit) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tip != c.Parent {
		return "", repo.ErrMoved
	}
	files := maps.Clone(r.commits[r.tip].Files)
	for path, data := range c.Files {
		files[path] = string(data)
		if data == nil {
			delete(files, path)
		}
	}
	r.tip = r.add(commit{Parents: []string{c.Parent}, Files: files, Author: author, Message: c.Message, When: c.When.UTC()})
	return r.tip, nil
}

// Edit commits as a person does: nil removes a file.
func (r *Repository) Edit(message string, when time.Time, files map[string][]byte) string {
	tip, _ := r.Tip(context.Background())
	id, err := r.commit("person", repo.Commit{Parent: tip, Files: files, Message: message, When: when})
	if err != nil {
		panic(err) // the tip was read a moment ago, by the only writer of a test
	}
	return id
}

// Rewrite moves the branch to any commit, as a force-push does.
func (r *Repository) Rewrite(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tip = id
}

// Files are those at the branch, by path.
func (r *Repository) Files() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.commits[r.tip].Files)
}

// Log are the messages of the branch's first-parent history, newest first.
func (r *Repository) Log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var log []string
	for id := r.tip; id != ""; {
		c := r.commits[id]
		log = append(log, c.Message)
		id = cmp.Or(append(c.Parents, "")...)
	}
	return log
}
