package codecommit

import (
	"sync"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// contents are those of several files, nil where one is not held.
type contents struct {
	mu    sync.Mutex
	of    [][]byte
	bytes int
}

// put holds one more. Where that is too much, the largest are let go.
func (c *contents) put(i int, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[i] = content
	for c.bytes += len(content); c.bytes > repo.MostRead; {
		largest := i
		for j, other := range c.of {
			if len(other) > len(c.of[largest]) {
				largest = j
			}
		}
		c.bytes -= len(c.of[largest])
		c.of[largest] = nil
	}
}
