package gitwire

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/signing"
)

// A Repository is a repo.Repository. It may be used by many goroutines, which
// take turns. What it learned of the server and the objects that it fetched
// serve the calls that follow.
type Repository struct {
	remote remote
	base   plumbing.ReferenceName
	author repo.Author
	signer *signing.Key // nil signs nothing
	pause  func(ctx context.Context, try int) error

	turns   repo.Turns
	objects *pack.Objects
}

var _ repo.Repository = (*Repository)(nil)

// A remote is a way to a repository.
type remote interface {
	// heads returns the commit at each branch, in the order asked; zero for one
	// that does not exist.
	Heads(ctx context.Context, branches []plumbing.ReferenceName) ([]plumbing.Hash, error)
	// fetch brings objects of a commit: trees and blobs by their ids, whole with
	// all that is below them, unless that is too much; and the commit itself, with
	// its root tree, where its own id is among them.
	Fetch(ctx context.Context, into *pack.Objects, commit plumbing.Hash, ids []plumbing.Hash, whole bool) error
	// deepen brings the commits that a commit descends from, itself included, to
	// a distance of less than depth.
	Deepen(ctx context.Context, into *pack.Objects, commit plumbing.Hash, depth int) error
	// between brings the commits that a commit descends from and the base does
	// not, and no others unless it cannot help it; errTooMuch says that they are
	// too many. whole is true where a commit that is then not at hand is none of
	// them, and false where it is missing.
	Between(ctx context.Context, into *pack.Objects, base, commit plumbing.Hash) (whole bool, err error)
	// push moves a branch, by compare-and-swap, to the last of the objects, a
	// commit; an old head of zero makes the branch. An error may be a refusal,
	// and does not mean that it did not land.
	Push(ctx context.Context, branch plumbing.ReferenceName, old plumbing.Hash, made []pack.Object) error
	// close removes what is on disk.
	Close() error
	// String names the repository, without anything secret.
	String() string
}

// Close removes what a server without partial clone made necessary on disk.
func (r *Repository) Close() (err error) {
	defer r.turns.Take(&err, "close %s", r.remote)()
	r.objects = pack.NewObjects()
	return r.remote.Close()
}

// Heads is one request. See repo.Repository.
func (r *Repository) Heads(ctx context.Context, also ...string) (_ string, _ []string, err error) {
	defer r.turns.Take(&err, "read the branch of %s", r.remote)()
	branches := []plumbing.ReferenceName{r.base}
	for _, name := range also {
		branch, err := parseBranch(name)
		if err != nil {
			return "", nil, err
		}
		branches = append(branches, branch)
	}
	heads, err := r.remote.Heads(ctx, branches)
	switch {
	case err != nil:
		return "", nil, err
	case heads[0].IsZero():
		return "", nil, fmt.Errorf("branch %q: %w", r.base.Short(), repo.ErrNoBranch)
	}
	others := make([]string, len(also))
	for i, head := range heads[1:] {
		if !head.IsZero() {
			others[i] = head.String()
		}
	}
	return heads[0].String(), others, nil
}

// Read takes a request for each level of the tree that leads to the paths and is
// not at hand, all paths at once, and one for what is below a directory. Once a
// directory was read, of its later states only what is new is fetched, by levels.
// See repo.Repository.
func (r *Repository) Read(ctx context.Context, commit string,
	known map[string]string, paths ...string) (found map[string]repo.Object, err error) {
	defer r.turns.Take(&err, "read %s", r.remote)()
	at, err := parseID(commit)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := repo.CheckPath(repo.ParseScope(path).Path); err != nil {
			return nil, err
		}
	}
	if err := r.look(ctx, at, func(l look) (err error) {
		found, err = l.read(at, known, paths)
		return err
	}); err != nil {
		return nil, err
	}
	for path, object := range found {
		if object.Files != nil {
			r.objects.Seen[repo.ParseScope(path).Path] = true
		}
	}
	return found, nil
}

// fetch asks for objects, and again for the others as long as some of them come:
// git leaves one out that is in a tree which is asked for with it.
func (r *Repository) fetch(ctx context.Context, commit plumbing.Hash, ids []plumbing.Hash, whole bool) error {
	ids, err := r.objects.Load(ctx, ids)
	for before := 0; err == nil && len(ids) > 0 && len(ids) != before; {
		before = len(ids)
		if err = r.remote.Fetch(ctx, r.objects, commit, ids, whole); err == nil {
			ids, err = r.objects.Load(ctx, ids)
		}
	}
	return err
}

func parseBranch(name string) (plumbing.ReferenceName, error) {
	return plumbing.NewBranchReferenceName(name), repo.CheckBranch(name)
}

func parseID(id string) (plumbing.Hash, error) {
	return plumbing.NewHash(id), repo.CheckCommit(id)
}
