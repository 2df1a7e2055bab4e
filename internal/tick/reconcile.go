package tick

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// How many commits are looked through for one that was agreed or intended.
const (
	ancestry   = 2000
	lastPushed = 20
)

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
	// files are those edited in place, as they are now, and said is what their
	// marks said before, by file.
	files map[string]latch.File
	said  map[string]latch.Marks
	// edited are the workloads whose level people set in place, as this pass found,
	// and the file that they set it in.
	edited map[workload.ID]string
	// clean is true where all that was read could be agreed with.
	clean bool
	// moved is true once another moved the branch since.
	moved bool
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

	if err := p.readHeads(ctx); err != nil {
		return err
	}
	p.git.clean, p.git.directory, p.git.edited = true, p.head.Agreed.Directory, map[workload.ID]string{}
	if known := p.openFiles(); known && p.head.Agreed.Tip == p.git.tip && !p.head.Agreed.Partly && p.head.Intent == nil {
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

// readBase reads what moved on the base.
func (p *pass) readBase(ctx context.Context) error {
	agreed := &p.head.Agreed
	believed, err := p.descends(ctx)
	if err != nil || !believed {
		return err
	}
	objects, err := p.read(ctx, p.git.tip, p.known(), p.PolicyFile, Checkpoints(p.Site))
	if err != nil {
		return err
	}
	p.readFiles(objects)
	if err := p.readPolicy(objects[p.PolicyFile]); err != nil {
		return err
	}
	directory := objects[Checkpoints(p.Site)]
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

// known are the ids of what need not be read again. With an intent open, or with
// files to be held against them, the checkpoints are read in any case.
func (p *pass) known() map[string]string {
	known := map[string]string{}
	if id := p.head.Agreed.Policy; id != "" {
		known[p.PolicyFile] = id
	}
	if id := p.head.Agreed.Directory; id != "" && p.head.Intent == nil && len(p.InPlace) == 0 {
		known[Checkpoints(p.Site)] = id
	}
	for file, f := range p.git.files {
		if f.ID != "" {
			known[file] = f.ID
		}
	}
	return known
}

// descends reports whether the tip is to be believed: it descends from the one
// that was agreed, or does not for the second tick in a row. A branch that was
// rewritten and a replica that lags look the same on the first.
func (p *pass) descends(ctx context.Context) (bool, error) {
	agreed := &p.head.Agreed
	if agreed.Tip == "" || agreed.Tip == p.git.tip {
		return true, nil
	}
	history, _, err := p.Repository.History(ctx, p.git.tip, agreed.Tip, ancestry)
	if err != nil {
		return false, err
	}
	if holds(history, agreed.Tip) {
		return true, nil
	}
	if suspect := agreed.Suspect; suspect != "" && holds(history, suspect) {
		text := fmt.Sprintf("the branch does not descend from %s, on two ticks: adopted as it is", agreed.Tip)
		p.notice(NoticeRewritten, p.git.tip, text)
		p.condition(alert.Rewritten, p.git.tip, text, "adopted what it holds; entries that changed with it are left alone for a day", "see who rewrote the branch")
		p.head.Intent, p.head.Pushed, p.head.Late = nil, nil, nil
		return true, nil
	}
	agreed.Suspect = p.git.tip
	p.git.stop = fmt.Sprintf("the branch is at %s, which does not descend from %s: nothing is published until the next tick sees it too", p.git.tip, agreed.Tip)
	p.notice(NoticeRewritten, p.git.tip, p.git.stop)
	return false, p.usePolicy()
}

func holds(history []repo.LogEntry, id string) bool {
	return slices.ContainsFunc(history, func(c repo.LogEntry) bool { return c.ID == id })
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

// Checkpoints is the path by which a repository is asked for the directory of a
// site, as Tree takes it. What else people keep there is not read.
func Checkpoints(site string) string {
	return repo.Within(checkpoint.Directory(site), checkpoint.Files()...)
}

// Tree reads the directory of a site as a repository holds it. What must not be
// followed in it costs its namespace.
func Tree(site string, o repo.Object) (checkpoint.Tree, error) {
	tree, err := checkpoint.ParseTree(site, o.Files)
	for _, path := range slices.Sorted(maps.Keys(o.Unsafe)) {
		if err == nil {
			err = tree.Break(path, &repo.UnsafeError{Path: path, Why: o.Unsafe[path]})
		}
	}
	return tree, err
}

// readCheckpoints takes the site's directory at the tip.
func (p *pass) readCheckpoints(ctx context.Context, o repo.Object) error {
	if o.ID != "" && o.ID == p.head.Agreed.Directory && o.Files == nil {
		return nil
	}
	tree, err := Tree(p.Site, o)
	if err != nil {
		return err
	}
	p.git.tree = &tree
	p.head.Edited = p.revise(&tree)
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
	judged := p.mergeProposal(tree.Entries())
	if err := p.closeProposalIntent(ctx); err != nil {
		return err
	}
	if err := p.closeLate(ctx, tree.Entries(), judged); err != nil {
		return err
	}
	if err := p.closeIntent(ctx, tree.Entries(), judged); err != nil {
		return err
	}
	p.takeEdits(&tree, judged)
	p.compare(tree, judged)
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

// closeIntent finds out what became of a push to the base that was about to be
// made, and adds the workloads that it judged.
func (p *pass) closeIntent(ctx context.Context, entries map[workload.ID]checkpoint.Entry, judged map[workload.ID]bool) error {
	intent := p.head.Intent
	if intent == nil {
		return nil
	}
	landed, dropped := false, false
	var reverted []checkpoint.Change
	for _, c := range intent.Changes {
		held := entries[c.ID]
		switch {
		case held == c.To:
			landed = true
			p.settleChange(c)
		case held != c.From:
			continue // a person's edit, like any other
		case p.git.tip == intent.Base:
			dropped = true
		default:
			reverted = append(reverted, c)
		}
		judged[c.ID] = true
	}
	if len(reverted) > 0 {
		was, err := p.wasPushed(ctx, intent)
		if err != nil {
			return err
		}
		for _, c := range reverted {
			if was {
				p.adopt(c.ID, c.From, NoticeReverted, "a person reverted what gitlatch pushed")
			}
		}
		landed, dropped = landed || was, dropped || !was
	}
	if landed {
		p.head.Budget = policy.Spend(p.set.Guards, p.head.Budget, intent.At)
		p.conditions = append(p.conditions, intent.Say...)
		p.notice(NoticeLanded, intent.ID, "an earlier tick's push had landed: settled")
	} else if dropped {
		if p.git.tip == intent.Base {
			p.head.Late = intent
		}
		p.notice(NoticeDropped, intent.ID, "an earlier tick ended before its push: decided afresh")
	}
	p.head.Intent = nil
	return p.marksPushed(ctx, intent, landed)
}

// closeLate settles a push that was taken to be lost and landed all the same,
// such as one that a host in trouble let wait: it is no person's edit. Once the
// base moved it has landed, or never will.
func (p *pass) closeLate(ctx context.Context, entries map[workload.ID]checkpoint.Entry, judged map[workload.ID]bool) error {
	late := p.head.Late
	if late == nil || p.git.tip == late.Base {
		return nil
	}
	history, _, err := p.Repository.History(ctx, p.git.tip, late.Base, lastPushed)
	if err != nil {
		return err
	}
	p.head.Late = nil
	if !says(history, late) {
		return nil
	}
	for _, c := range late.Changes {
		if !judged[c.ID] && entries[c.ID] == c.To {
			p.settleChange(c)
			judged[c.ID] = true
		}
	}
	p.head.Budget = policy.Spend(p.set.Guards, p.head.Budget, late.At)
	p.conditions = append(p.conditions, late.Say...)
	p.notice(NoticeLanded, late.ID, "an earlier tick's push had landed late: settled")
	return p.marksPushed(ctx, late, true)
}

// says reports whether an intent's commit is in a history.
func says(history []repo.LogEntry, intent *latch.Intent) bool {
	return slices.ContainsFunc(history, func(c repo.LogEntry) bool {
		return strings.Contains(c.Message, trailerIntent+intent.ID)
	})
}

// wasPushed reports whether the intent's commit is in the branch's recent
// history; where that is too short to tell, it is taken to be, since to yield
// to a person who was not there costs a day, and to write over one who was
// costs trust.
func (p *pass) wasPushed(ctx context.Context, intent *latch.Intent) (bool, error) {
	history, whole, err := p.Repository.History(ctx, p.git.tip, intent.Base, lastPushed)
	if err != nil {
		return false, err
	}
	return says(history, intent) || !whole && !holds(history, intent.Base), nil
}

// compare adopts what people changed in entries that no intent speaks of.
func (p *pass) compare(tree checkpoint.Tree, judged map[workload.ID]bool) {
	entries := tree.Entries()
	ids := map[workload.ID]bool{}
	for id := range entries {
		ids[id] = true
	}
	for _, id := range p.latches.ids() {
		ids[id] = true
	}
	for _, id := range slices.SortedFunc(maps.Keys(ids), workload.Compare) {
		held, l := entries[id], p.latches.get(id)
		switch {
		case judged[id] || tree.Broken[id.Namespace] != nil || held == l.Declared:
		case p.seeding() && p.git.edited[id] == "":
			p.latches.set(l.Settled(held))
			p.notice(NoticeSeeded, id.String(), declared(held)+" read back from git")
		case p.git.edited[id] != "":
			p.adopt(id, held, NoticeAdopted, "a person set it in "+p.git.edited[id])
		default:
			p.adopt(id, held, NoticeAdopted, "a person edited its entry")
		}
	}
}

// seeding reports whether the state is new or lost, and read back from git.
func (p *pass) seeding() bool { return p.head.At.IsZero() && len(p.latches.loaded) == 0 }

// adopt takes over what a person made of an entry, and yields to them. An entry
// that is gone is an opt-out.
func (p *pass) adopt(id workload.ID, held checkpoint.Entry, kind NoticeKind, why string) {
	l := p.latches.get(id)
	until := p.fleet.At.Add(p.set.Guards.Yield)
	switch {
	case !held.IsZero():
		p.latches.set(l.Adopted(held, until))
		p.notice(kind, id.String(), fmt.Sprintf("%s: %s adopted; left alone until %s", why, declared(held), until.UTC().Format(timeFormat)))
	case kind == NoticeReverted:
		p.latches.set(l.Adopted(checkpoint.Entry{}, until))
		p.notice(kind, id.String(), fmt.Sprintf("%s: it has no entry again; left alone until %s", why, until.UTC().Format(timeFormat)))
	default:
		l = l.Adopted(checkpoint.Entry{}, time.Time{})
		l.OptedOut = true
		p.latches.set(l)
		p.notice(NoticeOptedOut, id.String(), "a person deleted its entry: no longer latched, until the entry is written again or the workload adopted")
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

// settleChange makes a latch agree with a change that git holds.
func (p *pass) settleChange(c checkpoint.Change) {
	p.latches.set(p.latches.get(c.ID).Settled(c.To))
}
