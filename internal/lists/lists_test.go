package lists_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A document has an empty list for no elements, and never null.
func TestWhatIsMadeOfEachIsInOrderAndNeverNil(t *testing.T) {
	t.Parallel()
	double := func(n int) int { return 2 * n }
	if got := lists.Map([]int{3, 1, 2}, double); !slices.Equal(got, []int{6, 2, 4}) {
		t.Errorf("of each: %v", got)
	}
	if lists.Map(nil, double) == nil {
		t.Error("of nothing: nil")
	}
}

func TestCountIsOfWhatIsTrue(t *testing.T) {
	t.Parallel()
	if n := lists.Count([]int{3, 1, 2, 5, 4}, func(n int) bool { return n > 2 }); n != 3 {
		t.Errorf("counts %d", n)
	}
}

func TestWhereIsWhatIsTrueInOrder(t *testing.T) {
	t.Parallel()
	if got := lists.Filter([]int{3, 1, 2, 5, 4}, func(n int) bool { return n > 2 }); !slices.Equal(got, []int{3, 5, 4}) {
		t.Errorf("where: %v", got)
	}
}

func TestByKeyTheLastCounts(t *testing.T) {
	t.Parallel()
	by := lists.Index([]string{"one", "two", "three", "four"}, func(s string) int { return len(s) })
	if want := map[int]string{3: "two", 5: "three", 4: "four"}; !maps.Equal(by, want) {
		t.Errorf("by length %v, want %v", by, want)
	}
}
