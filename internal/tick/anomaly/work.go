package anomaly

import (
	"math"
	"strconv"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/term"
)

const (
	// The usual work is the most pods for a unit of demand in the first day, with room
	// for a peak that comes later on the next day. From then on it follows by at most a
	// tenth a day, at a different hour each day.
	firstDay   = 26 * time.Hour
	usualEvery = 25 * time.Hour
	usualStep  = 1.1
	// An episode starts above three times the usual work and is over at twice. A deploy,
	// a cache or a season changes the work by less.
	usualTimes, usualStill = 3.0, 2.0
	// With fewer pods than this, rounding to whole pods hides the work.
	leastPods = 10
)

// workPerRequest matches far more pods than usual for the demand on the workload. A
// workload at its minimum has pods for no demand.
func (c *candidate) workPerRequest(was *latch.Episode) sight {
	s := c.scale
	if s.Demand == nil || c.watch.Usual == 0 || c.learning() {
		return unknown
	}
	if c.atMinimum() {
		return no
	}
	per, known := c.perUnit()
	if !known {
		return yes("it has %s and no demand", term.Count(s.Desired, "pod"))
	}
	limit := usualTimes
	if was != nil {
		limit = usualStill
	}
	if per <= limit*c.watch.Usual {
		return no
	}
	return yes("it has %s for a demand of %s: %s per unit instead of the usual %s", term.Count(s.Desired, "pod"), figure(*s.Demand), figure(per), figure(c.watch.Usual))
}

// perUnit returns the pods for a unit of demand; known is false without demand.
func (c *candidate) perUnit() (per float64, known bool) {
	if c.scale.Demand == nil || *c.scale.Demand <= 0 {
		return 0, false
	}
	return float64(c.scale.Desired) / *c.scale.Demand, true
}

// atMinimum reports whether the pods of the workload do not follow its demand.
func (c *candidate) atMinimum() bool {
	return c.scale.Desired < leastPods || c.scale.Desired <= c.scale.Min
}

// learning reports whether the first day of measured demand is not over.
func (c *candidate) learning() bool { return c.Now.Sub(c.watch.Measured) < firstDay }

// learn updates the usual work of the workload.
func (c *candidate) learn() {
	w := &c.watch
	per, known := c.perUnit()
	if !known || c.atMinimum() {
		return
	}
	if w.Measured.IsZero() {
		w.Measured = c.Now
	}
	switch {
	case c.learning():
		if per > w.Usual {
			w.Usual, w.Learned = upward(per), c.Now
		}
	case c.Now.Sub(w.Learned) < usualEvery:
	case per > w.Usual*usualStep:
		w.Usual, w.Learned = w.Usual*usualStep, c.Now
	case per < w.Usual/usualStep:
		w.Usual, w.Learned = w.Usual/usualStep, c.Now
	}
}

// upward rounds up to a power of usualStep, so that most samples change nothing.
func upward(x float64) float64 {
	return math.Pow(usualStep, math.Ceil(math.Log(x)/math.Log(usualStep)))
}

// figure prints a number with three significant digits, or all digits of a large one.
func figure(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
