package read

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// Repairs returns the repairs of a tree, without the declined ones. It returns nil if the tree
// was not read.
func Repairs(tree *checkpoint.Tree, declined []latch.Declined) []latch.Repair {
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

// Unexpired returns the declined repairs that have not expired.
func Unexpired(all []latch.Declined, now time.Time) []latch.Declined {
	return slices.DeleteFunc(slices.Clone(all), func(d latch.Declined) bool { return !now.Before(d.Until) })
}
