package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// engine is the one that users run, on the clock of the trace.
type engine struct {
	now        time.Time
	runs       int
	tick       *tick.Tick
	store      *bolt.Store
	repository *gitwire.Repository
}

// openEngine opens the real engine at a place.
func openEngine(_ context.Context, at Place) (Ticker, error) {
	e := &engine{}
	clock := func() time.Time { return e.now }
	c, err := config.Default(at.Repository)
	if err != nil {
		return nil, err
	}
	c.Site, c.State.Bolt, c.Repository.Branch, c.Period = at.Site, at.State, at.Branch, at.Period

	sampler, err := kube.New(&rest.Config{Host: at.API, QPS: -1}, kube.Options{Site: at.Site, Clock: clock})
	if err != nil {
		return nil, err
	}
	if e.repository, err = site.Repository(c, func(string) string { return "" }); err != nil {
		return nil, err
	}
	if e.store, err = bolt.Open(at.State); err != nil {
		return nil, errors.Join(err, e.repository.Close())
	}
	e.tick = site.Tick(c, site.Parts{Sampler: sampler, Store: e.store, Repository: e.repository, Clock: clock})
	return e, nil
}

// Tick makes one tick at an instant.
func (e *engine) Tick(ctx context.Context, at time.Time) (Result, error) {
	e.now, e.runs = at, e.runs+1
	e.tick.Owner = fmt.Sprintf("demo, tick %d", e.runs)
	r, err := e.tick.Run(ctx)
	if err := errors.Join(err, r.Err()); err != nil {
		return Result{}, err
	}
	result := Result{Declared: map[workload.ID]int32{}, Frozen: map[string]int{}}
	if r.Commit != nil {
		result.Commit = r.Commit.ID
	}
	for id, l := range r.Latches {
		if l.Declared.Replicas > 0 {
			result.Declared[id] = l.Declared.Replicas
		}
	}
	for _, d := range r.Decisions {
		if d.Verdict == "freeze" {
			result.Frozen[string(d.Reason)]++
		}
	}
	return result, nil
}

// Close closes the state and the repository.
func (e *engine) Close() error { return errors.Join(e.store.Close(), e.repository.Close()) }
