package backtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/backtest"
)

// came returns a result of ten days.
func came(commits int, worst, waste float64) backtest.Result {
	return backtest.Result{CommitsPerDay: float64(commits) / 10, Worst: backtest.Worst{Share: worst, Need: 1}, Waste: waste, Declared: 1}
}

// nothing is the result of a candidate without levels. It has no commits and no waste.
var nothing = backtest.Result{}

// short returns the result of a past in which no desired replicas lasted.
func short(waste float64) backtest.Result {
	return backtest.Result{Waste: waste, Declared: 1}
}

func TestTheFront(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		results []backtest.Result
		want    []bool
	}{
		{"one is on it", []backtest.Result{came(10, 1, 10)}, []bool{true}},
		{"each is best in something", []backtest.Result{came(10, 0.9, 20), came(20, 1, 20), came(20, 0.9, 10)}, []bool{true, true, true}},
		{"worse in one and better in none", []backtest.Result{came(10, 1, 11), came(10, 1, 10)}, []bool{false, true}},
		{"the first of those that came to the same", []backtest.Result{came(10, 1, 10), came(10, 1, 10), came(10, 1, 10)}, []bool{true, false, false}},
		{"the same, and beaten", []backtest.Result{came(10, 1, 10), came(10, 1, 10), came(9, 1, 10)}, []bool{false, false, true}},
		{"what declared nothing is not on it and beats nothing", []backtest.Result{nothing, came(10, 0, 10), nothing}, []bool{false, true, false}},
		{"none", nil, []bool{}},
	} {
		if got := backtest.Front(c.results); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTheRecommendation(t *testing.T) {
	t.Parallel()
	wants := backtest.Wants{Coverage: 0.95, Commits: 4}
	for _, c := range []struct {
		name    string
		results []backtest.Result
		want    int
		why     string
	}{
		{"the least waste of those within both", []backtest.Result{came(10, 1, 20), came(30, 0.96, 10), came(10, 0.9, 1), came(50, 1, 1)}, 1, "the least waste"},
		{"what is wanted to the letter is enough", []backtest.Result{came(10, 1, 20), came(40, 0.95, 10)}, 1, "the least waste"},
		{"then the fewest commits", []backtest.Result{came(20, 1, 10), came(10, 0.95, 10), came(10, 0.9, 10)}, 1, "the least waste"},
		{"then the best coverage", []backtest.Result{came(10, 0.96, 10), came(10, 0.97, 10)}, 1, "the least waste"},
		{"then the first", []backtest.Result{came(10, 1, 10), came(10, 1, 10)}, 0, "the least waste"},
		{"the fewest commits where none is quiet", []backtest.Result{came(60, 1, 10), came(50, 1, 20), came(10, 0.9, 1)}, 1, "the fewest commits"},
		{"then the least waste", []backtest.Result{came(50, 1, 20), came(50, 0.96, 10)}, 1, "the fewest commits"},
		{"the best coverage where none is enough", []backtest.Result{came(10, 0.8, 10), came(90, 0.9, 90), nothing}, 1, "the best coverage in the worst case"},
		{"then the least waste of these", []backtest.Result{came(10, 0.9, 20), came(90, 0.9, 10)}, 1, "the best coverage in the worst case"},
		{"what no need lasted under is not judged", []backtest.Result{short(1), came(90, 0.5, 90), short(0)}, 1, "the best coverage in the worst case"},
		{"none is judged", []backtest.Result{nothing, short(1), short(0)}, -1, "no replica count lasted long enough to judge"},
		{"none", []backtest.Result{nothing}, -1, "no policy wrote a level"},
	} {
		if got, why := wants.Recommend(c.results); got != c.want || !strings.HasPrefix(why, c.why) {
			t.Errorf("%s: %d, %s; want %d", c.name, got, why, c.want)
		}
	}
}
