package tick

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Found is everything that a tick read and judged in git. The zero value of a field means
// that nothing moved.
type Found struct {
	Tip       string           // the commit of the branch
	Branch    string           // the commit of the proposal's branch; "" if the branch does not exist
	Directory string           // the object id of the site's directory; "" if unknown or missing
	Tree      *checkpoint.Tree // the site's directory; nil if the tick did not read it
	Set       policy.Set
	// Fleet is the sample. It has no cluster if site.yaml is broken and the head has no UID.
	Fleet workload.Fleet
	// Agreed is the agreement before this tick, with the policy at the tip.
	Agreed latch.Agreed
	// Judged is true if the tick judged the tip, so that the head agrees with it. Clean is
	// true if every file of the tip could be read.
	Judged, Clean bool
	// Stop is the reason for publishing nothing; "" if publishing is allowed.
	Stop string

	Past     ledger.Past
	Landed   []ledger.Pushed // the commits of earlier ticks in Past.Steps
	Changes  []ledger.Change // includes workloads that have a latch and no entry in git
	Removals []ledger.Removal
	Fate     Fate
	commits  *commits
}

// errUnwritable ends the read if the site's directory must not be written. Found.Stop has
// the reason.
var errUnwritable = errors.New("the site's directory must not be written")

// A reconciler reads git for one tick. It fills its Found and its notes.
type reconciler struct {
	*Tick
	Loaded
	Found
	Notes
	window window
}

// reconcile reads git and judges each change. It changes nothing: follow makes the head and
// the latches agree with git.
func (t *Tick) reconcile(ctx context.Context, loaded Loaded) (Found, Notes, error) {
	r := &reconciler{Tick: t, Loaded: loaded}
	r.Found.Fleet = loaded.Fleet
	r.Found.Agreed = agreement(loaded, t.Propose)
	r.Directory = r.Found.Agreed.Directory
	r.Clean = true
	r.Fate.Left = loaded.Head.Proposal
	r.commits = &commits{from: t.Repository, Commits: ledger.Commits{From: t.Repository, Site: t.Site}}
	err := r.read(ctx)
	if errors.Is(err, errUnwritable) {
		return r.Found, r.Notes, nil
	}
	return r.Found, r.Notes, err
}

// agreement returns the agreement that this tick compares the tip with: the loaded one, with
// Partly set if the tip must be read although it did not move. This is so in three cases: the
// latches differ from those that the head was saved with, a declined repair expired, or the
// site no longer proposes its open repairs.
func agreement(loaded Loaded, proposes bool) latch.Agreed {
	agreed := loaded.Agreed
	ours := loaded.Head.Proposal
	expired := len(unexpired(loaded.Head.Declined, loaded.Fleet.At)) < len(loaded.Head.Declined)
	unproposed := ours != nil && len(ours.Repairs) > 0 && !proposes
	if torn(loaded.State) || expired || unproposed {
		agreed.Partly = true
		agreed.Directory = ""
	}
	return agreed
}

// torn reports whether the loaded latches differ from those that the head was saved with.
// Then a save stopped before the head, or latches were lost.
func torn(s latch.State) bool {
	return s.Head.Latches != s.Latches.Checksum()
}

func (r *reconciler) read(ctx context.Context) error {
	var branches []string
	if r.Proposals != nil {
		branches = append(branches, ledger.ProposalBranch(r.Site))
	}
	tip, others, err := r.Repository.Heads(ctx, branches...)
	if err != nil {
		return err
	}
	r.Tip = tip
	if len(others) > 0 {
		r.Branch = others[0]
	}
	agreed := &r.Found.Agreed
	if agreed.Tip == tip && !agreed.Partly {
		agreed.Suspect = ""
		err = r.readPolicy(repo.Object{ID: agreed.Policy})
	} else {
		err = r.readBase(ctx)
	}
	if err != nil {
		return err
	}
	return r.reviewProposal(ctx)
}

// readBase reads the base after it moved.
func (r *reconciler) readBase(ctx context.Context) error {
	err := r.lookBack(ctx)
	if err != nil {
		return err
	}
	// The checkpoint files are not read if the directory did not move, and no push of gitlatch
	// is to be judged.
	agreed := &r.Found.Agreed
	known := map[string]string{r.PolicyFile: agreed.Policy}
	if len(r.window.ours) == 0 {
		known[ledger.Checkpoints(r.Site)] = agreed.Directory
	}
	maps.DeleteFunc(known, func(_, id string) bool { return id == "" })
	objects, err := r.Repository.Read(ctx, r.Tip, known, r.PolicyFile, ledger.Checkpoints(r.Site))
	if err != nil {
		return err
	}
	r.commits.Remember(objects)
	err = r.readPolicy(objects[r.PolicyFile])
	if err != nil {
		return err
	}
	directory := objects[ledger.Checkpoints(r.Site)]
	r.Directory = directory.ID
	tree, err := ledger.Tree(r.Site, directory)
	if err != nil {
		// site.yaml names the format, the kinds and the cluster. While it is broken, gitlatch
		// does not use or write the directory. If the head has no UID, the sampled cluster may
		// be another site's, so the site is not bound to it.
		r.invalid(checkpoint.SitePath(r.Site), err, "gitlatch writes nothing for the site, so a rebuild starts with the present levels in git")
		r.Stop = err.Error()
		if r.Head.Cluster.UID == "" {
			r.Found.Fleet.Cluster = ""
		}
		return errUnwritable
	}
	r.Judged = true
	if directory.ID != "" && directory.ID == agreed.Directory && directory.Files == nil {
		return nil
	}
	return r.readDirectory(ctx, tree)
}

// readDirectory judges the site's directory at the tip.
func (r *reconciler) readDirectory(ctx context.Context, tree checkpoint.Tree) error {
	r.Tree = &tree
	for _, namespace := range slices.Sorted(maps.Keys(tree.Broken)) {
		r.invalid(checkpoint.RecordPath(r.Site, namespace), tree.Broken[namespace], usesLast)
		r.Clean = false
	}
	for _, read := range []func(context.Context) error{r.readPast, r.judge, r.findRemovals} {
		err := read(ctx)
		if err != nil {
			return err
		}
	}
	r.Fate = mergeProposal(r.Fate, r.Latches, r.Found)
	return nil
}

// boundTo returns the UID of the site's own cluster from the head, or else from site.yaml.
func boundTo(head latch.Head, tree *checkpoint.Tree) string {
	if head.Cluster.UID == "" && tree != nil {
		return tree.Site.Cluster
	}
	return head.Cluster.UID
}

// until returns the end of an edit grace period that starts now.
func (f Found) until() time.Time { return f.Fleet.At.Add(f.Set.Guards.Yield) }
