package ledger

import (
	"context"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// A Reader is the part of a repo.Repository that reads a commit.
type Reader interface {
	Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]repo.Object, error)
}

// ProposalBranch returns the branch of a site's proposals.
func ProposalBranch(site string) string { return "gitlatch/" + site }

// Checkpoints returns the path to read a site's directory with, in the form that Tree
// accepts. It covers the files of gitlatch alone.
func Checkpoints(site string) string {
	return repo.Within(checkpoint.Directory(site), checkpoint.Files()...)
}

// Tree parses the directory of a site. A link or another unsafe object in it makes the
// files of its namespace unreadable.
func Tree(site string, o repo.Object) (checkpoint.Tree, error) {
	tree, err := checkpoint.ParseTree(site, o.Files)
	for _, path := range slices.Sorted(maps.Keys(o.Unsafe)) {
		if err == nil {
			err = tree.Break(path, &repo.UnsafeError{Path: path, Why: o.Unsafe[path]})
		}
	}
	return tree, err
}

// TreeAt reads the directory of a site at a commit. directory is the object id of the
// directory; "" if the commit does not have it.
func TreeAt(ctx context.Context, from Reader, commit, site string) (tree checkpoint.Tree, directory string, err error) {
	path := Checkpoints(site)
	objects, err := from.Read(ctx, commit, nil, path)
	if err != nil {
		return tree, "", err
	}
	tree, err = Tree(site, objects[path])
	return tree, objects[path].ID, err
}
