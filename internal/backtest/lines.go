package backtest

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Point is a count of pods from an instant on.
type Point struct {
	At   time.Time
	Pods int32
}

// Lines are what one workload needed, and the levels that were declared of it;
// nothing is declared at 0.
type Lines struct{ Need, Level []Point }

// Draw runs a candidate and returns the lines of one workload. Of the need only
// the highest of each interval is kept, so that a long past takes no room; where
// the workload was not observed it is 0.
func Draw(past *Past, c Candidate, id workload.ID, interval time.Duration) Lines {
	var l Lines
	level, last := int32(0), time.Time{}
	gap := 3 * c.Set.Guards.Period
	Try(past, c, Options{Watch: func(of workload.ID, at time.Time, need, declared int32) {
		if of != id {
			return
		}
		if declared != level {
			level = declared
			l.Level = append(l.Level, Point{at, declared})
		}
		if !last.IsZero() && at.Sub(last) > gap && at.Sub(last) > 2*interval {
			l.Need = append(l.Need, Point{last.Add(gap), 0})
		}
		last = at
		at = at.Truncate(interval)
		n := len(l.Need) - 1
		switch {
		case n < 0 || l.Need[n].At != at:
			l.Need = append(l.Need, Point{at, need})
		default:
			l.Need[n].Pods = max(l.Need[n].Pods, need)
		}
	}})
	return l
}

// Largest is the workload that needed most at any instant, the first of those
// that did; ok is false in an empty past.
func (p *Past) Largest() (id workload.ID, ok bool) {
	all := p.ByPeak()
	if len(all) == 0 {
		return workload.ID{}, false
	}
	return all[0], true
}
