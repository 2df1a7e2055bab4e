package backtest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/term"
)

// better compares two results by each of the three aims: fewer commits, better coverage
// at worst, less waste. A figure is negative if a is better.
func better(a, b Result) [3]int {
	return [3]int{
		cmp.Compare(a.CommitsPerDay, b.CommitsPerDay),
		cmp.Compare(b.Worst.Share, a.Worst.Share),
		cmp.Compare(a.Waste, b.Waste),
	}
}

// dominates reports whether a is not worse than b in any aim, and better in one.
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

// Front reports for each result whether it is on the Pareto front: every other result
// that is better in commits a day, worst coverage or waste is worse in another one of
// them. If results are equal, only the first is on the front.
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

// Wants are the conditions for a recommendation.
type Wants struct {
	Coverage float64 `json:"coverage"`      // minimum of the worst coverage, from 0 to 1
	Commits  float64 `json:"commitsPerDay"` // maximum number
}

// DefaultWants are the conditions if a user sets none. 95 % of the desired replicas that
// lasted are covered, and there are few enough commits for a user to read the log.
func DefaultWants() Wants { return Wants{Coverage: 0.95, Commits: 4} }

// Recommend returns the index of the best result, and the rule that chose it, as a
// sentence. It takes the least waste among results that meet both conditions. If there
// are no such results, it takes the fewest commits among results with enough coverage. If
// no result has enough coverage, it takes the best coverage. Ties go to the least waste,
// the fewest commits, the best worst coverage and then the first result.
//
// It returns -1 if no candidate has a level, or if no desired replicas lasted long enough
// to measure the worst coverage.
func (w Wants) Recommend(results []Result) (best int, why string) {
	const waste, commits, coverage = 2, 0, 1
	covers := func(r Result) bool { return r.Declared > 0 && r.Worst.Share >= w.Coverage }
	quiet := func(r Result) bool { return covers(r) && r.CommitsPerDay <= w.Commits }
	judged := func(r Result) bool { return r.Declared > 0 && r.Worst.Measured() }
	bound := "a worst-case coverage of at least " + term.Percent(w.Coverage)
	for _, rule := range []struct {
		in   func(Result) bool
		aims [3]int
		why  string
	}{
		{quiet, [3]int{waste, commits, coverage}, fmt.Sprintf("the least waste of all policies with %s and at most %.4g commits per day", bound, w.Commits)},
		{covers, [3]int{commits, waste, coverage}, fmt.Sprintf("the fewest commits of all policies with %s. All of these policies need more than %.4g commits per day", bound, w.Commits)},
		{judged, [3]int{coverage, waste, commits}, fmt.Sprintf("the best coverage in the worst case. No policy has %s", bound)},
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

// before reports whether a is better than b. aims has the most important aim first.
func before(a, b Result, aims [3]int) bool {
	by := better(a, b)
	return cmp.Or(by[aims[0]], by[aims[1]], by[aims[2]]) < 0
}
