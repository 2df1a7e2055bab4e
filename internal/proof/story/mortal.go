package story

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

type topic struct{ *World }

func (t topic) Send(_ context.Context, a alert.Alert) error {
	if err := t.effect(); err != nil {
		return err
	}
	if t.Deaf {
		return errors.New("topic does not exist")
	}
	if a.Kind == t.Refused {
		return &alert.RefusedError{Cause: errors.New("message too long")}
	}
	t.Sent = append(t.Sent, a)
	return nil
}

// A Sampler looks at a world's cluster.
type Sampler struct{ *World }

// Sample gives all that the world's cluster is made to say.
func (s Sampler) Sample(context.Context) (workload.Fleet, error) {
	f := workload.Fleet{Site: s.World.Site, Cluster: s.World.Cluster, At: s.Now, Unread: s.Unread, Unmeasured: s.Unmeasured, Kinds: s.Kinds}
	for _, id := range slices.SortedFunc(maps.Keys(s.Fleet), workload.Compare) {
		f.Samples = append(f.Samples, s.Fleet[id])
	}
	for _, unread := range s.Unread {
		if err := lose(&f, unread); err != nil {
			return workload.Fleet{}, err
		}
	}
	return f, nil
}

// mortalStore and mortalRepository are the working adapters, with every effect
// announced first.
type mortalStore struct {
	latch.Store
	*World
}

func (s mortalStore) Acquire(ctx context.Context, site, owner string, now, until time.Time) (latch.Lease, error) {
	if err := s.effect(); err != nil {
		return latch.Lease{}, err
	}
	return s.Store.Acquire(ctx, site, owner, now, until)
}

func (s mortalStore) Save(ctx context.Context, l latch.Lease, h latch.Head, put []latch.Latch, drop []workload.ID) ([]latch.Latch, error) {
	if err := s.effect(); err != nil {
		return nil, err
	}
	return s.Store.Save(ctx, l, h, put, drop)
}

func (s mortalStore) Release(ctx context.Context, l latch.Lease) error {
	if err := s.effect(); err != nil {
		return err
	}
	return s.Store.Release(ctx, l)
}

type mortalRepository struct {
	repo.Repository
	*World
}

func (r mortalRepository) Heads(ctx context.Context, also ...string) (string, []string, error) {
	r.Requests++
	return r.Repository.Heads(ctx, also...)
}

func (r mortalRepository) Read(ctx context.Context, id string, known map[string]string, paths ...string) (map[string]repo.Object, error) {
	r.Requests++
	return r.Repository.Read(ctx, id, known, paths...)
}

func (r mortalRepository) History(ctx context.Context, id, until string, limit int) ([]repo.LogEntry, bool, error) {
	r.Requests++
	return r.Repository.History(ctx, id, until, limit)
}

func (r mortalRepository) Commit(ctx context.Context, c repo.Commit) (string, error) {
	if err := r.effect(); err != nil {
		return "", err
	}
	if rival := r.Rival; rival != nil {
		r.Rival = nil
		rival()
	}
	if r.Refuse != "" {
		return "", &repo.RefusedError{Why: r.Refuse, OnDisk: r.OnDisk}
	}
	if r.Hold {
		r.Hold, r.held = false, &c
		return "", repo.ErrUnknown
	}
	id, err := r.Repository.Commit(ctx, c)
	if err == nil && r.LostReply {
		r.LostReply = false
		return "", repo.ErrUnknown
	}
	return id, err
}

type mortalProposals struct {
	repo.Proposals
	*World
}

func (r mortalProposals) Find(ctx context.Context, branch string) (*repo.Proposal, error) {
	r.Requests++
	return r.Proposals.Find(ctx, branch)
}

func (r mortalProposals) Ensure(ctx context.Context, d repo.Draft) (repo.Proposal, error) {
	if err := r.effect(); err != nil {
		return repo.Proposal{}, err
	}
	return r.Proposals.Ensure(ctx, d)
}

func (r mortalProposals) Close(ctx context.Context, p repo.Proposal, why string) error {
	if err := r.effect(); err != nil {
		return err
	}
	return r.Proposals.Close(ctx, p, why)
}
