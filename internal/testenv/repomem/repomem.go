// Package repomem is a repository in memory: a working adapter of repo.Repository
// and repo.Proposals for tests that run many ticks, and the base on which they
// inject faults. It keeps every commit, and is safe for concurrent use.
package repomem

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
	mu        sync.Mutex
	commits   map[string]commit
	heads     map[string]string // by branch; base is ""
	proposals []*proposal       // the oldest first
	stumble   int               // steps of the next closing before it fails; 0 is never
}

// base is the key of the base in heads.
const base = ""

var (
	_ repo.Repository = (*Repository)(nil)
	_ repo.Proposals  = (*Repository)(nil)
)

type commit struct {
	Parents []string
	Files   map[string]string
	Author  string
	// Committer is another than the author; "" is the same.
	Committer string `json:",omitempty"`
	Message   string
	When      time.Time
}

// New returns a repository whose base holds one commit with the files.
func New(files map[string]string) *Repository {
	r := &Repository{commits: map[string]commit{}, heads: map[string]string{}}
	r.heads[base] = r.add(commit{Files: files, Author: "person", Message: "first"})
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

// Heads returns the commits at the base and at other branches.
func (r *Repository) Heads(ctx context.Context, also ...string) (string, []string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var others []string
	for _, branch := range also {
		others = append(others, r.heads[branch])
	}
	return r.heads[base], others, ctx.Err()
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
	for _, asked := range paths {
		scope := repo.ParseScope(asked)
		o := repo.Object{Files: map[string][]byte{}, Unsafe: map[string]string{}}
		var text strings.Builder
		for _, file := range slices.Sorted(maps.Keys(c.Files)) {
			if rest, below := strings.CutPrefix(file, scope.Path); below && (rest == "" || rest[0] == '/') {
				take(&o, scope, strings.Split(rest, "/")[1:], c.Files[file])
				fmt.Fprintf(&text, "%q %q\n", rest, c.Files[file])
			}
		}
		if why := o.Unsafe[scope.Path]; why != "" {
			return nil, &repo.UnsafeError{Path: scope.Path, Why: why}
		}
		switch {
		case text.Len() == 0:
			o = repo.Object{}
		default:
			o.ID = hash(text.String())
			if known[asked] == o.ID {
				o.Files, o.Unsafe = nil, nil
			}
		}
		objects[asked] = o
	}
	return objects, ctx.Err()
}

// take adds a file that lies in a scope, by the names on the way to it.
func take(into *repo.Object, scope repo.Scope, way []string, content string) {
	kind := repo.File
	if len(way) > 0 {
		kind = repo.Folder
	}
	why := scope.Refuses(kind, 0)
	switch {
	case why != "":
	case len(way) > 0:
		if below, ok := scope.Below(way[0]); ok {
			take(into, below, way[1:], content)
		}
		return
	case len(content) > repo.MostBytes:
		why = repo.TooLarge
	case repo.IsLFS([]byte(content)):
		why = "is a Git LFS pointer"
	default:
		into.Files[scope.Path] = []byte(content)
		return
	}
	into.Unsafe[scope.Path] = why
}

// History returns the commits that a commit descends from.
func (r *Repository) History(ctx context.Context, id, until string, limit int) (log []repo.LogEntry, whole bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	log, end, _ := repo.Log(id, until, limit, r.look)
	if end == repo.AtGap {
		return nil, false, fmt.Errorf("commit %s, or one that it descends from, does not exist", id)
	}
	return log, end == repo.AtRoots, ctx.Err()
}

// look returns a commit by its id.
func (r *Repository) look(id string) (repo.LogEntry, bool, error) {
	c, ok := r.commits[id]
	return repo.LogEntry{ID: id, Parents: slices.Clone(c.Parents), Author: c.Author, Committer: cmp.Or(c.Committer, c.Author), When: c.When, Message: c.Message}, ok, nil
}

// mostWindow limits a window, in commits that are read.
const mostWindow = 2000

// Between returns the commits that tip descends from and base does not.
func (r *Repository) Between(ctx context.Context, base, tip string) (repo.Window, error) {
	if err := ctx.Err(); err != nil {
		return repo.Window{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.commits[tip]; !ok {
		return repo.Window{}, fmt.Errorf("commit %s does not exist", tip)
	}
	return repo.Walk(base, tip, mostWindow, r.look)
}

// Commit makes one commit and moves a branch to it.
func (r *Repository) Commit(ctx context.Context, c repo.Commit) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commit("gitlatch", c)
}

func (r *Repository) commit(author string, c repo.Commit) (string, error) {
	parent, ok := r.commits[c.Parent]
	if !ok {
		return "", fmt.Errorf("commit %s does not exist", c.Parent)
	}
	files := maps.Clone(parent.Files)
	for path, data := range c.Files {
		files[path] = string(data)
		if data == nil {
			delete(files, path)
		}
	}
	id := r.add(commit{Parents: []string{c.Parent}, Files: files, Author: author, Message: c.Message, When: c.When.UTC()})
	expect := c.Expect
	if c.Branch == base {
		expect = c.Parent
	}
	switch head := r.heads[c.Branch]; {
	case slices.Contains(r.ancestry(head), id):
	case head == expect:
		r.heads[c.Branch] = id
	default:
		return "", repo.ErrMoved
	}
	return id, nil
}

// ancestry is the first-parent history of a commit, itself first.
func (r *Repository) ancestry(id string) []string {
	var ids []string
	for id != "" {
		ids = append(ids, id)
		id = cmp.Or(append(r.commits[id].Parents, "")...)
	}
	return ids
}

// Edit commits to the base like a user: nil removes a file.
func (r *Repository) Edit(message string, when time.Time, files map[string][]byte) string {
	return r.Push(base, message, when, files)
}

// Push commits to an existing branch like a user: nil removes a file.
func (r *Repository) Push(branch, message string, when time.Time, files map[string][]byte) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	head := r.heads[branch]
	id, err := r.commit("person", repo.Commit{Branch: branch, Expect: head, Parent: head, Files: files, Message: message, When: when})
	if err != nil {
		panic(err) // a test pushes to a branch that is not there
	}
	return id
}

// Amend replaces the commit at a branch with one that has other files and the same
// message and author, like a user.
func (r *Repository) Amend(branch string, files map[string][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	amended := r.commits[r.heads[branch]]
	amended.Files, amended.Committer = maps.Clone(amended.Files), "person"
	for path, data := range files {
		amended.Files[path] = string(data)
	}
	r.heads[branch] = r.add(amended)
}

// Rewrite moves the base to any commit, as a force-push does.
func (r *Repository) Rewrite(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heads[base] = id
}

// Files returns the files at the base, by path.
func (r *Repository) Files() map[string]string { return r.FilesAt(base) }

// FilesAt returns the files at a branch, by path; nil if the branch does not exist.
func (r *Repository) FilesAt(branch string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.commits[r.heads[branch]].Files)
}

// Show returns the files of a commit, by path; nil if the commit does not exist.
func (r *Repository) Show(id string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.commits[id].Files)
}

// Log are the messages of the base's first-parent history, newest first.
func (r *Repository) Log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var log []string
	for _, id := range r.ancestry(r.heads[base]) {
		log = append(log, r.commits[id].Message)
	}
	return log
}
