package tick

import (
	"context"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
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

// readKinds returns the kinds to sample, which the agreed policy names, and the agreement for
// the path of the policy. If no readable policy at this path is agreed, readKinds reads the
// tip. A broken policy at the tip names no kinds. If the file is gone, a dry run without state
// agrees to its last version.
func (t *Tick) readKinds(ctx context.Context, head latch.Head) (workload.Kinds, latch.Agreed, error) {
	agreed := agreedAt(head.Agreed, t.PolicyFile)
	ticked := !head.At.IsZero() && head.Agreed.PolicyFile == t.PolicyFile
	set, err := t.ParsePolicy(t.PolicyFile, agreed.PolicySource)
	if err == nil && ticked {
		return set.Kinds, agreed, nil
	}
	tip, _, err := t.Repository.Heads(ctx)
	if err != nil {
		return nil, agreed, err
	}
	objects, err := t.Repository.Read(ctx, tip, nil, t.PolicyFile)
	if err != nil {
		return nil, agreed, err
	}
	found := objects[t.PolicyFile]
	if found.ID == "" && t.DryRun && head.At.IsZero() {
		found, err = t.lastPolicy(ctx, tip)
		if err != nil {
			return nil, agreed, err
		}
		agreed.Policy = found.ID
		agreed.PolicySource = found.Files[t.PolicyFile]
	}
	set, _ = t.ParsePolicy(t.PolicyFile, found.Files[t.PolicyFile])
	return set.Kinds, agreed, nil
}

// lastPolicy returns the last version of a policy file that the tip does not have. The zero
// object means that the site has no files in git.
func (t *Tick) lastPolicy(ctx context.Context, tip string) (repo.Object, error) {
	_, directory, err := ledger.TreeAt(ctx, t.Repository, tip, t.Site)
	if err != nil || directory == "" {
		return repo.Object{}, err
	}
	found, err := history.Last(ctx, t.Repository, tip, t.PolicyFile)
	return found.Object, err
}

// readPolicy parses the policy file at the tip. If the file is broken or gone, it uses the
// agreed policy and adds a problem. If no policy is agreed, a broken file is an error.
func (r *reconciler) readPolicy(o repo.Object) error {
	agreed := &r.Found.Agreed
	if o.ID == "" && agreed.Policy != "" {
		r.policyGone(r.PolicyFile, r.PolicyFile+" is gone from the branch", usesLast)
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
	r.invalid(r.PolicyFile, err, usesLast)
	r.Clean = false
	return r.readPolicy(repo.Object{ID: agreed.Policy})
}
