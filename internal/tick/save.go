package tick

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
)

// A tenancy is the lease of a running tick. A tick writes to the state only with the lease.
// A dry run takes no lease and writes nothing.
type tenancy struct {
	*Tick
	lease  latch.Lease
	loaded latch.Head // the head before the steps
}

// Extend extends the lease before a push.
func (t *tenancy) Extend(ctx context.Context) error { return t.take(ctx) }

// take takes the site's lease, or extends it.
func (t *tenancy) take(ctx context.Context) error {
	if t.DryRun {
		return nil
	}
	now := t.Clock()
	lease, err := t.Store.Acquire(ctx, t.Site, t.Owner, now, now.Add(t.Lease))
	if err != nil {
		return fmt.Errorf("take the lease of site %s: %w", t.Site, err)
	}
	held := t.lease
	t.lease = lease // end releases this lease, even if its fence changed
	if held.Fence != 0 && lease.Fence != held.Fence {
		return fmt.Errorf("extend the lease of site %s: %w", t.Site, latch.ErrLost)
	}
	return nil
}

func (t *tenancy) end(ctx context.Context) error {
	if t.DryRun {
		return nil
	}
	return giveBack(ctx, t.Store, t.lease)
}

// giveBackWithin is the time limit for the release of the lease: enough for the retries
// after a throttled request, and half of the time that a function reserves for its end. A
// lease that is not released expires.
const giveBackWithin = 5 * time.Second

// giveBack releases a lease, also after ctx ended. The next tick then need not wait until
// the lease expires.
func giveBack(ctx context.Context, store latch.Store, lease latch.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
	defer cancel()
	err := store.Release(ctx, lease)
	if err != nil {
		return fmt.Errorf("give back the lease of site %s: %w", lease.Site, err)
	}
	return nil
}

// save saves the changed latches, then the head, and returns the saved head.
func (t *tenancy) save(ctx context.Context, now latch.State, stop policy.Stop) (latch.Head, error) {
	if t.DryRun {
		return now.Head, nil
	}
	head := now.Head
	if stop.Reason == policy.ReasonSecond {
		// A second cluster only reads. It saves its own UID and the alerts.
		loaded := t.loaded
		loaded.Cluster = head.Cluster
		loaded.Open = head.Open
		loaded.Outbox = head.Outbox
		return loaded, t.Store.Save(ctx, t.lease, loaded, nil, nil)
	}
	head.Latches = now.Latches.Checksum()
	head.Agreed.Sites = sitesAt(t.Repository, t.Site, head.Agreed)
	put, drop := now.Latches.Changed()
	return head, t.Store.Save(ctx, t.lease, head, put, drop)
}

// NoteClosing saves that gitlatch closes the proposal of the loaded head. commit is the head
// of its branch. It saves no other change of this tick, because the latches are not saved
// yet.
func (t *tenancy) NoteClosing(ctx context.Context, commit string) error {
	closing := *t.loaded.Proposal
	closing.Head = commit
	closing.Closing = commit
	head := t.loaded
	head.Proposal = &closing
	err := t.Store.Save(ctx, t.lease, head, nil, nil)
	if err != nil {
		return fmt.Errorf("note that proposal %s is to be closed: %w", closing.URL, err)
	}
	return nil
}

// send sends the alerts in the outbox, and saves the rest of the outbox. If an alert cannot
// be sent, it waits for the next tick with all later alerts. If the receiver refuses an
// alert, send drops it and adds a problem.
func (t *tenancy) send(ctx context.Context, head latch.Head) (n notes.Notes, err error) {
	if t.DryRun || t.Alerts == nil || len(head.Outbox) == 0 {
		return n, nil
	}
	done := 0
	for _, a := range head.Outbox {
		notice, err := a.Notice()
		if err == nil {
			err = t.Alerts.Send(ctx, notice)
		}
		if _, refused := errors.AsType[*alert.RefusedError](err); refused {
			n.Problem(fmt.Errorf("alert %q is dropped: %w", a.Headline(), err))
		} else if err != nil {
			n.Problem(fmt.Errorf("send alert %q: %w", a.Headline(), err))
			break
		}
		done++
	}
	if done == 0 {
		return n, nil
	}
	head.Outbox = head.Outbox[done:]
	return n, t.Store.Save(ctx, t.lease, head, nil, nil)
}

// sitesAt returns the tree to save: the tree at the agreed tip, or the saved tree if this
// tick did not read the tip.
func sitesAt(from repo.Repository, site string, agreed latch.Agreed) []byte {
	if r, ok := from.(repo.Recaller); ok {
		if tree := r.Tree(agreed.Tip, path.Dir(checkpoint.Directory(site))); tree != nil {
			return tree
		}
	}
	return agreed.Sites
}
