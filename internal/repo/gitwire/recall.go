package gitwire

import (
	"bytes"
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/sight"
)

var _ repo.Recaller = (*Repository)(nil)

// mostRecalled is the size in bytes of the largest tree that Tree returns, about 25
// entries. Each tick saves the tree in the state of its site. A larger tree has more
// sites, and changes too often to be worth its bytes.
const mostRecalled = 1 << 10

// Tree returns a tree that is in memory. See repo.Recaller.
func (r *Repository) Tree(commit, path string) []byte {
	defer r.turns.Take(new(error), "find a tree")()
	id, err := parseID(commit)
	if err != nil {
		return nil
	}
	data, ok := r.objects.Get(plumbing.CommitObject, id)
	if !ok {
		return nil
	}
	h, err := pack.ParseCommit(data)
	if err != nil {
		return nil
	}
	e, _, ok, err := sight.New(context.Background(), r.objects).Find(h.Tree, path)
	if err != nil || !ok {
		return nil
	}
	tree, ok := r.objects.Get(plumbing.TreeObject, e.ID)
	if !ok || len(tree) > mostRecalled {
		return nil
	}
	return bytes.Clone(tree)
}

// Recall adds a tree to memory. See repo.Recaller.
func (r *Repository) Recall(tree []byte) {
	defer r.turns.Take(new(error), "recall a tree")()
	if len(tree) > 0 && len(tree) <= mostRecalled {
		r.objects.Add(pack.Object{Kind: plumbing.TreeObject, Data: bytes.Clone(tree)})
	}
}
