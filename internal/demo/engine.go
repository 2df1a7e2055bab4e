package demo

import (
	"context"
	"errors"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// engine is the one that users run, with a state file and a repository on this
// machine's disk, on the clock of the trace.
type engine struct {
	tick       *tick.Tick
	store      *bolt.Store
	repository *gitwire.Repository
	sampler    *sampler
}

// openEngine opens an engine that samples a trace and commits to a bare
// repository. Its state file is made in dir.
func openEngine(t *traces.Trace, repository, dir string) (*engine, error) {
	c, err := config.Default(repository)
	if err != nil {
		return nil, err
	}
	c.Site = siteName
	c.Repository.Branch = branch
	c.Period = period

	e := &engine{sampler: &sampler{trace: t}}
	if e.repository, err = site.Git(c, func(string) string { return "" }); err != nil {
		return nil, err
	}
	if e.store, err = bolt.Open(statePath(dir)); err != nil {
		return nil, errors.Join(err, e.repository.Close())
	}
	e.tick = site.Tick(c, site.Parts{Sampler: e.sampler, Store: e.store, Repository: e.repository, Clock: e.sampler.now})
	return e, nil
}

// outcome is what a demo wants to know of one tick.
type outcome struct {
	committed bool
	declared  map[workload.ID]int32              // by git, after the tick
	frozen    map[policy.Reason]int              // workloads whose timers stand still
	waiting   map[workload.ID]policy.Reason      // what crossings wait for
	inFlight  map[workload.ID]checkpoint.Rollout // what git says of each rollout in flight
}

// look makes one tick at an instant of the trace. A demo has no excuse for anything that a
// person would have to fix: that is an error too.
func (e *engine) look(ctx context.Context, at time.Duration) (outcome, error) {
	e.sampler.at = at
	e.tick.Owner = "demo " + e.sampler.now().Format(time.RFC3339)
	r, err := e.tick.Run(ctx)
	if err := errors.Join(err, r.Err()); err != nil {
		return outcome{}, err
	}
	o := outcome{committed: r.Commit != nil, declared: map[workload.ID]int32{}, frozen: map[policy.Reason]int{},
		waiting: map[workload.ID]policy.Reason{}, inFlight: map[workload.ID]checkpoint.Rollout{}}
	for l := range r.Latches.All() {
		o.declared[l.ID] = l.Declared.Replicas
	}
	for _, s := range r.Samples {
		if s.Rollout != nil && s.Rollout.InFlight && s.Rollout.Desired > 0 {
			o.inFlight[s.ID] = r.Latches.Get(s.ID).Declared.Rollout
		}
	}
	for _, d := range r.Decisions {
		switch {
		case d.Reading != policy.ReadingScale:
		case d.Verdict == policy.Frozen:
			o.frozen[d.Reason]++
		case d.Verdict == policy.Pending && !d.To.IsZero():
			o.waiting[d.ID] = d.Reason
		}
	}
	return o, nil
}

// close closes state and repository.
func (e *engine) close() error { return errors.Join(e.store.Close(), e.repository.Close()) }
