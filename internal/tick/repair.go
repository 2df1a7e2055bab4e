package tick

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// stale are the namespaces whose Component or marks differ from their record, without
// those that people declined to repair, and those whose removed entries wait: the
// removal may be a mistake. Nothing is stale if the tree was not read.
func (p *pass) stale() []latch.Repair {
	if p.git.tree == nil {
		return nil
	}
	wait := waiting(p.latches, p.fleet.At)
	return slices.DeleteFunc(staleIn(*p.git.tree, p.files.Following(p.cover(), p.git.tree.Entries())), func(m latch.Repair) bool {
		return wait[m.Namespace] || slices.ContainsFunc(p.head.Declined, func(d latch.Declined) bool { return d.Repair == m })
	})
}

// staleIn are the stale namespaces of a tree and the marks that follow it, sorted.
func staleIn(tree checkpoint.Tree, marks []inplace.Following) (stale []latch.Repair) {
	names := tree.Stale()
	for _, m := range marks {
		if m.Behind() {
			names = append(names, m.ID.Namespace)
		}
	}
	slices.Sort(names)
	for _, namespace := range slices.Compact(names) {
		stale = append(stale, repairOf(tree, marks, namespace))
	}
	return stale
}

// repairOf is the repair of a namespace: a hash of the Component's new bytes and of
// the new counts of its marks.
func repairOf(tree checkpoint.Tree, marks []inplace.Following, namespace string) latch.Repair {
	sum := sha256.New()
	sum.Write(tree.Component(namespace))
	for _, m := range marks {
		if m.ID.Namespace == namespace {
			fmt.Fprintf(sum, "%q %s %d\n", m.File, m.ID, m.Level)
		}
	}
	return latch.Repair{Namespace: namespace, Component: hex.EncodeToString(sum.Sum(nil)[:8])}
}

// repaired are the repairs that the tree holds. merged is true if other changes of the
// proposal were merged too: a namespace then need not equal its repair.
func repaired(tree checkpoint.Tree, marks []inplace.Following, repairs []latch.Repair, merged bool) (done []latch.Repair) {
	stale := namespaces(staleIn(tree, marks))
	for _, m := range repairs {
		if !slices.Contains(stale, m.Namespace) && (merged || repairOf(tree, marks, m.Namespace) == m) {
			done = append(done, m)
		}
	}
	return done
}

// noticeStale reports what is stale, and has the directory read again until that is
// repaired or proposed. The directory is also read again while a mark is behind and
// part of the cluster is unread: a workload that was not seen may accept the risk.
func (p *pass) noticeStale() {
	if len(p.fleet.Unread) > 0 && p.files.Behind(p.git.tree.Entries()) {
		p.git.clean = false
	}
	wait := waiting(p.latches, p.fleet.At)
	if slices.ContainsFunc(p.git.tree.Stale(), func(namespace string) bool { return wait[namespace] }) {
		p.git.clean = false // it is stale once it waits no longer
	}
	for _, m := range p.stale() {
		if ours := p.head.Proposal; p.Propose && ours != nil && slices.Contains(ours.Repairs, m) {
			continue
		}
		what := "its Component does not say what its record says, and is to be written anew from it"
		if !slices.Contains(p.git.tree.Stale(), m.Namespace) {
			what = "what is marked for its workloads is not what its record says, and is to follow"
		}
		p.notice(NoticeStale, m.Namespace, what)
		p.git.clean = false
	}
}

// expireDeclined forgets declined repairs whose time is over. The directory is then
// read again although nothing moved in it. The same holds for a proposed repair of
// a site that no longer proposes.
func expireDeclined(head *latch.Head, now time.Time, proposes bool) {
	unexpired := slices.DeleteFunc(slices.Clone(head.Declined), func(d latch.Declined) bool { return !now.Before(d.Until) })
	ours := head.Proposal
	if len(unexpired) < len(head.Declined) || ours != nil && len(ours.Repairs) > 0 && !proposes {
		head.Agreed.Partly, head.Agreed.Directory = true, ""
	}
	head.Declined = unexpired
}

// declined adds repairs to those that people said no to, until an instant. Their
// namespaces are left as they are, unless their records change.
func declined(before []latch.Declined, repairs []latch.Repair, until time.Time) []latch.Declined {
	all := slices.DeleteFunc(slices.Clone(before), func(d latch.Declined) bool { return slices.Contains(repairs, d.Repair) })
	for _, m := range repairs {
		all = append(all, latch.Declined{Repair: m, Until: until})
	}
	slices.SortStableFunc(all, func(a, b latch.Declined) int { return strings.Compare(a.Namespace, b.Namespace) })
	return all
}

// repairs are the stale namespaces to publish, although nothing in them crosses: a
// person's level must not wait for the next crossing to take effect. If nothing was
// read, they are as before. A new repair waits for the budget, unless it can ride or
// is urgent.
func (p *pass) repairs(rides bool, before []latch.Repair) []latch.Repair {
	if p.git.tree == nil || p.git.moved {
		return before
	}
	stale := p.stale()
	if !rides && !policy.Affords(p.set.Guards, p.head.Budget, p.fleet.At) {
		stale = slices.DeleteFunc(stale, func(m latch.Repair) bool {
			return !slices.Contains(before, m) && !urgent(p.set, p.fleet, p.head.Edited, m.Namespace)
		})
	}
	return stale
}

// urgent reports whether what a person set in place is an urgent raise of what the
// record of a namespace says.
func urgent(set policy.Set, f workload.Fleet, edited []latch.Edit, namespace string) bool {
	return slices.ContainsFunc(f.Samples, func(s workload.Sample) bool {
		i := slices.IndexFunc(edited, func(e latch.Edit) bool { return e.ID == s.ID })
		chosen, _, _ := set.Choose(s)
		return s.ID.Namespace == namespace && i >= 0 && s.Scale != nil && chosen.Urgently(*s.Scale, edited[i].From, edited[i].To)
	})
}

func namespaces(repairs []latch.Repair) []string {
	var names []string
	for _, m := range repairs {
		names = append(names, m.Namespace)
	}
	return names
}
