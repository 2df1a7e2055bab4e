package tick

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// ancestry is how many commits are looked through for the last of gitlatch's.
const ancestry = 2000

// found is what git holds.
type found struct {
	tip string
	// proposed is what the proposal's branch holds; "" where there is none, or
	// nobody asked.
	proposed string
	// directory is the id of the site's directory at the tip; "" where there is
	// none, or it is not known.
	directory string
	// tree is what the tip holds of the site; nil where nothing moved, so that it
	// was not read.
	tree *checkpoint.Tree
	// edited are the workloads whose level people set in place, as this pass found,
	// and the file that they set it in.
	edited map[workload.ID]string
	// clean is true where all that was read could be agreed with.
	clean bool
	// moved is true once another moved the branch since.
	moved bool
	// made is the head of a proposal that was read last, if a tick pushed it.
	made *proposal.Made
	// stop withholds publishing while the branch is not to be believed, and
	// proposing withholds it from the proposal alone.
	stop, proposing string
}

// reconcile reads what git holds and makes the latches agree with it, entry by
// entry. Git is the truth: where a person changed an entry, the latch follows.
func (p *pass) reconcile(ctx context.Context) error {
	head, all, err := p.Store.Load(ctx, p.Site)
	if err != nil {
		return err
	}
	p.stored, p.head, p.latches = head, head, newLatches(all)
	if err := p.takeTurn(); err != nil {
		return err
	}
	p.reopenMends()
	p.missLatches()
	p.missHead()

	if err := p.readHeads(ctx); err != nil {
		return err
	}
	p.git.clean, p.git.directory, p.git.edited = true, p.head.Agreed.Directory, map[workload.ID]string{}
	files, known := inplace.Open(p.InPlace, p.fleet.Kinds, p.head.Agreed.Files)
	p.files, p.head.Agreed.Files = files, files.Now
	p.past.commits = ledger.Commits{From: inplace.Reader{Reader: p.Repository, Paths: p.InPlace}, Site: p.Site}
	if known && p.head.Agreed.Tip == p.git.tip && !p.head.Agreed.Partly {
		p.head.Agreed.Suspect = ""
		err = p.usePolicy()
	} else {
		err = p.readBase(ctx)
	}
	if err != nil || p.git.stop != "" {
		return err
	}
	return p.reviewProposal(ctx)
}

// missLatches has the directory read again where the latches are gone and the head
// is not: what was agreed once is no more.
func (p *pass) missLatches() {
	agreed := &p.head.Agreed
	if once := agreed.Directory != "" || !p.head.Budget.At.IsZero(); once && len(p.latches.loaded) == 0 {
		agreed.Partly, agreed.Directory = true, ""
	}
}

// missHead begins to count towards lowering and retirement anew where the head is
// gone and the latches are not: how long their timers stood still is not known.
func (p *pass) missHead() {
	if !p.head.At.IsZero() {
		return
	}
	for _, id := range p.latches.ids() {
		l := p.latches.get(id)
		l.Down, l.Missing = latch.Down{}, latch.Stopwatch{}
		p.latches.set(l)
	}
}

// readBase reads what moved on the base.
func (p *pass) readBase(ctx context.Context) error {
	agreed := &p.head.Agreed
	believed, err := p.lookBack(ctx)
	if err != nil || !believed {
		return err
	}
	objects, err := p.past.commits.From.Read(ctx, p.git.tip, p.known(), p.PolicyFile, ledger.Checkpoints(p.Site))
	if err != nil {
		return err
	}
	p.past.commits.Keep(objects)
	p.files.Take(objects)
	if err := p.readPolicy(objects[p.PolicyFile]); err != nil {
		return err
	}
	directory := objects[ledger.Checkpoints(p.Site)]
	p.git.directory = directory.ID
	if err := p.readCheckpoints(ctx, directory); err != nil {
		return err
	}
	// Latches follow what was read even where it cannot be agreed with yet; then
	// no directory is known that they agree with.
	agreed.Tip, agreed.Suspect, agreed.Partly, agreed.Directory = p.git.tip, "", !p.git.clean, ""
	if p.git.clean {
		agreed.Directory = directory.ID
	}
	return nil
}

// known are the ids of what need not be read again. With a push to be judged, or
// with files to be held against them, the checkpoints are read in any case.
func (p *pass) known() map[string]string {
	known := map[string]string{}
	if id := p.head.Agreed.Policy; id != "" {
		known[p.PolicyFile] = id
	}
	if id := p.head.Agreed.Directory; id != "" && len(p.past.pushes)+len(p.past.proposals)+len(p.InPlace) == 0 {
		known[ledger.Checkpoints(p.Site)] = id
	}
	for file, f := range p.files.Now {
		if f.ID != "" {
			known[file] = f.ID
		}
	}
	return known
}

// usePolicy takes the policy that was last agreed.
func (p *pass) usePolicy() (err error) {
	p.set, err = p.ParsePolicy(p.PolicyFile, p.head.Agreed.PolicySource)
	return err
}

// readPolicy takes the policy file at the tip. A broken one leaves the site
// with the policy that was agreed before, and is a problem; without one before
// there is nothing to go by.
func (p *pass) readPolicy(o repo.Object) error {
	agreed := &p.head.Agreed
	if o.ID != "" && o.ID == agreed.Policy {
		return p.usePolicy()
	}
	source := o.Files[p.PolicyFile]
	set, err := p.ParsePolicy(p.PolicyFile, source)
	switch {
	case err == nil:
		p.set, agreed.Policy, agreed.PolicySource = set, o.ID, source
		return nil
	case agreed.Policy == "":
		return err
	}
	p.invalid(p.PolicyFile, fmt.Errorf("the policy before it is used: %w", err))
	p.git.clean = false
	return p.usePolicy()
}

// readCheckpoints takes the site's directory at the tip.
func (p *pass) readCheckpoints(ctx context.Context, o repo.Object) error {
	if o.ID != "" && o.ID == p.head.Agreed.Directory && o.Files == nil {
		return nil
	}
	tree, err := ledger.Tree(p.Site, o)
	if err != nil {
		return err
	}
	p.git.tree = &tree
	p.head.Edited = inplace.Revise(&tree, p.head.Edited)
	p.readEvidence(tree)
	for _, namespace := range slices.Sorted(maps.Keys(tree.Broken)) {
		p.invalid(checkpoint.RecordPath(p.Site, namespace), tree.Broken[namespace])
		p.git.clean = false
	}
	if p.head.Cluster.UID == "" {
		p.head.Cluster.UID = tree.Site.Cluster
	}

	if err := p.recall(ctx, tree); err != nil {
		return err
	}
	found, err := p.recount(ctx, ledger.Of(tree), o.ID)
	if err != nil {
		return err
	}
	changes, err := p.judge(ctx, &found)
	if err != nil {
		return err
	}
	p.mergeProposal(found)
	judged := map[workload.ID]*ledger.Change{}
	for i := range changes {
		judged[changes[i].ID] = &changes[i]
	}
	p.takeEdits(&tree, judged)
	p.pay(found, judged)
	for _, id := range p.latches.ids() {
		if judged[id] == nil && tree.Broken[id.Namespace] == nil {
			changes = append(changes, ledger.Change{ID: id}) // git holds nothing of it, nor did
		}
	}
	for _, c := range changes {
		p.follow(c)
	}
	p.noticeStale()
	return nil
}

// readEvidence takes what keeps checkpoints inert. While it is broken, what was
// agreed before it holds.
func (p *pass) readEvidence(tree checkpoint.Tree) {
	if tree.Unproven != nil {
		p.invalid(checkpoint.EvidencePath(p.Site), tree.Unproven)
		p.git.clean = false
		return
	}
	p.head.Agreed.Evidence = tree.Evidence
}

// follow makes a latch agree with what became of its entry: it takes what git holds,
// and yields where a person has the last word.
func (p *pass) follow(c ledger.Change) {
	l, file := p.latches.get(c.ID), p.git.edited[c.ID]
	if l.Declared != c.Was || c.Ours && l.Proposed == c.Was && !c.Was.IsZero() {
		l = l.Settled(c.Was)
		p.latches.set(l)
		if !c.Ours && !c.Persons() {
			p.notice(NoticeSeeded, c.ID.String(), cmp.Or(declared(c.Now), "no entry")+" read back from git")
		}
	}
	switch {
	case !c.Persons():
	case file != "":
		p.adopt(c, NoticeAdopted, "a person set it in "+file)
	case c.Ours && c.Now == c.Agreed:
		p.adopt(c, NoticeReverted, "a person reverted what gitlatch pushed")
	default:
		p.adopt(c, NoticeAdopted, "a person edited its entry")
	}
}

// seeding reports whether the state is new or lost, and read back from git.
func (p *pass) seeding() bool { return p.head.At.IsZero() && len(p.latches.loaded) == 0 }

// adopt takes over what a person made of an entry, and yields to them. An entry
// that is gone is an opt-out, unless it was gitlatch's and no older.
func (p *pass) adopt(c ledger.Change, kind NoticeKind, why string) {
	l := p.latches.get(c.ID)
	until := p.fleet.At.Add(p.set.Guards.Yield)
	switch {
	case !c.Now.IsZero():
		p.latches.set(l.Adopted(c.Now, until))
		p.notice(kind, c.ID.String(), fmt.Sprintf("%s: %s adopted; left alone until %s", why, declared(c.Now), until.UTC().Format(timeFormat)))
	case c.Agreed.IsZero():
		p.latches.set(l.Adopted(checkpoint.Entry{}, until))
		p.notice(NoticeReverted, c.ID.String(), fmt.Sprintf("%s: it has no entry again; left alone until %s", why, until.UTC().Format(timeFormat)))
	default:
		l = l.Adopted(checkpoint.Entry{}, time.Time{})
		l.OptedOut = true
		p.latches.set(l)
		p.notice(NoticeOptedOut, c.ID.String(), "a person deleted its entry: no longer latched, until the entry is written again or the workload adopted")
	}
}

// declared is what an entry declares, for a notice.
func declared(e checkpoint.Entry) string {
	var said []string
	if e.Replicas > 0 {
		said = append(said, fmt.Sprintf("declared level %d", e.Replicas))
	}
	if r := e.Rollout; r != (checkpoint.Rollout{}) {
		said = append(said, fmt.Sprintf("rollout at %d %%, %s, which returns %s", r.Milestone, r.Phase, r.Returns))
	}
	return strings.Join(said, " and ")
}
