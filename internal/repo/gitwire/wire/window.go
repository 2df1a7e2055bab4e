package wire

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// ofWindow limits the size of the pack of a window, with about 150 bytes for each commit.
var ofWindow = bound{4 << 20, "the branch moved by too many commits"}

// Between names the base as a commit that it has. The commits come with their root trees,
// unless these are too large or the server refuses the filter. A server without partial
// clone also sends the changed files. Between stores them on disk, and the caller removes
// them after it has computed the window.
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
