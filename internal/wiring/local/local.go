// Package local builds a tick from parts that the caller opened, and opens a git
// repository. It does not import an SDK or a client of a cluster, so that a program that
// needs neither is small.
package local

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// Simulated is the kubeconfig context in the configuration of a demo. A command that opens
// a cluster by it fails, so it never reads or changes a real cluster.
const Simulated = "gitlatch-demo"

// Parts are the dependencies of a tick.
type Parts struct {
	Sampler    tick.Sampler
	Levels     tick.Levels // nil checks no levels in the cluster
	Store      latch.Store
	Repository repo.Repository
	Proposals  repo.Proposals // nil if the host does not have pull requests
	Alerts     tick.Alerts    // nil sends no alerts
	Clock      func() time.Time
	Owner      string // owner of the lease, unique for each run
}

// Close closes the repository and the store.
func (p Parts) Close() error {
	var err error
	for _, part := range []any{p.Repository, p.Store} {
		if c, ok := part.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// Tick returns the tick of the configured site with the parts.
func Tick(c config.Config, p Parts) *tick.Tick {
	return &tick.Tick{
		Site:        c.Site,
		Base:        c.Repository.Branch,
		Owner:       p.Owner,
		Period:      c.Period,
		Lease:       Lease(c),
		Sampler:     p.Sampler,
		Levels:      p.Levels,
		Store:       p.Store,
		Repository:  p.Repository,
		Proposals:   p.Proposals,
		Propose:     c.Repository.Mode == config.Propose,
		Alerts:      p.Alerts,
		Clock:       p.Clock,
		Wait:        func(ctx context.Context, d time.Duration) { _ = backoff.Sleep(ctx, backoff.Jitter(d)) }, // the tick checks ctx itself
		PolicyFile:  c.Repository.PolicyFile,
		ParsePolicy: func(file string, data []byte) (policy.Set, error) { return ParsePolicy(c, file, data) },
		SkipCI:      c.Commit.SkipCI,
	}
}

// Lease returns how long a tick takes the lease. If a tick dies, its lease expires before
// the next tick is due.
func Lease(c config.Config) time.Duration { return c.Period * 9 / 10 }

// ParsePolicy parses a policy of the configured site. data is nil if the policy file does
// not exist.
func ParsePolicy(c config.Config, file string, data []byte) (policy.Set, error) {
	if data == nil {
		return config.DefaultPolicy(c.Period), nil
	}
	set, err := config.ParsePolicy(file, data, c.Period)
	set.NoReview = !c.Repository.HasProposals()
	return set, err
}
