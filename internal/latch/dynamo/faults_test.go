//go:build aws

package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// life uses each method of a store: it saves two latches, saves one again, and drops one.
func life(t *testing.T, s latch.Store) {
	t.Helper()
	lease := acquire(t, s, "a", noon)
	saved := save(t, s, lease, latch.Head{At: noon}, web("web"), web("api"))
	err := s.Save(t.Context(), lease, latch.Head{At: noon.Add(time.Minute)}, saved[:1], []workload.ID{saved[1].ID})
	if err != nil {
		t.Fatalf("second save: %v", err)
	}
	head, latches := load(t, s)
	if !head.At.Equal(noon.Add(time.Minute)) || len(latches) != 1 || latches["web"].Rev != 2 || !latches["web"].Equal(saved[0]) {
		t.Errorf("head %+v, latches %+v", head, latches)
	}
	if err := s.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, "b", noon)
}

func TestThrottlingIsWaitedOut(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	for _, code := range []string{"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			life(t, dynamo.Hasty(dynamo.Options{Table: table(t, client, "pk", "sk"), Client: failing(client, 1, code)}))
		})
	}
}

func TestWaitingForThrottlingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := dynamo.Hasty(dynamo.Options{Table: "gitlatch", Client: watched{nil, func(string, any) error {
		cancel()
		return throttle
	}}})
	if _, err := s.Latches(ctx, "prod"); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestAnswerThatGotLostIsNoLoss(t *testing.T) {
	t.Parallel()
	server := dynalite.Start(t)
	lost := &lossy{}
	name := table(t, server.Client(), "pk", "sk")
	life(t, dynamo.Hasty(dynamo.Options{Table: name, Client: server.Client(through(lost))}))
	if len(lost.lost) < 8 {
		t.Errorf("%d answers got lost", len(lost.lost))
	}
}

// The head was written while the lease was valid. It counts as saved even if another
// tick has the lease by the time of the retry.
func TestHeadThatLandedBeforeATakeoverIsSaved(t *testing.T) {
	t.Parallel()
	server := dynalite.Start(t)
	lost := &lossy{}
	name := table(t, server.Client(), "pk", "sk")
	calm := dynamo.Hasty(dynamo.Options{Table: name, Client: server.Client()})
	s := dynamo.Hasty(dynamo.Options{Table: name, Client: server.Client(through(lost))})
	lease := acquire(t, s, "a", noon)
	lost.after = func() { acquire(t, calm, "b", noon.Add(time.Hour)) }
	save(t, s, lease, latch.Head{At: noon})
	if head, _ := load(t, calm); !head.At.Equal(noon) {
		t.Errorf("head is %+v", head)
	}
	// After a save of the other tick, the result is unknown.
	lost.after = func() {
		other := acquire(t, calm, "c", noon.Add(2*time.Hour))
		save(t, calm, other, latch.Head{At: noon.Add(2 * time.Hour)})
	}
	lease = acquire(t, calm, "b", noon.Add(time.Hour))
	if err := s.Save(t.Context(), lease, latch.Head{}, nil, nil); !errors.Is(err, latch.ErrLost) {
		t.Errorf("error is %v, want ErrLost", err)
	}
	if head, _ := load(t, calm); !head.At.Equal(noon.Add(2 * time.Hour)) {
		t.Errorf("head is %+v", head)
	}
}

// A holder stops at some point of a save, until after the end of its lease. In the
// meantime the next holder saves and drops latches. Then the first one continues.
func TestHolderPausedInMidSave(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	for step, at := range map[string]func(operation, sort string) bool{
		"before it looks at the lease": func(operation, _ string) bool { return operation == "GetItem" },
		"before its latches": func(operation, sort string) bool {
			return operation == "UpdateItem" && strings.HasPrefix(sort, "latch#")
		},
		"before a drop":   func(operation, _ string) bool { return operation == "DeleteItem" },
		"before the head": func(operation, sort string) bool { return operation == "UpdateItem" && sort == "head" },
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			name := table(t, client, "pk", "sk")
			other := dynamo.Hasty(dynamo.Options{Table: name, Client: client})
			lease := acquire(t, other, "a", noon)
			first := save(t, other, lease, latch.Head{At: noon}, web("web"), web("gone"), web("again"), web("dropped"))

			later := noon.Add(time.Hour)
			var once sync.Once
			var after map[string]latch.Latch
			takeover := func() {
				_, now := load(t, other)
				lease := acquire(t, other, "b", later)
				var put []latch.Latch
				for _, name := range []string{"web", "dropped"} {
					if l, ok := now[name]; ok {
						l.OptedOut = true
						put = append(put, l)
					}
				}
				if err := other.Save(t.Context(), lease, latch.Head{At: later}, put, []workload.ID{now["gone"].ID, now["again"].ID}); err != nil {
					t.Errorf("the other: %v", err)
				}
				// As young a latch as the paused holder knows, and another.
				again := web("again")
				again.OptedOut = true
				save(t, other, lease, latch.Head{At: later}, again)
				_, after = load(t, other)
			}
			slow := dynamo.Hasty(dynamo.Options{Table: name, Client: watched{client, func(operation string, in any) error {
				if at(operation, sortOf(in)) {
					once.Do(takeover)
				}
				return nil
			}}})
			if err := slow.Save(t.Context(), lease, latch.Head{At: noon.Add(time.Minute)}, first[:3], []workload.ID{first[3].ID}); !errors.Is(err, latch.ErrLost) {
				t.Errorf("error is %v, want ErrLost", err)
			}
			head, latches := load(t, other)
			if !head.At.Equal(later) {
				t.Errorf("the head is of %s, want the other's", head.At)
			}
			if !maps.EqualFunc(latches, after, func(a, b latch.Latch) bool { return a.Equal(b) && a.Rev == b.Rev }) {
				t.Errorf("latches are %+v\nwant as the other left them: %+v", latches, after)
			}
		})
	}
}

// A holder that extends its lease at the last moment keeps it.
func TestLeaseExtendedWhileItIsTakenOver(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	name := table(t, client, "pk", "sk")
	holder := dynamo.Open(dynamo.Options{Table: name, Client: client})
	lease := acquire(t, holder, "a", noon)
	late := noon.Add(time.Hour)
	var once sync.Once
	other := dynamo.Open(dynamo.Options{Table: name, Client: watched{client, func(operation string, _ any) error {
		if operation == "UpdateItem" {
			once.Do(func() { acquire(t, holder, "a", late) })
		}
		return nil
	}}})
	if _, err := other.Acquire(t.Context(), "prod", "b", late, late.Add(time.Minute)); !errors.As(err, new(*latch.HeldError)) {
		t.Errorf("error is %v, want HeldError", err)
	}
	save(t, holder, lease, latch.Head{})
}

func TestOfSimultaneousSavesOfALatchOneLands(t *testing.T) {
	t.Parallel()
	s := open(t, dynalite.Start(t).Client())
	lease := acquire(t, s, "a", noon)
	l := web("web")
	for round := range 5 {
		var saved [16]*latch.Latch
		var all sync.WaitGroup
		for i := range saved {
			mine := l
			mine.Declared.Replicas = int32(100*round + i)
			all.Go(func() {
				switch err := s.Save(t.Context(), lease, latch.Head{At: noon}, []latch.Latch{mine}, nil); {
				case err == nil:
					mine.Rev++
					saved[i] = &mine
				case !errors.Is(err, latch.ErrLost):
					t.Errorf("save: %v", err)
				}
			})
		}
		all.Wait()
		landed := slices.DeleteFunc(saved[:], func(l *latch.Latch) bool { return l == nil })
		if len(landed) != 1 {
			t.Fatalf("%d saves landed", len(landed))
		}
		l = *landed[0]
		if _, latches := load(t, s); latches["web"].Rev != l.Rev || !latches["web"].Equal(l) {
			t.Fatalf("stored is %+v, saved was %+v", latches["web"], l)
		}
	}
}

// Sixteen runs of one site that start at once take turns, and no run loses the save of
// another run.
func TestSimultaneousRunsTakeTurns(t *testing.T) {
	t.Parallel()
	s := open(t, dynalite.Start(t).Client())
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for try := 0; ; try++ {
				lease, err := s.Acquire(t.Context(), "prod", fmt.Sprint("run-", i), noon, noon.Add(time.Minute))
				if errors.As(err, new(*latch.HeldError)) && try < 2000 {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				head, latches := load(t, s)
				l := web("web")
				if was, ok := latches["web"]; ok {
					l = was
				}
				l.Declared.Replicas++
				head.Budget.Tokens++
				save(t, s, lease, head, l)
				if err := s.Release(t.Context(), lease); err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	all.Wait()
	head, latches := load(t, s)
	if head.Budget.Tokens != 16 || latches["web"].Declared.Replicas != 16 || latches["web"].Rev != 16 {
		t.Errorf("of 16 runs the head has %v, and the latch %+v", head.Budget.Tokens, latches["web"])
	}
}

func TestLatchesAreWrittenSomeAtOnce(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	var running, most atomic.Int32
	s := dynamo.Hasty(dynamo.Options{Table: table(t, client, "pk", "sk"), Client: counted{client, &running, &most}})
	lease := acquire(t, s, "a", noon)
	var put []latch.Latch
	for i := range 100 {
		put = append(put, web(fmt.Sprint("web-", i)))
	}
	save(t, s, lease, latch.Head{}, put...)
	if n := most.Load(); n < 2 || n > 16 {
		t.Errorf("up to %d writes ran at once", n)
	}
	if _, latches := load(t, s); len(latches) != len(put) {
		t.Errorf("%d latches were stored", len(latches))
	}
}

// A counted client records the maximum number of concurrent writes.
type counted struct {
	dynamo.Client
	running, most *atomic.Int32
}

func (c counted) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	now := c.running.Add(1)
	defer c.running.Add(-1)
	for {
		most := c.most.Load()
		if now <= most || c.most.CompareAndSwap(most, now) {
			break
		}
	}
	return c.Client.UpdateItem(ctx, in, o...)
}
