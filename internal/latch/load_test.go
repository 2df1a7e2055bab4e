package latch_test

import (
	"context"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// overtaken is a store in which a Save comes right after the first read.
type overtaken struct {
	latch.Store
	save func()
}

func (o *overtaken) Head(ctx context.Context, site string) (latch.Head, error) {
	defer o.overtake()
	return o.Store.Head(ctx, site)
}

func (o *overtaken) Latches(ctx context.Context, site string) (map[workload.ID]latch.Latch, error) {
	defer o.overtake()
	return o.Store.Latches(ctx, site)
}

func (o *overtaken) overtake() {
	if o.save != nil {
		o.save()
	}
	o.save = nil
}

// With latches that are older than their head, a tick would decide levels again that are
// in git already. With a head that is older than its latches, a tick judges git again.
func TestLoadNeverFindsLatchesOlderThanTheirHead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := mem.New()
	lease, err := s.Acquire(t.Context(), "prod", "a", now, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	web := latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}}
	head, latches, err := latch.Load(t.Context(), &overtaken{s, func() {
		if err := s.Save(t.Context(), lease, latch.Head{At: now}, []latch.Latch{web}, nil); err != nil {
			t.Error(err)
		}
	}}, "prod")
	if err != nil || !head.At.IsZero() || len(latches) != 1 {
		t.Errorf("head of %s, latches %v, error %v", head.At, latches, err)
	}
}
