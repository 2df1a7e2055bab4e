package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/gitlatch/gitlatch/internal/latch"
)

// patience is how long Open waits for another process to close the file.
const patience = 2 * time.Second

// A Store keeps state in one file. It is safe for several goroutines.
type Store struct {
	path string
	db   *bbolt.DB
	file *os.File // of db, for when it can no longer be closed by it
	// broken is the damage that bbolt panicked on; db may hold its own locks
	// ever since and is not used any more.
	broken atomic.Pointer[latch.CorruptError]
}

// A BusyError says that another process has the file open: a tick, or a command
// that looks at the state.
type BusyError struct{ Path string }

// Error names the file and what to do.
func (e *BusyError) Error() string {
	return fmt.Sprintf("open state %s: another gitlatch process has it open for %s. Wait until it ends, or use another file", e.Path, patience)
}

// Open opens the file at path, and makes one where there is none. A file that is
// none of ours, or is damaged, is a latch.CorruptError; one that another process
// does not close in a moment is a BusyError.
func Open(path string) (*Store, error) {
	s := &Store{path: path}
	options := &bbolt.Options{
		Timeout: patience,
		OpenFile: func(name string, flag int, mode os.FileMode) (file *os.File, err error) {
			s.file, err = os.OpenFile(name, flag, mode)
			return s.file, err
		},
	}
	err := s.guard(func() (err error) {
		s.db, err = bbolt.Open(path, 0o600, options)
		return err
	})
	switch {
	case err == nil:
		err = s.view(context.Background(), s.whole)
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, &BusyError{path}
	case errors.As(err, new(syscall.Errno)):
		return nil, fmt.Errorf("open state: %w", err)
	case s.broken.Load() == nil:
		return nil, &latch.CorruptError{Where: path, Cause: err}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// whole says where the file is shorter than its pages are.
func (s *Store) whole(tx *bbolt.Tx) error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < tx.Size() {
		return &latch.CorruptError{Where: s.path, Cause: fmt.Errorf("file ends after %d of %d bytes", info.Size(), tx.Size())}
	}
	return nil
}

// Close closes the file, so that another may open it. A damaged one may stay
// locked until the process ends, since bbolt keeps it mapped.
func (s *Store) Close() error {
	if s.broken.Load() != nil {
		return s.file.Close()
	}
	return s.db.Close()
}

func (s *Store) view(ctx context.Context, f func(*bbolt.Tx) error) error {
	return s.run(ctx, s.db.View, f)
}

func (s *Store) update(ctx context.Context, f func(*bbolt.Tx) error) error {
	return s.run(ctx, s.db.Update, f)
}

// run runs a transaction, unless an earlier one has found the file damaged.
func (s *Store) run(ctx context.Context, transact func(func(*bbolt.Tx) error) error, f func(*bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if damage := s.broken.Load(); damage != nil {
		return damage
	}
	return s.guard(func() error { return transact(f) })
}

// guard turns a panic into a CorruptError. On pages that make no sense bbolt
// panics, and where the file is cut short under its memory map it faults.
func (s *Store) guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			damage := &latch.CorruptError{Where: s.path, Cause: fmt.Errorf("damaged page: %v", r)}
			s.broken.Store(damage)
			err = damage
		}
	}()
	return f()
}
