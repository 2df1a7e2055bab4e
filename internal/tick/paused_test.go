//go:build aws

package tick_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/workload"
)

type sampled func(context.Context, workload.Kinds) (workload.Fleet, error)

func (f sampled) Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	return f(ctx, kinds)
}

// A gate stops each caller until the gate is opened, or the test ends.
type gate struct {
	ctx           context.Context
	once          sync.Once
	reached, open chan struct{}
}

func (g *gate) pass() {
	g.once.Do(func() { close(g.reached) })
	select {
	case <-g.open:
	case <-g.ctx.Done():
	}
}

// The points at which a tick can be paused.

// afterItLooked pauses a tick after its sample, which is outdated later.
func afterItLooked(g *gate, p *parts) {
	inner := p.sampler
	p.sampler = sampled(func(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
		f, err := inner.Sample(ctx, kinds)
		g.pass()
		return f, err
	})
}

// inMidPush pauses a tick after it made the commit, before it sends the push.
func inMidPush(g *gate, p *parts) {
	inner := p.transport
	p.transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if isPush(r) {
			g.pass()
		}
		return inner.RoundTrip(r)
	})
}

// afterItsPush pauses a tick whose push landed, before it gets the reply.
func afterItsPush(g *gate, p *parts) {
	inner := p.transport
	p.transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := inner.RoundTrip(r)
		if isPush(r) {
			g.pass()
		}
		return answer, err
	})
}

func isPush(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack")
}

// inMidSave pauses after the read of the lease, before a latch is written.
func inMidSave(g *gate, p *parts) { p.client = saver{p.client, g} }

type saver struct {
	dynamo.Client
	*gate
}

func (s saver) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if key, ok := in.Key["sk"].(*types.AttributeValueMemberS); ok && strings.HasPrefix(key.Value, "latch#") {
		s.pass()
	}
	return s.Client.UpdateItem(ctx, in, o...)
}

// TestAPausedHolder pauses a tick past the end of its lease, while another tick
// acquires the lease and ends. When the first one continues, it does not change
// anything that moved, and its decisions are not saved.
func TestAPausedHolder(t *testing.T) {
	t.Parallel()
	tables := dynalite.Start(t)
	// Each case starts with a level of 100 for both.
	for _, c := range []struct {
		name      string
		at        func(*gate, *parts)
		sees      needs // the desired replicas in the sample of the paused tick
		meanwhile needs // the desired replicas in the sample of the other tick
		settles   needs // levels in git and in the latches after the other tick
		lands     needs // levels in git after the paused tick
	}{
		{"with nothing to say", afterItLooked, needs{}, needs{},
			needs{"shop/web": 100, "shop/api": 100}, needs{"shop/web": 100, "shop/api": 100}},
		{"with timers to start", afterItLooked, needs{"shop/web": 12}, needs{"shop/web": 450},
			needs{"shop/web": 500, "shop/api": 100}, needs{"shop/web": 500, "shop/api": 100}},
		{"before its push", afterItLooked, needs{"shop/web": 180, "shop/api": 180}, needs{"shop/web": 450, "shop/api": 87},
			needs{"shop/web": 500, "shop/api": 100}, needs{"shop/web": 500, "shop/api": 100}},
		{"in mid-push", inMidPush, needs{"shop/web": 180, "shop/api": 180}, needs{"shop/web": 450, "shop/api": 87},
			needs{"shop/web": 500, "shop/api": 100}, needs{"shop/web": 500, "shop/api": 100}},
		{"in mid-push, all of it overtaken", inMidPush, needs{"shop/web": 180}, needs{"shop/web": 450},
			needs{"shop/web": 500, "shop/api": 100}, needs{"shop/web": 500, "shop/api": 100}},
		{"in mid-push, where nothing moved", inMidPush, needs{"shop/web": 180}, needs{"shop/web": 87},
			needs{"shop/web": 100, "shop/api": 100}, needs{"shop/web": 200, "shop/api": 100}},
		{"after its push", afterItsPush, needs{"shop/web": 180, "shop/api": 180}, needs{"shop/web": 450, "shop/api": 87},
			needs{"shop/web": 500, "shop/api": 200}, needs{"shop/web": 500, "shop/api": 200}},
		{"in mid-save", inMidSave, needs{"shop/web": 180, "shop/api": 180}, needs{"shop/web": 450, "shop/api": 87},
			needs{"shop/web": 500, "shop/api": 200}, needs{"shop/web": 500, "shop/api": 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShared(t, tables)
			s.later(0, needs{"shop/web": 87, "shop/api": 87})
			s.calm(t, "first")
			s.agrees(t, needs{"shop/web": 100, "shop/api": 100})

			g := &gate{ctx: t.Context(), reached: make(chan struct{}), open: make(chan struct{})}
			s.later(period, c.sees)
			paused := s.machine(t, "paused", func(p *parts) { c.at(g, p) })
			ended := make(chan error, 1)
			go func() {
				_, err := paused.Run(t.Context())
				ended <- err
			}()
			await(t, g.reached, "the pause")

			s.later(period, c.meanwhile) // its lease expired a minute ago
			s.calm(t, "other")
			s.agrees(t, c.settles)
			head, latches := s.load(t)

			close(g.open)
			if err := await(t, ended, "the end of the paused tick"); !errors.Is(err, latch.ErrLost) {
				t.Errorf("the paused tick ended with error %v, want that it lost its lease", err)
			}
			if git := s.levels(t); !maps.Equal(git, c.lands) {
				t.Errorf("then git declares %v, want %v", git, c.lands)
			}
			if h, l := s.load(t); !reflect.DeepEqual(h, head) || !reflect.DeepEqual(l, latches) {
				t.Errorf("it saved\n%+v\n%+v\nover\n%+v\n%+v", h, l, head, latches)
			}

			s.later(period, nil)
			s.calm(t, "last")
			s.agrees(t, c.lands)
		})
	}
}

func await[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("waited %s for %s", patience, what)
	}
	return v
}
