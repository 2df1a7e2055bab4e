package tick

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Found is all that a tick read in git, and its judgement of that. The zero value of a field
// is what a tick finds if nothing moved.
type Found struct {
	Tip       string           // the commit of the branch
	Branch    string           // the commit of the proposal's branch; "" is no branch
	Directory string           // the object id of the site's directory; "" if it is unknown or not there
	Tree      *checkpoint.Tree // the site's directory; nil if it was not read
	Set       policy.Set
	// Fleet is the sample. It has no cluster if nothing tells whether that is the site's own.
	Fleet workload.Fleet
	// Agreed is the agreement before this tick, with the policy and the rules at the tip.
	Agreed latch.Agreed
	// Judged is true if the tip was judged, so that it is agreed with, and Clean is true if
	// all of it could be.
	Judged, Clean bool
	// Stop is why nothing may be published; "" is no reason.
	Stop string

	Past     ledger.Past
	Landed   []ledger.Pushed // the commits of earlier ticks in Past.Steps
	Changes  []ledger.Change // also of workloads whose latch has no entry in git
	Removals []ledger.Removal
	Fate     Fate
	Markers  markers
	commits  *commits
}

// errUnwritable ends the reading of a branch on which the site's directory must not be
// written. Found.Stop has the reason.
var errUnwritable = errors.New("the site's directory must not be written")

// A reconciler reads git for one tick. It fills its Found and its notes.
type reconciler struct {
	*Tick
	Loaded
	Found
	notes
	window window
}

// reconcile reads what git holds and judges it. Git is the truth: follow brings the head and
// the latches to what it finds.
func (t *Tick) reconcile(ctx context.Context, loaded Loaded) (Found, notes, error) {
	r := &reconciler{Tick: t, Loaded: loaded}
	r.Found.Fleet = loaded.Fleet
	r.Found.Agreed = agreement(loaded, t.Propose)
	r.Directory = r.Found.Agreed.Directory
	r.Clean = true
	r.Fate.Left = loaded.Head.Proposal
	r.commits = &commits{from: t.Repository, Commits: ledger.Commits{From: t.Repository, Site: t.Site}}
	err := r.read(ctx)
	if errors.Is(err, errUnwritable) {
		return r.Found, r.notes, nil
	}
	return r.Found, r.notes, err
}

// agreement returns the agreement before this tick. The tip is read again although it did not
// move if the latches are not those that the head was saved with, if repairs that users
// declined have expired, or if the site no longer proposes the repairs that it proposed.
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

// torn reports whether the latches are not those that the head was saved with: a save
// stopped before the head, or latches were lost.
func torn(s latch.State) bool {
	var sum int64
	for one := range s.Latches.All() {
		sum += one.Checksum()
	}
	return s.Head.Latches != sum
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
	shows := r.DryRun && len(r.Named.InPlace) > 0 // a dry run shows the markers on each run
	if agreed.Tip == tip && !agreed.Partly && !shows {
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

// readBase reads what moved on the base.
func (r *reconciler) readBase(ctx context.Context) error {
	err := r.lookBack(ctx)
	if err != nil {
		return err
	}
	// With a push to be judged, or markers to be compared with the entries, the checkpoints
	// are read in any case.
	agreed := &r.Found.Agreed
	known := map[string]string{r.PolicyFile: agreed.Policy}
	if len(r.window.pushes)+len(r.window.proposals)+len(r.Named.InPlace) == 0 {
		known[ledger.Checkpoints(r.Site)] = agreed.Directory
	}
	maps.DeleteFunc(known, func(_, id string) bool { return id == "" })
	objects, err := inplace.Read(ctx, r.Repository, r.Tip, known, r.Named.InPlace, r.PolicyFile, ledger.Checkpoints(r.Site))
	if err != nil {
		return err
	}
	r.commits.Remember(objects)
	err = r.readPolicy(objects[r.PolicyFile])
	if err != nil {
		return err
	}
	directory := objects[ledger.Checkpoints(r.Site)]
	if directory.ID != "" && directory.Files == nil && len(r.Set.InPlace) > 0 { // the policy names files for the first time
		more, err := r.Repository.Read(ctx, r.Tip, nil, ledger.Checkpoints(r.Site))
		if err != nil {
			return err
		}
		directory = more[ledger.Checkpoints(r.Site)]
	}
	r.Directory = directory.ID
	tree, err := ledger.Tree(r.Site, directory)
	if err != nil {
		// site.yaml names the format, the kinds and the cluster: while it is broken, the
		// directory is neither believed nor written. The head has the cluster's UID. Without
		// one, the cluster that was sampled could be any, and binds nothing.
		r.invalid(checkpoint.SitePath(r.Site), fmt.Errorf("nothing is written for the site: %w", err))
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
	return r.readDirectory(ctx, tree, objects)
}

// readDirectory judges the site's directory at the tip.
func (r *reconciler) readDirectory(ctx context.Context, tree checkpoint.Tree, objects map[string]repo.Object) error {
	r.Tree = &tree
	if tree.Unproven == nil {
		r.Found.Agreed.Evidence = tree.Evidence
	} else {
		r.invalid(checkpoint.EvidencePath(r.Site), tree.Unproven)
		r.Clean = false
	}
	for _, namespace := range slices.Sorted(maps.Keys(tree.Broken)) {
		r.invalid(checkpoint.RecordPath(r.Site, namespace), tree.Broken[namespace])
		r.Clean = false
	}
	for _, read := range []func(context.Context) error{
		r.readPast,
		r.judge,
		r.findRemovals,
		func(ctx context.Context) error { return r.readMarkers(ctx, objects) },
	} {
		err := read(ctx)
		if err != nil {
			return err
		}
	}
	r.Fate = mergeProposal(r.Fate, r.Latches, r.Found)
	return nil
}

// boundTo is the UID of the site's own cluster: that of the head, else that of site.yaml.
func boundTo(head latch.Head, tree *checkpoint.Tree) string {
	if head.Cluster.UID == "" && tree != nil {
		return tree.Site.Cluster
	}
	return head.Cluster.UID
}

// until is the end of an edit grace period that starts now.
func (f Found) until() time.Time { return f.Fleet.At.Add(f.Set.Guards.Yield) }
