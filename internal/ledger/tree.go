package ledger

import (
	"context"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// A Reader is what is needed of a repo.Repository to read a commit.
type Reader interface {
	Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]repo.Object, error)
}

// ProposalBranch is the one branch from which a site proposes.
func ProposalBranch(site string) string { return "gitlatch/" + site }

// Checkpoints is the path by which a repository is asked for the directory of a
// site, as Tree takes it. What else people keep there is not read.
func Checkpoints(site string) string {
	return repo.Within(checkpoint.Directory(site), checkpoint.Files()...)
}

// Tree reads the directory of a site as a repository holds it. What must not be
// followed in it costs its namespace.
func Tree(site string, o repo.Object) (checkpoint.Tree, error) {
	tree, err := checkpoint.ParseTree(site, o.Files)
	for _, path := range slices.Sorted(maps.Keys(o.Unsafe)) {
		if err == nil {
			err = tree.Break(path, &repo.UnsafeError{Path: path, Why: o.Unsafe[path]})
		}
	}
	return tree, err
}

// TreeAt reads what a commit holds of a site. directory is the id of the site's
// directory; "" is a site that the commit does not know.
func TreeAt(ctx context.Context, from Reader, commit, site string) (tree checkpoint.Tree, directory string, err error) {
	path := Checkpoints(site)
	objects, err := from.Read(ctx, commit, nil, path)
	if err != nil {
		return tree, "", err
	}
	tree, err = Tree(site, objects[path])
	return tree, objects[path].ID, err
}
