package gitwire

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/sight"
)

// A look is a sight, with the folders to fetch together with all objects below them.
type look struct {
	*sight.Sight
	whole map[plumbing.Hash]bool
}

// look runs f until no object is missing, and fetches the missing objects in between.
func (r *Repository) look(ctx context.Context, commit plumbing.Hash, f func(look) error) error {
	if _, held := r.objects.Held[commit]; !held {
		r.objects.Trim()
	}
	whole := map[plumbing.Hash]bool{}
	read := func(s *sight.Sight) error { return f(look{s, whole}) }
	return sight.Look(ctx, r.objects, read, func(s *sight.Sight) error {
		alone, together := look{s, whole}.parts()
		if err := r.fetch(ctx, commit, alone, false); err != nil {
			return err
		}
		return r.fetch(ctx, commit, together, true)
	})
}

// parts returns the ids of the missing objects: those to fetch alone, and those to fetch
// with all objects below them. If the second list has a folder, parts adds the missing
// blobs to it. That saves one request if no tree is fetched alone.
func (l look) parts() (alone, whole []plumbing.Hash) {
	ids := slices.SortedFunc(maps.Keys(l.Missing), func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	join := slices.ContainsFunc(ids, func(id plumbing.Hash) bool { return l.whole[id] })
	for _, id := range ids {
		if l.whole[id] || join && l.Missing[id].Kind == plumbing.BlobObject {
			whole = append(whole, id)
		} else {
			alone = append(alone, id)
		}
	}
	return alone, whole
}

func (l look) commit(id plumbing.Hash) (h pack.Header, ok bool, err error) {
	data, ok, err := l.Need(id, sight.Place{Kind: plumbing.CommitObject})
	if err == nil && ok {
		h, err = pack.ParseCommit(data)
	}
	if err != nil {
		return pack.Header{}, false, fmt.Errorf("commit %s: %w", id, err)
	}
	return h, ok, nil
}

// read implements Repository.Read with the objects in memory. If no earlier state of a
// folder was read, the folder is fetched with all objects below it.
func (l look) read(commit plumbing.Hash, known map[string]string, asked []string) (map[string]repo.Object, error) {
	h, ok, err := l.commit(commit)
	if !ok {
		return nil, err
	}
	found, err := l.Read(h.Tree, known, asked)
	for path, object := range found {
		id := plumbing.NewHash(object.ID)
		folder := l.Missing[id].Kind == plumbing.TreeObject
		l.whole[id] = object.Files != nil && folder && !l.Seen[repo.ParseScope(path).Path]
	}
	return found, err
}
