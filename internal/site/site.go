// Package site puts together what a configuration names: the cluster, the state,
// the repository and the topic, and the tick over them.
package site

import (
	"context"
	crand "crypto/rand"
	"time"

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// Parts are what a tick works on.
type Parts struct {
	Sampler    tick.Sampler
	Store      latch.Store
	Repository repo.Repository
	Proposals  repo.Proposals // nil on a host that has none
	Alerts     tick.Alerts    // nil sends none
	Clock      func() time.Time
	Owner      string // of the lease; unlike that of any other run
}

// Owner names a run as the holder of a lease: what runs, and what no other run
// has. The id of a request, or of a process, may come again.
func Owner(what string) string { return what + "/" + crand.Text() }

// Tick returns the tick of the configured site over the parts.
func Tick(c config.Config, p Parts) *tick.Tick {
	return &tick.Tick{
		Site:        c.Site,
		Owner:       p.Owner,
		Period:      c.Period,
		Lease:       Lease(c),
		Sampler:     p.Sampler,
		Store:       p.Store,
		Repository:  p.Repository,
		Proposals:   p.Proposals,
		Propose:     c.Repository.Mode == config.Propose,
		Alerts:      p.Alerts,
		Clock:       p.Clock,
		Wait:        func(ctx context.Context, d time.Duration) { _ = backoff.Sleep(ctx, backoff.Jitter(d)) }, // the tick looks at ctx itself
		PolicyFile:  c.Repository.PolicyFile,
		ParsePolicy: func(file string, data []byte) (policy.Set, error) { return ParsePolicy(c, file, data) },
		SkipCI:      c.Commit.SkipCI,
	}
}

// Lease is how long a tick takes the lease for: that of one which died has
// expired by the time that the next is due.
func Lease(c config.Config) time.Duration { return c.Period * 9 / 10 }

// ParsePolicy reads a policy of the configured site; nil is the content of a file
// that is not there.
func ParsePolicy(c config.Config, file string, data []byte) (policy.Set, error) {
	if data == nil {
		return config.DefaultPolicy(c.Period), nil
	}
	set, err := config.ParsePolicy(file, data, c.Period)
	set.NoReview = !c.Repository.HasProposals()
	return set, err
}
