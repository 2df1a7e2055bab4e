package tick

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// stale returns the namespaces whose Component differs from their entries, or whose checkpoint
// file has values without quotes. It leaves out declined repairs, and namespaces in waiting,
// because their removal may be a mistake. It returns nil if the tree was not read.
func stale(tree *checkpoint.Tree, s latch.State, now time.Time) []latch.Repair {
	if tree == nil {
		return nil
	}
	wait := waiting(s.Latches, now)
	return slices.DeleteFunc(staleIn(*tree), func(m latch.Repair) bool {
		declined := slices.ContainsFunc(s.Head.Declined, func(d latch.Declined) bool { return d.Repair == m })
		return wait[m.Namespace] || declined
	})
}

// staleIn returns the stale namespaces of a tree, sorted.
func staleIn(tree checkpoint.Tree) []latch.Repair {
	names := slices.Concat(tree.Stale(), tree.Unquoted())
	slices.Sort(names)
	return lists.Map(slices.Compact(names), func(namespace string) latch.Repair { return repairOf(tree, namespace) })
}

// repairOf returns the repair of a namespace: a hash of the Component's new bytes.
func repairOf(tree checkpoint.Tree, namespace string) latch.Repair {
	sum := sha256.Sum256(tree.Component(namespace))
	return latch.Repair{Namespace: namespace, Component: hex.EncodeToString(sum[:8])}
}

// listRepair returns the repair after which the site's kustomization leaves out the given
// namespaces.
func listRepair(unlisted []string) latch.Repair {
	sum := sha256.Sum256([]byte(strings.Join(unlisted, "\n")))
	return latch.Repair{Namespace: latch.RepairOfList, Component: hex.EncodeToString(sum[:8])}
}

// ofList reports whether a repair is one of the site's kustomization.
func ofList(m latch.Repair) bool { return m.Namespace == latch.RepairOfList }

// repaired returns the repairs that the tree contains: their namespaces are not stale, and
// have the content that the hash of the repair names. If merged is true, users also merged
// other changes of the proposal, which change the hash, so only staleness counts.
func repaired(tree checkpoint.Tree, repairs []latch.Repair, merged bool) []latch.Repair {
	stale := namespaces(staleIn(tree))
	return lists.Filter(repairs, func(m latch.Repair) bool {
		if ofList(m) {
			return !tree.Dangling() && m == listRepair(tree.Unlisted())
		}
		return !slices.Contains(stale, m.Namespace) && (merged || repairOf(tree, m.Namespace) == m)
	})
}

// declined adds repairs to the declined ones, until an instant. gitlatch does not repair
// their namespaces until then, unless their checkpoint files change.
func declined(before []latch.Declined, repairs []latch.Repair, until time.Time) []latch.Declined {
	all := slices.DeleteFunc(slices.Clone(before), func(d latch.Declined) bool { return slices.Contains(repairs, d.Repair) })
	all = append(all, lists.Map(repairs, func(m latch.Repair) latch.Declined { return latch.Declined{Repair: m, Until: until} })...)
	slices.SortStableFunc(all, func(a, b latch.Declined) int { return strings.Compare(a.Namespace, b.Namespace) })
	return all
}

func namespaces(repairs []latch.Repair) []string {
	return lists.Map(repairs, func(m latch.Repair) string { return m.Namespace })
}
