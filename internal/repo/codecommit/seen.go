package codecommit

import (
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/codecommit/types"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// keepBytes is how much content is kept from one tick to the next: far more
// than checkpoints need.
const keepBytes = 16 << 20

// seen is what was read and can never change: by its id.
type seen struct {
	mu      *sync.Mutex
	folders map[string]folder
	blobs   map[string][]byte
	commits map[string]types.Commit
	bytes   int
}

func newSeen() seen {
	return seen{mu: &sync.Mutex{}, folders: map[string]folder{}, blobs: map[string][]byte{}, commits: map[string]types.Commit{}}
}

func (s *seen) folder(id string) (folder, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.folders[id]
	return f, ok
}

func (s *seen) keepFolder(id string, f folder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folders[id] = f
	s.bytes += 100 * len(f)
}

func (s *seen) blob(id string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.blobs[id]
	return content, ok
}

func (s *seen) keepBlob(id string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+len(content) > repo.MostRead {
		return
	}
	s.blobs[id] = content
	s.bytes += len(content)
}

func (s *seen) commit(id string) (types.Commit, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.commits[id]
	return c, ok
}

func (s *seen) keepCommit(id string, c types.Commit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits[id] = c
	s.bytes += 1000
}

// trim forgets what was seen once it is much; nothing is lost but time.
func (s *seen) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes > keepBytes {
		clear(s.folders)
		clear(s.blobs)
		clear(s.commits)
		s.bytes = 0
	}
}
