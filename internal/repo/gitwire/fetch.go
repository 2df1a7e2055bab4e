package gitwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// memoryBytes bounds the packs that are unpacked in memory: those of a partial
// clone, of which far smaller ones are normal.
const memoryBytes = 32 << 20

// A want is what upload-pack is asked for.
type want struct {
	ids    []plumbing.Hash
	depth  int    // of commits; 0 is no matter
	filter string // "" is all that the ids lead to
}

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
	return h.pack(ctx, w, memoryBytes, into.unpack)
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
	err = h.pack(ctx, want{[]plumbing.Hash{commit}, depth, ""}, h.maxBytes, func(pack io.Reader) error {
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

// pack asks upload-pack and hands the pack that it sends to use.
func (h *smartHTTP) pack(ctx context.Context, w want, most int64, use func(io.Reader) error) error {
	ask := h.askV2
	if !h.has.v2 {
		ask = h.askV0
	}
	answer, err := h.post(ctx, uploadPack, ask(w), h.has.v2)
	if err != nil {
		return err
	}
	defer answer.Close()
	limited := &limit{r: answer, left: most, most: most}
	in := &packets{r: limited}
	if err := h.skipToPack(in, w); err != nil {
		return err
	}
	if err := use(&band{packets: in}); err != nil {
		// What reads the pack may hide why it ended.
		if limited.left < 0 {
			return limited.over()
		}
		return err
	}
	return nil
}

func (h *smartHTTP) askV2(w want) *request {
	var ask request
	ask.linef("command=fetch\n")
	ask.delimiter()
	ask.linef("no-progress\n")
	ask.linef("ofs-delta\n")
	for _, id := range w.ids {
		ask.linef("want %s\n", id)
	}
	ask.limits(w)
	ask.linef("done\n")
	ask.flush()
	return &ask
}

// askV0 asks for multi_ack_detailed although nothing is offered that could be
// acknowledged: Azure DevOps and CodeCommit insist.
func (h *smartHTTP) askV0(w want) *request {
	var ask request
	var caps string
	for _, c := range []string{"multi_ack_detailed", "side-band-64k", "ofs-delta", "no-progress", "shallow", "filter"} {
		if strings.Contains(h.has.v0, " "+c+" ") && (c != "filter" || w.filter != "") {
			caps += " " + c
		}
	}
	for _, id := range w.ids {
		ask.linef("want %s%s\n", id, caps)
		caps = ""
	}
	ask.limits(w)
	ask.flush()
	ask.linef("done\n")
	return &ask
}

func (r *request) limits(w want) {
	if w.depth > 0 {
		r.linef("deepen %d\n", w.depth)
	}
	if w.filter != "" {
		r.linef("filter %s\n", w.filter)
	}
}

// skipToPack reads what comes before the side-band stream of the pack.
func (h *smartHTTP) skipToPack(in *packets, w want) error {
	if !h.has.v2 && w.depth == 0 {
		return nil
	}
	for {
		p, err := in.next()
		switch {
		case err != nil:
			return err
		case !h.has.v2 && p.kind == flush, h.has.v2 && p.line() == "packfile":
			return nil
		case h.has.v2 && p.kind == flush:
			return errors.New("the server sent no pack")
		}
	}
}

// A limit reads no more than a number of bytes, and says so.
type limit struct {
	r          io.Reader
	left, most int64
}

func (l *limit) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, l.over()
	}
	return n, err
}

func (l *limit) over() error {
	return fmt.Errorf("the server sends more than %d MiB: without partial clone (uploadpack.allowFilter) it sends every file of the commit", l.most>>20)
}
