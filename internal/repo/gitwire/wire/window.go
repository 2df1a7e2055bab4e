package wire

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// ofWindow bounds the packed commits of a window, about 150 bytes each.
var ofWindow = bound{4 << 20, "the branch moved by too many commits"}

// Between says which commit it has. The commits come with their root trees, unless
// that is too much or refused. From a server without partial clone come the files
// that they changed, too, onto disk, until the window is known.
func (s *Server) Between(ctx context.Context, into *pack.Objects, base, commit plumbing.Hash) (whole bool, err error) {
	w := want{ids: []plumbing.Hash{commit}, have: base}
	return true, s.attempt(ctx, func() error {
		if s.has.filter {
			w.filter = s.window
			err := s.partial(ctx, into, w, ofWindow)
			if s.window != "tree:0" && (errors.Is(err, pack.ErrTooMuch) || inProtocol(err)) {
				s.window, w.filter = "tree:0", "tree:0"
				err = s.partial(ctx, into, w, ofWindow)
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
