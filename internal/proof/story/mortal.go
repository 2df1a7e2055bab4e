package story

import (
	"context"
	"encoding/json"
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

func (t topic) Send(_ context.Context, n alert.Notice) error {
	return t.does(func() error {
		var a alert.Alert
		if err := json.Unmarshal(n.Document, &a); err != nil {
			return err
		}
		if t.Deaf {
			return errors.New("topic does not exist")
		}
		if a.Kind == t.Unwanted {
			t.Arrived[a.ID]++
			return &alert.RefusedError{Cause: errors.New("message too long")}
		}
		t.Sent = append(t.Sent, a)
		t.Fixes[a.Kind] = append(t.Fixes[a.Kind], a.Fix)
		t.Arrived[a.ID]++
		return nil
	})
}

// A Sampler samples a world's cluster.
type Sampler struct{ *World }

// Sample returns the cluster of the world.
func (s Sampler) Sample(_ context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	err := s.World.apply()
	if err != nil {
		return workload.Fleet{}, err
	}
	f := workload.Fleet{Site: s.World.Site, Cluster: s.World.Cluster, At: s.Now, Unread: s.Unread, Unmeasured: s.Unmeasured, Kinds: kinds}
	for _, id := range slices.SortedFunc(maps.Keys(s.Fleet), workload.Compare) {
		if _, looked := kinds.Object(id.Kind); looked {
			f.Samples = append(f.Samples, s.Fleet[id])
		}
	}
	for _, unread := range s.Unread {
		if err := lose(&f, unread.Part); err != nil {
			return workload.Fleet{}, err
		}
	}
	return f, nil
}

// mortalStore and mortalRepository are the working adapters, and announce each effect
// first. A read of the latches counts as an effect: between the two reads of the state,
// the tick may fail and others may act.
type mortalStore struct {
	latch.Store
	*World
}

func (s mortalStore) Acquire(ctx context.Context, site, owner string, now, until time.Time) (lease latch.Lease, err error) {
	err = s.does(func() error {
		if lease, err = s.Store.Acquire(ctx, site, owner, now, until); err == nil {
			s.fence = lease.Fence
		}
		return err
	})
	return lease, err
}

func (s mortalStore) Latches(ctx context.Context, site string) (all map[workload.ID]latch.Latch, err error) {
	err = s.does(func() error {
		all, err = s.Store.Latches(ctx, site)
		return err
	})
	return all, err
}

func (s mortalStore) Save(ctx context.Context, l latch.Lease, h latch.Head, put []latch.Latch, drop []workload.ID) error {
	return s.does(func() error {
		s.Saves++
		if err := s.full(h); err != nil {
			return err
		}
		if s.Half && len(put)+len(drop) > 0 {
			return s.half(ctx, l, put, drop)
		}
		if err := s.Store.Save(ctx, l, h, put, drop); err != nil {
			s.kept = nil // it may have saved a part, or everything without a reply
			now, unread := s.Store.Head(ctx, l.Site)
			s.Settled[h.At] = s.Settled[h.At] || now.At.Equal(h.At)
			return errors.Join(err, unread)
		}
		s.Unfenced = s.Unfenced || l.Fence != s.fence
		return s.saved(h, put, drop)
	})
}

// half saves the latches without the head, like a store that writes one after the other.
// The process then dies.
func (s mortalStore) half(ctx context.Context, l latch.Lease, put []latch.Latch, drop []workload.ID) error {
	before, err := s.Head(ctx, l.Site)
	if err != nil {
		return err
	}
	if err := s.Store.Save(ctx, l, before, put, drop); err != nil {
		s.kept = nil
		return err
	}
	if err := s.saved(before, put, drop); err != nil {
		return err
	}
	s.Half, s.KillBefore, s.Disturbed = false, 1, true
	return ErrKilled
}

// full returns the reason why the store accepts no save.
func (s mortalStore) full(h latch.Head) error {
	if s.Throttled > 0 {
		s.Throttled--
		s.Disturbed = true
		return errors.New("throughput exceeds the limit")
	}
	if s.Room == 0 {
		return nil
	}
	data, err := latch.Encode(h)
	if err == nil && len(data) > s.Room {
		s.Disturbed = true
		err = errors.New("item exceeds the size that is allowed")
	}
	return err
}

func (s mortalStore) Release(ctx context.Context, l latch.Lease) error {
	return s.does(func() error { return s.Store.Release(ctx, l) })
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

func (r mortalRepository) Between(ctx context.Context, base, tip string) (repo.Window, error) {
	r.Requests++
	window, err := r.Repository.Between(ctx, base, tip)
	if r.Walks > 0 && len(window.Commits) > r.Walks {
		return repo.Window{Cut: true}, err
	}
	return window, err
}

func (r mortalRepository) Commit(ctx context.Context, c repo.Commit) (id string, err error) {
	r.Pushed = true
	r.pushing = c.When
	err = r.does(func() error {
		r.Pushes, r.SavesBefore = r.Pushes+1, r.SavesBefore+r.Saves
		if c.Branch != "" {
			r.Proposed++
		}
		id, err = r.push(ctx, c)
		return err
	})
	if errors.Is(err, errFault) {
		err = repo.ErrUnknown
	}
	return id, err
}

func (r mortalRepository) push(ctx context.Context, c repo.Commit) (string, error) {
	if rival := r.Rival; rival != nil {
		r.Rival, r.Disturbed = nil, true
		rival()
	}
	refused, hold, lost, lands := r.Refused, r.Hold, r.LostReply, r.Lands
	r.Disturbed = r.Disturbed || r.Refuse+refused != "" || hold || lost || lands
	switch {
	case r.Refuse != "":
		return "", &repo.RefusedError{Why: r.Refuse, OnDisk: r.OnDisk}
	case r.Limit > 0 && len(c.Files) > r.Limit:
		r.Disturbed = true
		return "", &repo.RefusedError{Why: "too many files", TooLarge: true}
	case hold:
		r.Hold, r.Refused, r.Held = false, "", &c
		if refused != "" {
			return "", &repo.RefusedError{Why: refused}
		}
		return "", repo.ErrUnknown
	}
	id, err := r.Repository.Commit(ctx, c)
	switch {
	case err == nil && lands:
		r.Lands = false
		return "", &repo.RefusedError{Why: "gateway timeout"}
	case err == nil && lost:
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

func (r mortalProposals) Ensure(ctx context.Context, d repo.Draft) (p repo.Proposal, err error) {
	err = r.does(func() error {
		p, err = r.Proposals.Ensure(ctx, d)
		return err
	})
	return p, err
}

func (r mortalProposals) Close(ctx context.Context, p repo.Proposal, why string) error {
	return r.does(func() error {
		err := r.Proposals.Close(ctx, p, why)
		r.Disturbed = r.Disturbed || err != nil
		return err
	})
}
