// Package site puts together what a configuration names: the repository, and
// the tick over it. Clusters and state are opened by the programs themselves,
// since each has other kinds of them.
package site

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// Repository opens the repository that the configuration names, with the
// credentials that it says where to find.
func Repository(c config.Config, getenv func(string) string) (*gitwire.Repository, error) {
	r := c.Repository
	username, token, err := r.Auth.Read(getenv)
	if err != nil {
		return nil, err
	}
	auth := gitwire.Auth{Username: username, Password: token}
	if username == "" && token != "" {
		auth = gitwire.Token(token)
	}
	var bundle []byte
	if r.CAFile != "" {
		if bundle, err = os.ReadFile(r.CAFile); err != nil {
			return nil, fmt.Errorf("read repository.caFile: %w", err)
		}
	}
	return gitwire.Open(gitwire.Options{
		URL:      r.URL,
		Branch:   r.Branch,
		Auth:     auth,
		CABundle: bundle,
		MaxBytes: int64(r.MaxBytes),
		Author:   author(c.Commit.Author),
	})
}

func author(a config.Author) gitwire.Author {
	own := gitwire.DefaultAuthor
	if a.Name != "" {
		own.Name = a.Name
	}
	if a.Email != "" {
		own.Email = a.Email
	}
	return own
}

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
		Alerts:      p.Alerts,
		Clock:       p.Clock,
		Wait:        wait,
		PolicyFile:  c.Repository.PolicyFile,
		ParsePolicy: func(file string, data []byte) (policy.Set, error) { return parsePolicy(c, file, data) },
		SkipCI:      c.Commit.SkipCI,
	}
}

// Lease is how long a tick takes the lease for: that of one which died has
// expired by the time that the next is due.
func Lease(c config.Config) time.Duration { return c.Period * 9 / 10 }

func parsePolicy(c config.Config, file string, data []byte) (policy.Set, error) {
	if data == nil {
		return config.DefaultPolicy(c.Period), nil
	}
	return config.ParsePolicy(file, data, c.Period)
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
