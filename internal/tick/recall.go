package tick

import (
	"path"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// recallSites gives the repository the tree that an earlier tick saved. If git still holds that
// tree, this tick does not ask for it.
func recallSites(to repo.Repository, agreed latch.Agreed) {
	if r, ok := to.(repo.Recaller); ok {
		r.Recall(agreed.Sites)
	}
}

// sitesAt returns the tree to save: the one at the agreed tip, or the one saved before if this
// tick did not read it.
func sitesAt(from repo.Repository, site string, agreed latch.Agreed) []byte {
	if r, ok := from.(repo.Recaller); ok {
		if tree := r.Tree(agreed.Tip, path.Dir(checkpoint.Directory(site))); tree != nil {
			return tree
		}
	}
	return agreed.Sites
}
