// Package repo is the ports to a git repository: reading a few paths at a
// commit and moving a branch by compare-and-swap, without a clone; and
// proposing a branch to people. The packages below this one are its adapters.
package repo

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Repository is one git repository and a branch of it, the base: the one that
// holds the checkpoints. Object ids are hexadecimal. Other branches are named
// without refs/heads/.
type Repository interface {
	// Heads returns the commit at the base and, in the order asked, at other
	// branches: "" for one that does not exist. It is one request where the
	// protocol has one for several branches. A base that does not exist is
	// ErrNoBranch.
	Heads(ctx context.Context, also ...string) (base string, others []string, err error)

	// Read reads paths at a commit: files, and directories with all files below
	// them, or with some where Within says which. A path that is not there has the
	// zero Object and no error. Where a path's id equals the one in known, its
	// content is not fetched. A path that is, or leads through, a symlink, a
	// submodule or a Git LFS pointer is an UnsafeError, and so is one beyond what
	// is read (MostBytes and so on). Such a path below a directory is noted in its
	// Object, and the rest is read.
	Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]Object, error)

	// History returns the commits that a commit descends from, itself included,
	// nearest first and through every parent, until the commit with the id in
	// until is among them or there are limit of them. whole is true where all
	// there are were returned, so that nothing older exists.
	History(ctx context.Context, commit, until string, limit int) (log []LogEntry, whole bool, err error)

	// Between returns the window of the commits that tip descends from and base
	// does not, through every parent; tip is a commit that exists, and base one
	// that did. It asks for no trees, and for commits of the window alone where
	// the protocol can: its cost grows with the window, not with the past.
	Between(ctx context.Context, base, tip string) (Window, error)

	// Commit makes one commit on a parent and moves a branch to it by one
	// compare-and-swap, and returns its id. See Commit for what each field
	// does. A commit that is on the branch already, because an answer was lost
	// or a tick is repeated, is not made again. Errors are ErrMoved, RefusedError
	// or ErrUnknown; with any of the first two the branch does not hold the
	// commit.
	Commit(ctx context.Context, c Commit) (string, error)
}

// An Object is what a path holds.
type Object struct {
	ID string // "" where nothing is at the path
	// Files is the content by path from the root of the repository: one file, or
	// all files below a directory. Nil where the id was known already.
	Files map[string][]byte
	// Unsafe says of paths below a directory why they are not among its files:
	// "is a symlink".
	Unsafe map[string]string
}

// A LogEntry is one commit of a history.
type LogEntry struct {
	ID      string
	Parents []string // the one whose branch it is on first; none for the first commit
	Author  string   // name <email>
	// Committer is who made it as it is, name <email>: another than the author
	// where it was amended, rebased or picked by hand.
	Committer string
	When      time.Time // as its author has it
	Message   string
}

// A Commit is a change to make.
type Commit struct {
	// Branch is the branch to move; "" is the base, which moves only from Parent.
	Branch string
	// Expect is the commit that a branch other than the base holds now, or ""
	// where it must not exist yet. Parent need not be on it: a proposal whose
	// base moved is made anew on the moved base, and the branch leaves what it
	// held.
	Expect string
	Parent string // the commit that it is made on
	// Files is the content by path from the root; nil removes the file. What is
	// not named stays as it is, bytes, modes and all.
	Files   map[string][]byte
	Message string
	When    time.Time // of author and committer, so that a repeat is the same commit
}

// An Author makes commits.
type Author struct{ Name, Email string }

// String returns the author in the form of a commit, name <email>.
func (a Author) String() string { return a.Name + " <" + a.Email + ">" }

// DefaultAuthor makes the commits if the configuration names no author.
var DefaultAuthor = Author{Name: "gitlatch", Email: "gitlatch@users.noreply.github.com"}

var (
	// ErrNoBranch says that the branch does not exist in a repository that could
	// be read.
	ErrNoBranch = errors.New("branch does not exist")
	// ErrMoved says that the branch was moved by another since it was read. Read
	// again and decide afresh.
	ErrMoved = errors.New("branch moved before the push")
	// ErrUnknown says that a push may or may not have landed, and the branch
	// could not be read afterwards. The next tick finds out.
	ErrUnknown = errors.New("push may or may not have landed")
)

// A RefusedError says that the server will not take what was sent as it is: the
// branch is protected, a hook declined it, or the credentials may not write.
type RefusedError struct {
	What string // what was refused; "" is a push
	Why  string // the server's own words, on one line
	// OnDisk is true where there is no server: the repository is a folder, and
	// who may write to it is a matter of files.
	OnDisk bool
	// TooLarge is true where the server may take a part of what was sent.
	TooLarge bool
}

// Error gives the server's words.
func (e *RefusedError) Error() string { return cmp.Or(e.What, "push") + " was refused: " + e.Why }

// An UnsafeError says that a path is not a plain file or directory.
type UnsafeError struct {
	Path string
	Why  string // "is a symlink"
}

// Error names the path and what it is.
func (e *UnsafeError) Error() string { return e.Path + " " + e.Why }
