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

// A Store stores state in one file. It is safe for concurrent use.
type Store struct {
	path string
	db   *bbolt.DB
	file *os.File // the file of db, to close it if db cannot be closed
	// broken is the damage that made bbolt panic. db may have kept its locks since then,
	// and is not used any more.
	broken atomic.Pointer[latch.CorruptError]
}

// A BusyError reports that another process has the file open: a tick, or a command that
// reads the state.
type BusyError struct{ Path string }

// Error names the file and the remedy.
func (e *BusyError) Error() string {
	return fmt.Sprintf("open state %s: another gitlatch process has it open for %s. Wait until it ends, or use another file", e.Path, patience)
}

// Open opens the file at path, and creates it if it does not exist. If the file is
// damaged or is not a state file, Open returns a latch.CorruptError. If another process
// does not close the file within patience, Open returns a BusyError.
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

// whole returns an error if the file is shorter than its pages.
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

// Close closes the file, so that another process can open it. A damaged file may stay
// locked until the process ends, because bbolt keeps it mapped.
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

// run runs a transaction, unless an earlier one found the file damaged.
func (s *Store) run(ctx context.Context, transact func(func(*bbolt.Tx) error) error, f func(*bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if damage := s.broken.Load(); damage != nil {
		return damage
	}
	return s.guard(func() error { return transact(f) })
}

// guard turns a panic into a CorruptError. bbolt panics if a page is invalid, and faults
// if the file was cut short under its memory map.
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
