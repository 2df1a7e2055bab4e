package tick_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	site   = story.Site
	period = story.Period
)

var (
	morning   = story.Morning
	errKilled = story.ErrKilled
)

// A world is a story's world for one test.
type world struct{ *story.World }

// newWorld returns a world in which an absent workload retires after two hours.
func newWorld(files map[string]string) *world {
	w := &world{story.NewWorld(files)}
	w.Guards.RetireAfter = 2 * time.Hour
	return w
}

func id(text string) workload.ID { return story.ID(text) }

// entries returns the present entries in git, as a fresh reader would see them.
func (w *world) entries(t testing.TB) map[workload.ID]checkpoint.Entry {
	t.Helper()
	tree, err := w.Tree()
	if err != nil {
		t.Fatal(err)
	}
	return tree.Entries()
}

// latches returns the present latches in the state.
func (w *world) latches(t testing.TB) map[workload.ID]latch.Latch {
	t.Helper()
	_, latches, err := w.State()
	if err != nil {
		t.Fatal(err)
	}
	return latches
}

func (w *world) head(t testing.TB) latch.Head {
	t.Helper()
	head, _, err := w.State()
	if err != nil {
		t.Fatal(err)
	}
	return head
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func sortedLatches(m map[workload.ID]latch.Latch) []latch.Latch {
	return slices.SortedFunc(maps.Values(m), func(a, b latch.Latch) int { return workload.Compare(a.ID, b.ID) })
}
