package read

import (
	"context"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
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
	a.Reread = true
	return a
}

// Kinds returns the kinds to sample, which the agreed policy names, and the agreement for
// the path of the policy. A tick samples the kinds of a changed policy only after the tick that
// agreed to the policy. If no readable policy at this path is agreed, Kinds reads the
// tip. A broken policy at the tip names no kinds. If the file is gone, a dry run without state
// agrees to its last version.
func Kinds(ctx context.Context, from Source, head latch.Head) (workload.Kinds, latch.Agreed, error) {
	agreed := agreedAt(head.Agreed, from.PolicyFile)
	ticked := !head.At.IsZero() && head.Agreed.PolicyFile == from.PolicyFile
	set, err := from.ParsePolicy(from.PolicyFile, agreed.PolicySource)
	if err == nil && ticked {
		return set.Kinds, agreed, nil
	}
	tip, _, err := from.Repository.Heads(ctx)
	if err != nil {
		return nil, agreed, err
	}
	objects, err := from.Repository.Read(ctx, tip, nil, from.PolicyFile)
	if err != nil {
		return nil, agreed, err
	}
	found := objects[from.PolicyFile]
	if found.ID == "" && from.DryRun && head.At.IsZero() {
		found, err = lastPolicy(ctx, from, tip)
		if err != nil {
			return nil, agreed, err
		}
		agreed.Policy = found.ID
		agreed.PolicySource = found.Files[from.PolicyFile]
	}
	set, _ = from.ParsePolicy(from.PolicyFile, found.Files[from.PolicyFile])
	return set.Kinds, agreed, nil
}

// lastPolicy returns the last version of a policy file that the tip does not have. The zero
// object means that the site has no files in git.
func lastPolicy(ctx context.Context, from Source, tip string) (repo.Object, error) {
	_, directory, err := ledger.TreeAt(ctx, from.Repository, tip, from.Site)
	if err != nil || directory == "" {
		return repo.Object{}, err
	}
	found, err := history.Last(ctx, from.Repository, tip, from.PolicyFile)
	return found.Object, err
}

// policy returns what was found, with the policy at the tip. If its file is broken or gone, it
// adds a problem, and the agreed policy is used instead. If no policy is agreed, a broken file is an
// error.
func (r *reader) policy(f Found, o repo.Object) (Found, error) {
	agreed := r.agreed.Policy
	switch {
	case agreed == "":
		return r.parsed(f, o.ID, o.Files[r.PolicyFile])
	case o.ID == agreed:
		return r.parsed(f, agreed, r.agreed.PolicySource)
	case o.ID == "":
		r.PolicyGone(r.PolicyFile, r.PolicyFile+" is gone from the branch", notes.UsesLast)
	default:
		with, err := r.parsed(f, o.ID, o.Files[r.PolicyFile])
		if err == nil {
			return with, nil
		}
		r.Invalid(r.PolicyFile, err, notes.UsesLast)
	}
	f.Clean = false
	return r.parsed(f, agreed, r.agreed.PolicySource)
}

// parsed returns what was found, with the policy of an object id and its source.
func (r *reader) parsed(f Found, id string, source []byte) (Found, error) {
	set, err := r.ParsePolicy(r.PolicyFile, source)
	if err != nil {
		return f, err
	}
	f.Set = set
	f.Next.Policy = id
	f.Next.PolicySource = source
	return f, nil
}
