package tick

import (
	"context"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// agreedAt returns an agreement for a policy at the path file. If the agreed policy was
// at another path, the agreement has no policy, and git is read again: a new path in the
// configuration removes no policy.
func agreedAt(a latch.Agreed, file string) latch.Agreed {
	if a.PolicyFile == file {
		return a
	}
	a.PolicyFile = file
	a.Policy = ""
	a.PolicySource = nil
	a.Partly = true
	return a
}

// readNamed returns the agreed policy, which names what is looked at, and the agreement
// for the path of the policy. If no tick agreed to a policy at this path, or to none that
// can be read, readNamed reads the tip. A policy that cannot be read there names nothing.
// A dry run without state agrees to the last version of a file that is gone.
func (t *Tick) readNamed(ctx context.Context, head latch.Head) (policy.Set, latch.Agreed, error) {
	agreed := agreedAt(head.Agreed, t.PolicyFile)
	ticked := !head.At.IsZero() && head.Agreed.PolicyFile == t.PolicyFile
	set, err := t.ParsePolicy(t.PolicyFile, agreed.PolicySource)
	if err == nil && ticked {
		return set, agreed, nil
	}
	tip, _, err := t.Repository.Heads(ctx)
	if err != nil {
		return policy.Set{}, agreed, err
	}
	objects, err := t.Repository.Read(ctx, tip, nil, t.PolicyFile)
	if err != nil {
		return policy.Set{}, agreed, err
	}
	found := objects[t.PolicyFile]
	if found.ID == "" && t.DryRun && head.At.IsZero() {
		found, err = t.lastPolicy(ctx, tip)
		if err != nil {
			return policy.Set{}, agreed, err
		}
		agreed.Policy = found.ID
		agreed.PolicySource = found.Files[t.PolicyFile]
	}
	set, _ = t.ParsePolicy(t.PolicyFile, found.Files[t.PolicyFile])
	return set, agreed, nil
}

// lastPolicy returns the last version of the policy file before the tip, which lacks it.
// A site without files in git has none.
func (t *Tick) lastPolicy(ctx context.Context, tip string) (repo.Object, error) {
	_, directory, err := ledger.TreeAt(ctx, t.Repository, tip, t.Site)
	if err != nil || directory == "" {
		return repo.Object{}, err
	}
	found, err := history.Last(ctx, t.Repository, tip, t.PolicyFile)
	return found.Object, err
}

// readPolicy takes the policy file at the tip. If it is broken or gone, the agreed policy
// is used, and the file is a problem. If no policy was agreed, a broken file is an
// error: nothing says how to go on.
func (r *reconciler) readPolicy(o repo.Object) error {
	agreed := &r.Found.Agreed
	if o.ID == "" && agreed.Policy != "" {
		r.policyGone(r.PolicyFile, r.PolicyFile+" is gone from the branch", "uses its last version")
		r.Clean = false
		return r.readPolicy(repo.Object{ID: agreed.Policy})
	}
	source := o.Files[r.PolicyFile]
	if o.ID != "" && o.ID == agreed.Policy {
		source = agreed.PolicySource
	}
	set, err := r.ParsePolicy(r.PolicyFile, source)
	switch {
	case err == nil:
		r.Set = set
		agreed.Policy = o.ID
		agreed.PolicySource = source
		return nil
	case agreed.Policy == "" || agreed.Policy == o.ID:
		return err
	}
	r.invalid(r.PolicyFile, fmt.Errorf("the policy before it is used: %w", err))
	r.Clean = false
	return r.readPolicy(repo.Object{ID: agreed.Policy})
}
