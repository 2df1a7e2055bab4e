package gitwire

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// memoryBytes bounds the packs that are unpacked in memory: those of a partial
// clone, of which far smaller ones are normal.
const memoryBytes = 32 << 20

// fetch falls back on the whole commit, from then on, where a server speaks of
// partial clone and then does not hand out single objects.
func (h *smartHTTP) fetch(ctx context.Context, into *objects, commit plumbing.Hash, ids []plumbing.Hash) error {
	err := h.some(ctx, into, commit, ids)
	if err == nil || !h.has.filter || !inProtocol(err) {
		return err
	}
	if whole := h.whole(ctx, into, commit, 1); whole != nil {
		return err
	}
	h.has.filter, h.asked = false, true
	return nil
}

// inProtocol reports whether git itself failed, and not the way to it.
func inProtocol(err error) bool {
	var said *serverError
	return errors.As(err, &said) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (h *smartHTTP) some(ctx context.Context, into *objects, commit plumbing.Hash, ids []plumbing.Hash) error {
	return h.attempt(ctx, func() error {
		switch {
		case !h.has.filter:
			return h.whole(ctx, into, commit, 1)
		case slices.Contains(ids, commit):
			return h.partial(ctx, into, want{[]plumbing.Hash{commit}, 1, "tree:1"})
		}
		return h.partial(ctx, into, want{ids, 0, "tree:0"})
	})
}

func (h *smartHTTP) deepen(ctx context.Context, into *objects, commit plumbing.Hash, depth int) error {
	return h.attempt(ctx, func() error {
		if !h.has.filter {
			return h.whole(ctx, into, commit, depth)
		}
		return h.partial(ctx, into, want{[]plumbing.Hash{commit}, depth, "tree:0"})
	})
}

// partial fetches into memory.
func (h *smartHTTP) partial(ctx context.Context, into *objects, w want) error {
	most := bound{memoryBytes, "the paths hold too much to be checkpoints"}
	return h.pack(ctx, w, most, into.unpack)
}

// whole fetches commits with all their files, onto disk, in place of what was
// there.
func (h *smartHTTP) whole(ctx context.Context, into *objects, commit plumbing.Hash, depth int) error {
	if err := h.close(); err != nil {
		return err
	}
	into.disk = nil
	dir, err := os.MkdirTemp(h.tempDir, "gitlatch-")
	if err != nil {
		return err
	}
	h.dir = dir
	disk := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRU(4*cache.MiByte))
	most := bound{h.maxBytes, "without partial clone (uploadpack.allowFilter) it sends every file of the commit"}
	err = h.pack(ctx, want{[]plumbing.Hash{commit}, depth, ""}, most, func(pack io.Reader) error {
		return packfile.UpdateObjectStorage(disk, pack)
	})
	if err != nil {
		return errors.Join(err, h.close())
	}
	h.disk, into.disk = disk, disk
	return nil
}

// close removes what whole put on disk.
func (h *smartHTTP) close() error {
	if h.dir == "" {
		return nil
	}
	var closed error
	if h.disk != nil {
		closed = h.disk.Close()
	}
	err := errors.Join(closed, os.RemoveAll(h.dir))
	h.dir, h.disk = "", nil
	return err
}
