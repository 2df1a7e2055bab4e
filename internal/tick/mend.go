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
)

// stale are the namespaces whose Component, or a mark of whose workloads, does
// not say what their record says, as far as the tree was read, but for those that
// people want left as they are.
func (p *pass) stale() []latch.Mend {
	if p.git.tree == nil {
		return nil
	}
	return slices.DeleteFunc(staleIn(*p.git.tree, p.following()), func(m latch.Mend) bool {
		return slices.ContainsFunc(p.head.Declined, func(d latch.Declined) bool { return d.Mend == m })
	})
}

// following are the marks that follow the tree that was read.
func (p *pass) following() []inplace.Following {
	return p.files.Following(p.cover(), p.git.tree.Entries())
}

// staleIn are the stale namespaces of a tree and the marks that follow it, sorted.
func staleIn(tree checkpoint.Tree, marks []inplace.Following) (stale []latch.Mend) {
	names := tree.Stale()
	for _, m := range marks {
		if m.Behind() {
			names = append(names, m.ID.Namespace)
		}
	}
	slices.Sort(names)
	for _, namespace := range slices.Compact(names) {
		stale = append(stale, mendOf(tree, marks, namespace))
	}
	return stale
}

// mendOf is what the Component of a namespace is to be, and what is to be marked
// for its workloads.
func mendOf(tree checkpoint.Tree, marks []inplace.Following, namespace string) latch.Mend {
	sum := sha256.New()
	sum.Write(tree.Component(namespace))
	for _, m := range marks {
		if m.ID.Namespace == namespace {
			fmt.Fprintf(sum, "%q %s %d\n", m.File, m.ID, m.Level)
		}
	}
	return latch.Mend{Namespace: namespace, Component: hex.EncodeToString(sum.Sum(nil)[:8])}
}

// mended are those of some mends that the tree holds. Where changes beside them
// were merged, it holds more than they were to make of their namespaces.
func mended(tree checkpoint.Tree, marks []inplace.Following, mends []latch.Mend, merged bool) (done []latch.Mend) {
	stale := namespaces(staleIn(tree, marks))
	for _, m := range mends {
		if !slices.Contains(stale, m.Namespace) && (merged || mendOf(tree, marks, m.Namespace) == m) {
			done = append(done, m)
		}
	}
	return done
}

// noticeStale says what is stale, and has the directory read again until it is
// mended or lies before people. It is read again, too, while a mark is behind and a
// part of the cluster is unread: a workload that was not seen may be one that does
// without evidence.
func (p *pass) noticeStale() {
	if len(p.fleet.Unread) > 0 && p.files.Behind(p.git.tree.Entries()) {
		p.git.clean = false
	}
	for _, m := range p.stale() {
		if ours := p.head.Proposal; p.Propose && ours != nil && slices.Contains(ours.Mends, m) {
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

// reopen forgets what people said no to for long enough. Where that leaves a
// namespace stale, or it was proposed by a site that no longer proposes, the
// directory is read again although nothing moved in it.
func reopen(head *latch.Head, now time.Time, proposes bool) {
	still := slices.DeleteFunc(slices.Clone(head.Declined), func(d latch.Declined) bool { return !now.Before(d.Until) })
	ours := head.Proposal
	if len(still) < len(head.Declined) || ours != nil && len(ours.Mends) > 0 && !proposes {
		head.Agreed.Partly, head.Agreed.Directory = true, ""
	}
	head.Declined = still
}

// declined adds mends to those that people said no to, until an instant: their
// namespaces are left as they are, as long as their records say what they say now.
func declined(before []latch.Declined, mends []latch.Mend, until time.Time) []latch.Declined {
	all := slices.DeleteFunc(slices.Clone(before), func(d latch.Declined) bool { return slices.Contains(mends, d.Mend) })
	for _, m := range mends {
		all = append(all, latch.Declined{Mend: m, Until: until})
	}
	slices.SortStableFunc(all, func(a, b latch.Declined) int { return strings.Compare(a.Namespace, b.Namespace) })
	return all
}

// mends are the stale namespaces that are to follow their records with what is
// published, although nothing in them crosses: a person's level must not wait for the
// next crossing to take effect. They are as before where nothing was read. A new one waits for the budget, but rides with what moves
// anyway.
func (p *pass) mends(rides bool, before []latch.Mend) []latch.Mend {
	if p.git.tree == nil || p.git.moved {
		return before
	}
	stale := p.stale()
	if !rides && !policy.Affords(p.set.Guards, p.head.Budget, p.fleet.At) {
		stale = slices.DeleteFunc(stale, func(m latch.Mend) bool { return !slices.Contains(before, m) })
	}
	return stale
}

func namespaces(mends []latch.Mend) []string {
	var names []string
	for _, m := range mends {
		names = append(names, m.Namespace)
	}
	return names
}
