package demo

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// engine is what a scheduled tick is made of, with a state file and a
// repository on this machine's disk, on the clock of the replay.
type engine struct {
	tick       *tick.Tick
	store      *bolt.Store
	repository *gitwire.Repository
	now        time.Time
}

// openEngine opens an engine that looks at the API at an address and commits to
// a bare repository; its state file is made in dir.
func openEngine(address, repository, dir string) (*engine, error) {
	e := &engine{}
	clock := func() time.Time { return e.now }
	sampler, err := kube.New(&rest.Config{Host: address, QPS: -1}, kube.Options{Site: site, Clock: clock})
	if err != nil {
		return nil, err
	}
	if e.store, err = bolt.Open(filepath.Join(dir, "state.db")); err != nil {
		return nil, err
	}
	if e.repository, err = gitwire.Open(gitwire.Options{URL: repository, Branch: branch}); err != nil {
		return nil, errors.Join(err, e.store.Close())
	}
	e.tick = &tick.Tick{
		Site: site, Owner: "demo", Period: period, Lease: period / 2,
		Sampler: sampler, Store: e.store, Repository: e.repository, Clock: clock,
		PolicyFile: policyPath,
		ParsePolicy: func(file string, data []byte) (policy.Set, error) {
			return config.ParsePolicy(file, data, period)
		},
	}
	return e, nil
}

// outcome is what a demo wants to know of one tick.
type outcome struct {
	committed bool
	declared  map[workload.ID]int32 // by git, after the tick
	frozen    map[policy.Reason]int // workloads whose timers stand still
}

// look makes one pass at an instant. A demo has no excuse for anything that a
// person would have to mend: that is an error too.
func (e *engine) look(ctx context.Context, at time.Time) (outcome, error) {
	e.now = at
	report, err := e.tick.Run(ctx)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return outcome{}, err
	}
	o := outcome{committed: report.Commit != nil, declared: map[workload.ID]int32{}, frozen: map[policy.Reason]int{}}
	for _, d := range report.Decisions {
		entry := d.From
		if o.committed && d.Crosses() {
			entry = d.To
		}
		if entry != nil {
			o.declared[d.ID] = entry.Replicas
		}
		if d.Verdict == policy.Frozen {
			o.frozen[d.Reason]++
		}
	}
	return o, nil
}

// close closes state and repository.
func (e *engine) close() error { return errors.Join(e.store.Close(), e.repository.Close()) }
