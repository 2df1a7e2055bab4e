package demo

import (
	"context"
	"errors"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// engine is the engine that users run, with a state file and a repository on this
// machine's disk, and the clock of the trace.
type engine struct {
	tick       *tick.Tick
	store      *bolt.Store
	repository *gitwire.Repository
	sampler    *sampler
}

// openEngine opens an engine that samples a trace and commits to a repository.
func openEngine(t *traces.Trace, c config.Config, repository *gitwire.Repository) (*engine, error) {
	store, err := bolt.Open(c.State.Bolt)
	if err != nil {
		return nil, errors.Join(err, repository.Close())
	}
	e := &engine{sampler: &sampler{trace: t}, store: store, repository: repository}
	e.tick = local.Tick(c, local.Parts{Sampler: e.sampler, Store: e.store, Repository: e.repository, Clock: e.sampler.now})
	return e, nil
}

// look runs one tick at a time of the trace. It also returns the conditions that a user
// would have to fix as an error, because a demo must not have any.
func (e *engine) look(ctx context.Context, at time.Duration) (tick.Report, error) {
	e.sampler.at = at
	e.tick.Owner = "demo " + e.sampler.now().Format(time.RFC3339)
	r, err := e.tick.Run(ctx)
	return r, errors.Join(err, r.Err())
}

// close closes the state and the repository.
func (e *engine) close() error { return errors.Join(e.store.Close(), e.repository.Close()) }
