package codecommit

import (
	"sync"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// keepBytes is how much content is kept from one tick to the next: far more
// than checkpoints need.
const keepBytes = 16 << 20

// seen is what was read and can never change: commits, folders and blobs, each by
// its id.
type seen struct {
	mu    sync.Mutex
	held  map[any]any // by an idOf
	bytes int
}

// An idOf is the id of a T. The root of a commit has the commit's own.
type idOf[T any] string

// once returns what was seen with an id, or else what read returns, and keeps
// that, of so many bytes. Beyond what is read at once it is not kept.
func once[T any](s *seen, id string, read func() (T, error), bytes func(T) int) (T, error) {
	s.mu.Lock()
	known, ok := s.held[idOf[T](id)].(T)
	s.mu.Unlock()
	if ok {
		return known, nil
	}
	found, err := read()
	if err != nil {
		return found, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := bytes(found); s.bytes+n <= repo.MostRead {
		s.held[idOf[T](id)] = found
		s.bytes += n
	}
	return found, nil
}

// trim forgets what was seen once it is much; nothing is lost but time.
func (s *seen) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes > keepBytes {
		clear(s.held)
		s.bytes = 0
	}
}
