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

// ancestry is how many commits are looked through for gitlatch's last commit.
const ancestry = 2000

// gitState is what git holds, as far as this pass knows.
type gitState struct {
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
	// clean is true if all that was read could be agreed with.
	clean bool
	// moved is true once another pusher moved the branch during this pass.
	moved bool
	// made is the proposal's head that was read last; nil if no tick pushed that head.
	made *proposal.Made
	// publishStop is why nothing is published: the branch is not to be believed yet.
	// proposalStop is why nothing is proposed. "" is no reason.
	publishStop, proposalStop string
}

// reconcile reads what git holds and makes the latches agree with it, entry by
// entry. Git is the truth: where a person changed an entry, the latch follows.
func (p *pass) reconcile(ctx context.Context) error {
	expireDeclined(&p.head, p.fleet.At, p.Propose)
	recoverLost(&p.head, p.latches)

	var branches []string
	if p.Proposals != nil {
		branches = append(branches, ledger.ProposalBranch(p.Site))
	}
	tip, others, err := p.Repository.Heads(ctx, branches...)
	if err != nil {
		return err
	}
	if p.git.tip = tip; len(others) > 0 {
		p.git.proposed = others[0]
	}
	p.git.clean, p.git.directory, p.git.edited = true, p.head.Agreed.Directory, map[workload.ID]string{}
	files, known := inplace.Open(p.named.InPlace, p.fleet.Kinds, p.head.Agreed.Files)
	p.files, p.head.Agreed.Files = files, files.Now
	p.past.commits = ledger.Commits{From: inplace.Reader{Reader: p.Repository, Paths: p.named.InPlace}, Site: p.Site}
	if known && p.head.Agreed.Tip == p.git.tip && !p.head.Agreed.Partly {
		p.head.Agreed.Suspect = ""
		err = p.readPolicy(repo.Object{ID: p.head.Agreed.Policy})
	} else {
		err = p.readBase(ctx)
	}
	if err != nil || p.git.publishStop != "" {
		return err
	}
	return p.reviewProposal(ctx)
}

// rereadIfTorn makes the next tick read the directory again if the latches are not those
// that the head was saved with: a save stopped before the head, or latches were lost.
func rereadIfTorn(head *latch.Head, latches map[workload.ID]latch.Latch) {
	if head.Latches != latch.Checksum(latches) {
		head.Agreed.Partly, head.Agreed.Directory = true, ""
	}
}

// recoverLost recovers from the loss of a part of the state. Without the head, timers
// towards lowering and retirement start again, because the length of their pauses is
// unknown.
func recoverLost(head *latch.Head, l latches) {
	rereadIfTorn(head, l.now())
	if !head.At.IsZero() {
		return
	}
	for _, one := range l.now() {
		one.Down, one.Missing = latch.Down{}, latch.Stopwatch{}
		l.set(one)
	}
}

// readBase reads what moved on the base.
func (p *pass) readBase(ctx context.Context) error {
	agreed := &p.head.Agreed
	believed, err := p.lookBack(ctx)
	if err != nil || !believed {
		return err
	}
	// With a push to be judged, or files to be held against them, the checkpoints are
	// read in any case.
	known := map[string]string{p.PolicyFile: agreed.Policy}
	if len(p.past.pushes)+len(p.past.proposals)+len(p.named.InPlace) == 0 {
		known[ledger.Checkpoints(p.Site)] = agreed.Directory
	}
	for file, f := range p.files.Now {
		known[file] = f.ID
	}
	maps.DeleteFunc(known, func(_, id string) bool { return id == "" })
	objects, err := p.past.commits.From.Read(ctx, p.git.tip, known, p.PolicyFile, ledger.Checkpoints(p.Site))
	if err != nil {
		return err
	}
	p.past.commits.Remember(objects)
	if err := p.readPolicy(objects[p.PolicyFile]); err != nil {
		return err
	}
	directory := objects[ledger.Checkpoints(p.Site)]
	p.git.directory = directory.ID
	tree, err := ledger.Tree(p.Site, directory)
	if err != nil {
		// site.yaml names the format, the kinds and the cluster: while it is broken, the
		// directory is neither believed nor written. The head has the cluster's UID. Without
		// one, the cluster that was sampled could be any, and binds nothing.
		p.invalid(checkpoint.SitePath(p.Site), fmt.Errorf("nothing is written for the site: %w", err))
		p.git.publishStop = err.Error()
		if p.head.Cluster.UID == "" {
			p.fleet.Cluster = ""
		}
		return nil
	}
	p.files.Take(objects)
	if err := p.readCheckpoints(ctx, directory, tree); err != nil {
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

// readCheckpoints takes the site's directory at the tip, which the tree was read from.
func (p *pass) readCheckpoints(ctx context.Context, o repo.Object, tree checkpoint.Tree) error {
	if o.ID != "" && o.ID == p.head.Agreed.Directory && o.Files == nil {
		return nil
	}
	p.git.tree = &tree
	if tree.Unproven == nil {
		p.head.Agreed.Evidence = tree.Evidence
	} else {
		p.invalid(checkpoint.EvidencePath(p.Site), tree.Unproven)
		p.git.clean = false
	}
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
	found, err := p.readPast(ctx, &tree, o.ID)
	if err != nil {
		return err
	}
	changes, err := p.judge(ctx, &found)
	if err != nil {
		return err
	}
	removals, err := p.entriesRemoved(ctx, changes, found.Agreed)
	if err != nil {
		return err
	}
	p.mergeProposal(found)
	judged := map[workload.ID]*ledger.Change{}
	for i := range changes {
		judged[changes[i].ID] = &changes[i]
	}
	p.takeEdits(&tree, judged)
	p.settlePushes(found, judged)
	for _, id := range p.latches.ids() {
		if judged[id] == nil && tree.Broken[id.Namespace] == nil {
			changes = append(changes, ledger.Change{ID: id}) // git holds no entry, and held none
		}
	}
	removed := commitOf(removals)
	until := p.fleet.At.Add(p.set.Guards.Yield)
	again := until.Add(p.set.Guards.RetireAfter)
	for _, c := range changes {
		l, notices := follow(p.latches.get(c.ID), c, p.git.edited[c.ID], until)
		if commit := removed[c.ID]; commit != "" {
			l = p.latches.get(c.ID).Removed(until, again)
			notices = []Notice{removedNotice(c.ID, commit, until, again)}
		}
		if p.latches.known(c.ID) || !l.Blank() {
			p.latches.set(l)
		}
		p.report.Notices = append(p.report.Notices, notices...)
	}
	p.noticeStale()
	return nil
}

// follow makes a latch agree with what became of its entry. If a person has the last
// word, the latch yields until the given instant. file is where that person set the
// level in place, or "".
func follow(l latch.Latch, c ledger.Change, file string, until time.Time) (latch.Latch, []Notice) {
	var notices []Notice
	notice := func(kind NoticeKind, format string, args ...any) {
		notices = append(notices, Notice{kind, c.ID.String(), fmt.Sprintf(format, args...)})
	}
	if l.Declared != c.Was || c.Ours && l.Proposed() == c.Was && !c.Was.IsZero() {
		l = l.Settled(c.Was)
		if !c.Ours && !c.Persons() {
			notice(NoticeSeeded, "%s read back from git", cmp.Or(declared(c.Now), "no entry"))
		}
	}
	if !c.Persons() {
		return l, notices
	}
	kind, why := NoticeAdopted, "a person edited its entry"
	if file != "" {
		why = "a person set it in " + file
	} else if c.Ours && c.Now == c.Agreed {
		kind, why = NoticeReverted, "a person reverted what gitlatch pushed"
	}
	end := until.UTC().Format(timeFormat) + ", or until gitlatch adopt " + c.ID.Short()
	switch {
	case !c.Now.IsZero():
		notice(kind, "%s: %s adopted; left alone until %s", why, declared(c.Now), end)
	case c.Agreed.IsZero(): // it was gitlatch's, and no older
		notice(NoticeReverted, "%s: it has no entry again; left alone until %s", why, end)
	default:
		notice(NoticeOptedOut, "a person deleted its entry: no longer latched, until the entry is written again or the workload adopted")
		l = l.Adopted(c.Now, time.Time{})
		l.OptedOut = true
		l.RemovedUntil = time.Time{}
		l.Missing = latch.Stopwatch{} // there is no entry to retire
		return l, notices
	}
	return l.Adopted(c.Now, until), notices
}

// declared is what an entry declares, for a notice.
func declared(e checkpoint.Entry) string {
	var texts []string
	if e.Replicas > 0 {
		texts = append(texts, fmt.Sprintf("declared level %d", e.Replicas))
	}
	if r := e.Rollout; r != (checkpoint.Rollout{}) {
		texts = append(texts, fmt.Sprintf("rollout at %d %%, %s, which returns %s", r.Milestone, r.Phase, r.Returns))
	}
	return strings.Join(texts, " and ")
}
