package wire

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// Fetch adds objects to into. If a server offers partial clone but does not send single
// objects, Fetch fetches the complete commit, now and in later calls.
func (s *Server) Fetch(ctx context.Context, into *pack.Objects, commit plumbing.Hash, ids []plumbing.Hash, whole bool) error {
	err := s.some(ctx, into, commit, ids, whole)
	if err == nil || !s.has.filter || !inProtocol(err) {
		return err
	}
	if whole := s.whole(ctx, into, commit, 1); whole != nil {
		return err
	}
	s.has.filter, s.Asked = false, true
	return nil
}

// inProtocol reports whether git failed, not the transport.
func inProtocol(err error) bool {
	var said *serverError
	return errors.As(err, &said) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (s *Server) some(ctx context.Context, into *pack.Objects, commit plumbing.Hash, ids []plumbing.Hash, whole bool) error {
	return s.attempt(ctx, func() error {
		switch {
		case !s.has.filter:
			return s.whole(ctx, into, commit, 1)
		case slices.Contains(ids, commit):
			return s.begin(ctx, into, commit)
		case whole:
			if err := s.partial(ctx, into, want{ids: ids}, ofPaths); !errors.Is(err, pack.ErrTooMuch) {
				return err
			}
		}
		return s.apart(ctx, into, ids)
	})
}

// apart fetches objects in one request. If they are too large together, it splits the
// request in half. A single object that is too large is noted in Large.
func (s *Server) apart(ctx context.Context, into *pack.Objects, ids []plumbing.Hash) error {
	err := s.partial(ctx, into, want{ids: ids, filter: "tree:0"}, ofPaths)
	switch {
	case !errors.Is(err, pack.ErrTooMuch):
		return err
	case len(ids) == 1:
		into.Large[ids[0]] = true
		return nil
	}
	half := len(ids) / 2
	if err := s.apart(ctx, into, ids[:half]); err != nil {
		return err
	}
	return s.apart(ctx, into, ids[half:])
}

// begin fetches a commit with all its trees, or with its root tree only if all trees are
// too many.
func (s *Server) begin(ctx context.Context, into *pack.Objects, commit plumbing.Hash) error {
	err := s.partial(ctx, into, want{ids: []plumbing.Hash{commit}, depth: 1, filter: s.roots}, ofPaths)
	if s.roots == "tree:1" || !errors.Is(err, pack.ErrTooMuch) {
		return err
	}
	s.roots = "tree:1"
	return s.partial(ctx, into, want{ids: []plumbing.Hash{commit}, depth: 1, filter: s.roots}, ofPaths)
}

// Deepen fetches commits to a depth.
func (s *Server) Deepen(ctx context.Context, into *pack.Objects, commit plumbing.Hash, depth int) error {
	return s.attempt(ctx, func() error {
		if !s.has.filter {
			return s.whole(ctx, into, commit, depth)
		}
		return s.partial(ctx, into, want{ids: []plumbing.Hash{commit}, depth: depth, filter: "tree:0"}, ofPaths)
	})
}

// ofPaths limits the size of the objects of the paths to read.
var ofPaths = bound{pack.MemoryBytes, "the paths contain too much data for checkpoint files"}

// partial fetches objects into memory.
func (s *Server) partial(ctx context.Context, into *pack.Objects, w want, most bound) error {
	return s.pack(ctx, w, most, func(from io.Reader) error { return into.Unpack(ctx, from) })
}

// whole fetches commits with all their files to disk. It removes the files of an earlier
// call.
func (s *Server) whole(ctx context.Context, into *pack.Objects, commit plumbing.Hash, depth int) error {
	if err := s.Close(); err != nil {
		return err
	}
	into.Disk = nil
	disk, err := s.spool(ctx, want{ids: []plumbing.Hash{commit}, depth: depth}, "without partial clone (uploadpack.allowFilter) it sends every file of the commit")
	if err == nil {
		s.disk, into.Disk = disk, disk
	}
	return err
}

// spool fetches into a file. why explains in the error why more than maxBytes is too
// much.
func (s *Server) spool(ctx context.Context, w want, why string) (disk *pack.Spool, err error) {
	err = s.pack(ctx, w, bound{s.maxBytes, why}, func(from io.Reader) (err error) {
		disk, err = pack.Spooled(ctx, from, s.tempDir, s.maxBytes)
		return err
	})
	return disk, err
}

// Close removes the files of whole from disk.
func (s *Server) Close() error {
	disk := s.disk
	s.disk = nil
	if disk == nil {
		return nil
	}
	return disk.Close()
}
