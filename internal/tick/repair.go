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

// stale returns the repairs of a tree, without the declined ones. It returns nil if the tree
// was not read.
func stale(tree *checkpoint.Tree, declined []latch.Declined) []latch.Repair {
	if tree == nil {
		return nil
	}
	all := lists.Map(tree.Stale(), func(namespace string) latch.Repair { return repairOf(*tree, namespace) })
	return slices.DeleteFunc(all, func(m latch.Repair) bool {
		return slices.ContainsFunc(declined, func(d latch.Declined) bool { return d.Repair == m })
	})
}

// repairOf returns the repair of a namespace.
func repairOf(tree checkpoint.Tree, namespace string) latch.Repair {
	sum := sha256.Sum256(tree.Records[namespace].Format())
	return latch.Repair{Namespace: namespace, Text: hex.EncodeToString(sum[:8])}
}

// repaired returns the repairs that the tree contains: their namespaces are not stale, and
// have the content that the hash of the repair names. If merged is true, users also merged
// other changes of the proposal, which change the hash, so only staleness counts.
func repaired(tree checkpoint.Tree, repairs []latch.Repair, merged bool) []latch.Repair {
	stale := tree.Stale()
	return lists.Filter(repairs, func(m latch.Repair) bool {
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
