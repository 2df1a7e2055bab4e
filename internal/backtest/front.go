package backtest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/term"
)

// better orders two results by each of the three aims, negative where a is the
// better one: fewer commits, more of the need covered at worst, less waste.
func better(a, b Result) [3]int {
	return [3]int{
		cmp.Compare(a.CommitsPerDay, b.CommitsPerDay),
		cmp.Compare(b.Worst.Share, a.Worst.Share),
		cmp.Compare(a.Waste, b.Waste),
	}
}

// dominates reports whether a is no worse than b in any aim, and better in one.
func dominates(a, b Result) bool {
	some := false
	for _, c := range better(a, b) {
		if c > 0 {
			return false
		}
		some = some || c < 0
	}
	return some
}

// Front says of each result whether it is on the Pareto front: no other is better
// in one of commits a day, worst coverage and waste without being worse in
// another. Of several that come to the same the first is.
func Front(results []Result) []bool {
	front := make([]bool, len(results))
	for i, r := range results {
		front[i] = r.Declared > 0
		for j, other := range results {
			same := j < i && better(other, r) == [3]int{}
			if other.Declared > 0 && (same || dominates(other, r)) {
				front[i] = false
				break
			}
		}
	}
	return front
}

// Wants are what a recommendation must keep to.
type Wants struct {
	Coverage float64 `json:"coverage"`      // at worst, at least; a part of the need
	Commits  float64 `json:"commitsPerDay"` // at most
}

// DefaultWants are those of people who do not say: a need that lasted is covered
// but for a twentieth, and a person can read the log.
func DefaultWants() Wants { return Wants{Coverage: 0.95, Commits: 4} }

// Recommend returns which result is to be taken, and by which rule, as a
// sentence: of those that cover enough at worst with few enough commits the one
// with the least waste; where none does both, of those that cover enough the one
// with the fewest commits; where none does, the one that covers most. Ties go to
// the least waste, the fewest commits, the best worst coverage and then the first.
// It is -1 where no policy wrote a level, or no need lasted long enough to
// tell what covers it.
func (w Wants) Recommend(results []Result) (best int, why string) {
	const waste, commits, coverage = 2, 0, 1
	covers := func(r Result) bool { return r.Declared > 0 && r.Worst.Share >= w.Coverage }
	quiet := func(r Result) bool { return covers(r) && r.CommitsPerDay <= w.Commits }
	judged := func(r Result) bool { return r.Declared > 0 && r.Worst.Measured() }
	bound := term.Percent(w.Coverage) + " of each replica count that lasted"
	for _, rule := range []struct {
		in   func(Result) bool
		aims [3]int
		why  string
	}{
		{quiet, [3]int{waste, commits, coverage}, fmt.Sprintf("the least waste of the policies that cover %s with at most %.4g commits per day", bound, w.Commits)},
		{covers, [3]int{commits, waste, coverage}, fmt.Sprintf("the fewest commits of the policies that cover %s. No policy does with %.4g commits per day", bound, w.Commits)},
		{judged, [3]int{coverage, waste, commits}, fmt.Sprintf("the best worst coverage. No policy covers %s", bound)},
	} {
		best = slices.IndexFunc(results, rule.in)
		for i, r := range results {
			if rule.in(r) && before(r, results[best], rule.aims) {
				best = i
			}
		}
		if best >= 0 {
			return best, rule.why
		}
	}
	if slices.ContainsFunc(results, func(r Result) bool { return r.Declared > 0 }) {
		return -1, "no replica count lasted long enough to judge"
	}
	return -1, "no policy wrote a level"
}

// before reports whether a comes before b by the aims, the most important first.
func before(a, b Result, aims [3]int) bool {
	by := better(a, b)
	return cmp.Or(by[aims[0]], by[aims[1]], by[aims[2]]) < 0
}
