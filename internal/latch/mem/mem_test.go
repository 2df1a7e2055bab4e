package mem_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/latchtest"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
)

func TestStore(t *testing.T) {
	t.Parallel()
	latchtest.Run(t, func(*testing.T) latch.Store { return mem.New() })
}
