package backtest

import (
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
)

// A Sweep is a grid of policies: each series with each way of rounding, each hold
// on the way down and each margin.
type Sweep struct {
	Series   []policy.Series
	Rounds   []policy.Rounding
	HoldDown []time.Duration
	Margins  []float64
}

// DefaultSweep is the grid for those who do not say: the named series, rounded up
// and to the nearest, held not at all, beyond a day and beyond a week, with
// margins from none to what the closest series has room for.
func DefaultSweep() Sweep {
	s := Sweep{
		Rounds:   []policy.Rounding{policy.RoundUp, policy.RoundNearest},
		HoldDown: []time.Duration{0, 26 * time.Hour, 8 * 24 * time.Hour},
		Margins:  []float64{0, 0.1, 0.15},
	}
	for _, name := range policy.SeriesNames() {
		series, err := policy.ParseSeries(name)
		if err != nil {
			panic(err) // a name of its own
		}
		s.Series = append(s.Series, series)
	}
	return s
}

// Over returns the candidates of the grid: the set with its default policy
// changed, its rules and all else as they are. Margins that a series has no room
// for are left out.
func (s Sweep) Over(set policy.Set) []Candidate {
	var all []Candidate
	for _, series := range s.Series {
		for _, round := range s.Rounds {
			for _, hold := range s.HoldDown {
				for _, margin := range s.Margins {
					c := Candidate{fmt.Sprintf("%s %s %s %.3g%%", series, round, spell(hold), 100*margin), set}
					p := &c.Set.Default
					p.Name, p.Series, p.Round, p.HoldDown, p.Margin = "default", series, round, hold, margin
					if p.Problems() == nil {
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

// spell writes a hold, whole days as days: "0h", "26h", "8d".
func spell(hold time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case hold == 0:
		return "0h"
	case hold%day == 0:
		return fmt.Sprintf("%dd", hold/day)
	}
	return policy.Span(hold)
}
