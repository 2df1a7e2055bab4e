package gitwire

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/signing"
)

// A Repository is a repo.Repository. Goroutines may share it: it serializes their calls.
// Later calls use the fetched objects and the known features of the server.
type Repository struct {
	remote remote
	base   plumbing.ReferenceName
	author repo.Author
	signer *signing.Key // nil does not sign
	pause  func(ctx context.Context, try int) error

	turns   repo.Turns
	objects *pack.Objects
}

var _ repo.Repository = (*Repository)(nil)

// A remote is a repository on a server or on disk.
type remote interface {
	// Heads returns the commit of each branch, in the order of branches; zero if a branch
	// does not exist.
	Heads(ctx context.Context, branches []plumbing.ReferenceName) ([]plumbing.Hash, error)
	// Branches returns the names of all branches.
	Branches(ctx context.Context) ([]string, error)
	// Fetch adds trees and blobs of a commit to into, by their ids. With whole, it adds
	// all objects below them, unless these are too many. If ids contains the commit,
	// Fetch adds the commit and its root tree.
	Fetch(ctx context.Context, into *pack.Objects, commit plumbing.Hash, ids []plumbing.Hash, whole bool) error
	// Deepen adds a commit and its ancestors to into, to a distance of less than depth.
	Deepen(ctx context.Context, into *pack.Objects, commit plumbing.Hash, depth int) error
	// Between adds the commits that a commit descends from and the base does not, and
	// others only if it cannot avoid them. It returns pack.ErrTooMuch if there are too
	// many. If whole is true, a commit that into does not have is outside of the window.
	// If whole is false, such a commit is missing.
	Between(ctx context.Context, into *pack.Objects, base, commit plumbing.Hash) (whole bool, err error)
	// Push moves a branch, by compare-and-swap, to the last of the objects, which is a
	// commit. If old is zero, Push makes the branch. The error can be a wire.Refusal. The
	// branch may have moved even if Push returns an error.
	Push(ctx context.Context, branch plumbing.ReferenceName, old plumbing.Hash, made []pack.Object) error
	// Close removes the files of Fetch from disk.
	Close() error
	// String returns the address without secrets.
	String() string
}

// Close removes the files that were downloaded from a server without partial clone.
func (r *Repository) Close() (err error) {
	defer r.turns.Take(&err, "close %s", r.remote)()
	r.objects = pack.NewObjects()
	return r.remote.Close()
}

// Heads sends one request. See repo.Repository.
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
		return "", nil, r.noBranch(ctx)
	}
	others := make([]string, len(also))
	for i, head := range heads[1:] {
		if !head.IsZero() {
			others[i] = head.String()
		}
	}
	return heads[0].String(), others, nil
}

// mostNamed is the maximum number of branches that an error names.
const mostNamed = 10

// noBranch returns the error for a base that does not exist, with the branches that do.
func (r *Repository) noBranch(ctx context.Context) error {
	names, err := r.remote.Branches(ctx)
	if err != nil {
		return fmt.Errorf("branch %q: %w", r.base.Short(), repo.ErrNoBranch)
	}
	there := "Existing branches: " + sanitize.Line(strings.Join(names[:min(len(names), mostNamed)], ", "))
	switch {
	case len(names) == 0:
		there = "The repository is empty"
	case len(names) > mostNamed:
		there += fmt.Sprintf(" and %d more", len(names)-mostNamed)
	}
	return fmt.Errorf("branch %q: %w. %s", r.base.Short(), repo.ErrNoBranch, there)
}

// Read sends one request for each level of the trees that lead to the paths, for all
// paths together, and one request for the content of a directory. If a level is in
// memory, Read sends no request for it. After the first Read of a directory, it fetches
// only new objects of later commits, level by level. See repo.Repository.
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

// fetch asks for objects, and asks again for the missing ones as long as some arrive: git
// omits an object that is in a tree of the same request.
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
