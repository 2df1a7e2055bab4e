// Package repo defines the ports to a git repository. An adapter reads a few paths at a
// commit and moves a branch by compare-and-swap, without a clone. It also proposes a
// branch to users. The packages below this one are its adapters.
package repo

import (
	"context"
	"errors"
	"time"
)

// Repository is one git repository and its base, the branch that contains the
// checkpoints. Object ids are hexadecimal. Other branches are named without refs/heads/.
type Repository interface {
	// Heads returns the commit of the base, and the commits of other branches in the
	// order of also: "" for a branch that does not exist. It sends one request if the
	// protocol can ask for several branches at once. It returns ErrNoBranch if the base
	// does not exist.
	Heads(ctx context.Context, also ...string) (base string, others []string, err error)

	// Read reads paths at a commit. A path is a file, or a directory with all files below
	// it. Within selects some of these files. A path that does not exist has the zero
	// Object and no error. If a path's id equals its id in known, Read does not fetch the
	// content.
	//
	// Read returns an UnsafeError if a path is, or leads through, a symlink, a submodule
	// or a Git LFS pointer, or exceeds a limit such as MostBytes. If such a path is below
	// a directory, Read notes it in the Object of the directory and reads the others.
	Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]Object, error)

	// History returns a commit and its ancestors through every parent, nearest first. It
	// ends with the commit until, or after limit commits. whole is true if History
	// returned every ancestor.
	History(ctx context.Context, commit, until string, limit int) (log []LogEntry, whole bool, err error)

	// Between returns the commits that tip descends from and base does not, through every
	// parent. tip must exist, and base must have existed. If the protocol allows it,
	// Between fetches only commits of the window, at most with their root trees, so its
	// cost grows with the window and not with the history.
	Between(ctx context.Context, base, tip string) (Window, error)

	// Commit makes one commit on a parent, moves a branch to it by one compare-and-swap,
	// and returns its id. See the type Commit for the fields. If the branch already has
	// the commit, because an answer was lost or a tick is repeated, Commit does not make
	// it again. Errors are ErrMoved, RefusedError or ErrUnknown. After ErrMoved and
	// RefusedError, the commit is not on the branch.
	Commit(ctx context.Context, c Commit) (string, error)
}

// An Object is the content of a path.
type Object struct {
	ID string // "" if the path does not exist
	// Files is the content by path from the root of the repository: one file, or all
	// files below a directory. It is nil if the caller already had the id.
	Files map[string][]byte
	// Unsafe is the reason why Files omits a path below a directory, by path, such as "is
	// a symlink".
	Unsafe map[string]string
}

// A LogEntry is one commit of a history.
type LogEntry struct {
	ID      string
	Parents []string // starting with the parent on the same branch; empty for the first commit
	Author  string   // name <email>
	// Committer made the commit in its present form, name <email>. It differs from Author
	// if the commit was amended, rebased or cherry-picked.
	Committer string
	When      time.Time // the author's time
	Message   string
}

// A Commit is a commit to make.
type Commit struct {
	// Branch is the branch to move; "" is the base, which moves only from Parent.
	Branch string
	// Expect is the present commit of a branch other than the base, or "" if the branch
	// must not exist yet. Parent need not be on the branch: if the base moves, a proposal
	// is made again on the new base, and the branch loses its earlier commits.
	Expect string
	Parent string // of the new commit
	// Files is the content by path from the root; nil removes the file. Files that are
	// not listed keep their bytes and modes.
	Files   map[string][]byte
	Message string
	When    time.Time // for author and committer; a repeated commit with the same When has the same id
}

// An Author is the author and committer of commits.
type Author struct{ Name, Email string }

// String returns the author in the form of a commit, name <email>.
func (a Author) String() string { return a.Name + " <" + a.Email + ">" }

// DefaultAuthor is the author if the configuration has no author.
var DefaultAuthor = Author{Name: "gitlatch", Email: "gitlatch@users.noreply.github.com"}

var (
	// ErrNoBranch means that the repository could be read and does not have the branch.
	ErrNoBranch = errors.New("branch does not exist")
	// ErrMoved means that someone else moved the branch after it was read. The caller
	// must read the branch again and decide again.
	ErrMoved = errors.New("branch moved before the push")
	// ErrUnknown means that a push may or may not have reached the branch, and that the
	// branch could not be read afterwards. The next tick reads it.
	ErrUnknown = errors.New("push may or may not have landed")
)

// An UnsafeError means that a path is not a plain file or directory.
type UnsafeError struct {
	Path string
	Why  string // "is a symlink"
}

// Error returns the path and the reason.
func (e *UnsafeError) Error() string { return e.Path + " " + e.Why }
