package mem_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/latchtest"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestStore(t *testing.T) {
	t.Parallel()
	latchtest.Run(t, func(*testing.T) latch.Store { return mem.New() })
}

func TestLostSaveWritesNothing(t *testing.T) {
	t.Parallel()
	s := mem.New()
	lease, err := s.Acquire(t.Context(), "prod", "a", time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	fresh := latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}}
	moved := fresh
	moved.ID.Name, moved.Rev = "api", 7
	if err := s.Save(t.Context(), lease, latch.Head{}, []latch.Latch{fresh, moved}, nil); !errors.Is(err, latch.ErrLost) {
		t.Errorf("error is %v, want ErrLost", err)
	}
	if latches, err := s.Latches(t.Context(), "prod"); err != nil || len(latches) > 0 {
		t.Errorf("error %v, latches %v", err, latches)
	}
}
