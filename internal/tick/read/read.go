// Package read reads git for one tick, and judges each change since git and the latches last
// agreed. It changes nothing: package tick makes the head and the latches follow what Git found.
package read

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Source is where a tick reads the files of its site. See tick.Tick for the fields.
type Source struct {
	Site        string
	Repository  repo.Repository
	Proposals   repo.Proposals // nil is a host without pull requests
	Propose     bool
	PolicyFile  string
	ParsePolicy func(file string, data []byte) (policy.Set, error)
	DryRun      bool
}

// Loaded is the input of the steps: the stored state and the sample.
type Loaded struct {
	latch.State
	Agreed latch.Agreed // the stored agreement, adapted to the path of the policy
	Fleet  workload.Fleet
}

// Found is everything that a tick read and judged in git. The zero value of a field means
// that nothing moved.
type Found struct {
	Tip       string           // the commit of the branch
	Branch    string           // the commit of the proposal's branch; "" if the branch does not exist
	Directory string           // the object id of the site's directory; "" if unknown or missing
	Tree      *checkpoint.Tree // the site's directory; nil if the tick did not read it
	// Set is the policy at the tip, or the agreed one if that file is broken or gone. If a user
	// changed its kinds, Fleet has the kinds of the agreed policy, because a tick samples before it
	// reads the tip.
	Set policy.Set
	// Fleet is the sample. It has no cluster if site.yaml is broken and the head has no UID.
	Fleet workload.Fleet
	// Cluster is the UID of the site's own cluster, from the head, or else from site.yaml; ""
	// before the first sample.
	Cluster string
	// Next is the agreement to save: the stored one, with the policy at the tip. The tick also
	// agrees with the tip if it judged it.
	Next latch.Agreed
	// Judged is true if the tick judged the tip, so that the head agrees with it. Clean is
	// true if every file of the tip could be read.
	Judged, Clean bool
	// Blocked is the reason for publishing nothing; "" if publishing is allowed.
	Blocked string

	Past     ledger.Past
	Pushes   []Push          // of earlier ticks to the base, the oldest first
	Changes  []ledger.Change // includes workloads that have a latch and no entry in git
	Removals []ledger.Removal
	Fate     Fate
	Commits  *Commits
}

// Until returns the end of an edit grace period that starts now.
func (f Found) Until() time.Time { return f.Fleet.At.Add(f.Set.Guards.Yield) }

// A reader reads git for one tick, and collects its notes.
type reader struct {
	Source
	latch.State              // as loaded
	agreed      latch.Agreed // what the tip is compared with; it does not change
	fleet       workload.Fleet
	commits     *Commits
	notes.Notes
}

// Git reads git, and judges each change since the agreement. It ends in one of these ways:
//
//	the tip did not move                   Tree is nil
//	the tip does not descend from          Blocked, until a second tick sees it
//	the agreed one
//	site.yaml is broken                    Blocked
//	the site's directory did not move      Judged, Tree is nil
//	the site's directory was judged        Judged, with Tree
//
// The policy at the tip is read in each case. Unless Blocked is set, the open proposal is
// reviewed at the end. After Judged, the head agrees with the tip and its directory. If a file of
// the tip could not be read, Clean is false: the head then agrees with the tip, but with no
// directory, and the next tick reads the tip again although it did not move (Reread).
func Git(ctx context.Context, from Source, loaded Loaded) (Found, notes.Notes, error) {
	r := &reader{Source: from, State: loaded.State, agreed: agreement(loaded, from.Propose), fleet: loaded.Fleet}
	r.commits = &Commits{from: from.Repository, Commits: ledger.Commits{From: from.Repository, Site: from.Site}}
	found, err := r.git(ctx)
	return found, r.Notes, err
}

func (r *reader) git(ctx context.Context) (Found, error) {
	f, err := r.heads(ctx)
	if err != nil {
		return f, err
	}
	if r.agreed.Tip == f.Tip && !r.agreed.Reread {
		f.Next.Suspect = ""
		f, err = r.policy(f, repo.Object{ID: r.agreed.Policy})
	} else {
		f, err = r.base(ctx, f)
	}
	if err != nil || f.Blocked != "" {
		return f, err
	}
	f.Fate, err = r.review(ctx, f)
	return f, err
}

// heads returns what is known before a file is read: the agreement, and the tips of the
// branches.
func (r *reader) heads(ctx context.Context) (Found, error) {
	f := Found{
		Fleet: r.fleet, Cluster: r.Head.Cluster.UID, Next: r.agreed, Directory: r.agreed.Directory,
		Clean: true, Fate: Fate{Left: r.Head.Proposal}, Commits: r.commits,
	}
	var branches []string
	if r.Proposals != nil {
		branches = append(branches, ledger.ProposalBranch(r.Site))
	}
	tip, others, err := r.Repository.Heads(ctx, branches...)
	f.Tip = tip
	if len(others) > 0 {
		f.Branch = others[0]
	}
	return f, err
}

// agreement returns the agreement that this tick compares the tip with: the loaded one, with
// Reread set if the tip must be read although it did not move. This is so in three cases: the
// latches differ from those that the head was saved with, a declined repair expired, or the
// site no longer proposes its open repairs.
func agreement(loaded Loaded, proposes bool) latch.Agreed {
	agreed := loaded.Agreed
	ours := loaded.Head.Proposal
	expired := len(Unexpired(loaded.Head.Declined, loaded.Fleet.At)) < len(loaded.Head.Declined)
	unproposed := ours != nil && len(ours.Repairs) > 0 && !proposes
	if loaded.Torn() || expired || unproposed {
		agreed = agreed.ReadAgain()
	}
	return agreed
}

// base reads the base after it moved.
func (r *reader) base(ctx context.Context, f Found) (Found, error) {
	w, err := r.lookBack(ctx, f.Tip)
	if err != nil {
		return f, err
	}
	switch w.belief {
	case suspect:
		f.Next.Suspect = f.Tip
		f.Blocked = r.Notice(notes.Rewritten, f.Tip, "the branch is at %s, which does not descend from %s: gitlatch publishes nothing until the next tick confirms it", f.Tip, r.agreed.Tip)
		return r.policy(f, repo.Object{ID: r.agreed.Policy})
	case descends:
		f.Next.Suspect = ""
	}
	// Read omits the files of an object whose id is known. So the checkpoint files are not read
	// if the directory did not move, unless commits of gitlatch must be judged.
	known := map[string]string{r.PolicyFile: r.agreed.Policy}
	judges := len(w.ours) > 0
	if !judges {
		known[ledger.Checkpoints(r.Site)] = r.agreed.Directory
	}
	maps.DeleteFunc(known, func(_, id string) bool { return id == "" })
	objects, err := r.Repository.Read(ctx, f.Tip, known, r.PolicyFile, ledger.Checkpoints(r.Site))
	if err != nil {
		return f, err
	}
	r.commits.Remember(objects)
	f, err = r.policy(f, objects[r.PolicyFile])
	if err != nil {
		return f, err
	}
	directory := objects[ledger.Checkpoints(r.Site)]
	f.Directory = directory.ID
	sameDirectory := directory.ID != "" && directory.ID == r.agreed.Directory
	if sameDirectory && !judges {
		f.Judged = true
		return f, nil
	}
	tree, err := ledger.Tree(r.Site, directory)
	if err != nil {
		return r.unwritable(f, err), nil
	}
	f.Judged = true
	return r.directory(ctx, f, w, tree)
}

// unwritable stops the tick from writing to the site's directory. site.yaml names the format,
// the kinds and the cluster. While it is broken, gitlatch does not use or write the directory.
// If the head has no UID, the sampled cluster may be another site's, so the site is not bound
// to it.
func (r *reader) unwritable(f Found, err error) Found {
	r.Invalid(checkpoint.SitePath(r.Site), err, "gitlatch writes nothing for the site, so a rebuild starts with the present levels in git")
	f.Blocked = err.Error()
	if r.Head.Cluster.UID == "" {
		f.Fleet.Cluster = ""
	}
	return f
}

// directory judges the site's directory at the tip.
func (r *reader) directory(ctx context.Context, f Found, w window, tree checkpoint.Tree) (Found, error) {
	f.Tree = &tree
	if f.Cluster == "" {
		f.Cluster = tree.Site.Cluster
	}
	for _, namespace := range slices.Sorted(maps.Keys(tree.Broken)) {
		r.Invalid(checkpoint.RecordPath(r.Site, namespace), tree.Broken[namespace], notes.UsesLast)
		f.Clean = false
	}
	f, err := r.past(ctx, f, w)
	if err != nil {
		return f, err
	}
	changes := f.Past.Judge()
	merged, err := r.mergedAtHost(ctx, f, w, changes)
	if err != nil {
		return f, err
	}
	if len(merged) > 0 {
		// The host reports only the newest proposal of a branch. A new one waits for the
		// next tick, so that the merge is saved first.
		f.Fate.Wait = "users merged the proposal"
		f.Past.Merged = append(f.Past.Merged, merged...)
		changes = f.Past.Judge()
	}
	f.Changes = append(changes, r.unchanged(tree, changes)...)
	f.Removals, err = r.removals(ctx, f, w)
	if err != nil {
		return f, err
	}
	f.Fate = mergeProposal(f.Fate, r.Latches, f)
	return f, nil
}

// unchanged returns the workloads with a latch that are not among the changes: git has no
// entry of them, and had none.
func (r *reader) unchanged(tree checkpoint.Tree, changes []ledger.Change) (none []ledger.Change) {
	judged := lists.Index(changes, WorkloadOf)
	for _, one := range r.Latches.Sorted() {
		_, has := judged[one.ID]
		if !has && tree.Broken[one.ID.Namespace] == nil {
			none = append(none, ledger.Change{ID: one.ID})
		}
	}
	return none
}

// WorkloadOf returns the workload of a change.
func WorkloadOf(c ledger.Change) workload.ID { return c.ID }
