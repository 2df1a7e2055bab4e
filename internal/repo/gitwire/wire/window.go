package wire

import (
	"context"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// windowBytes is the maximum size of the packed commits of a window, about 150 bytes each.
const windowBytes = 4 << 20

// Between says which commit it has. The commits come with their root trees, unless
// that is too much or refused. From a server without partial clone come the files
// that they changed, too, onto disk, until the window is known.
func (s *Server) Between(ctx context.Context, into *pack.Objects, base, commit plumbing.Hash) (whole bool, err error) {
	w := want{ids: []plumbing.Hash{commit}, have: base}
	return true, s.attempt(ctx, func() error {
		if s.has.filter {
			w.filter = s.window
			err := s.commits(ctx, into, w)
			if s.window != "tree:0" && (errors.Is(err, pack.ErrTooMuch) || inProtocol(err)) {
				s.window, w.filter = "tree:0", "tree:0"
				err = s.commits(ctx, into, w)
			}
			return err
		}
		w.filter = ""
		disk, err := s.spool(ctx, w, "without partial clone (uploadpack.allowFilter) it sends every file that changed")
		if err == nil {
			into.Disk = disk
		}
		return err
	})
}

// commits fetches those of a window into memory.
func (s *Server) commits(ctx context.Context, into *pack.Objects, w want) error {
	most := bound{windowBytes, "the branch moved by too many commits"}
	return s.pack(ctx, w, most, func(from io.Reader) error { return into.Unpack(ctx, from) })
}
