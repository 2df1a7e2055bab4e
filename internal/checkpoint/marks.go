package checkpoint

import (
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Marks counts the live workloads with a level that were created with a level, as the mark of
// the admission policy shows. The mark shows that the policy acted, and the replicas show the
// result. The zero value is a cluster without such workloads.
type Marks struct {
	Of   int `json:"of"`   // live workloads with a level in git
	With int `json:"with"` // of them, those with a mark
	// Without are the others, sorted. Each was created before its level was in the cluster, or
	// a tool has replaced the complete object since.
	Without []workload.ID `json:"without"`
}

// Marks returns the marks of samples.
func (t Tree) Marks(samples []workload.Sample) Marks {
	m := Marks{Without: []workload.ID{}}
	entries := t.Entries()
	for _, s := range samples {
		if entries[s.ID].Replicas == 0 {
			continue
		}
		m.Of++
		if s.Mark == "" {
			m.Without = append(m.Without, s.ID)
			continue
		}
		m.With++
	}
	slices.SortFunc(m.Without, workload.Compare)
	return m
}

// String returns the numbers, and the command if a mark is missing.
func (m Marks) String() string {
	text := fmt.Sprintf("%d of %d workloads were created with their level", m.With, m.Of)
	if m.Of == 1 {
		text = fmt.Sprintf("%d of 1 workload was created with its level", m.With)
	}
	if len(m.Without) > 0 {
		text += "; run \"gitlatch restore\""
	}
	return text
}
