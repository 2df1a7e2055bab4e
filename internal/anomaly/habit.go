package anomaly

import (
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/latch"
)

const (
	// past is how far back the scales of the recent past are looked at: what
	// happens within it happens at once for whoever gets up for it.
	past = 30 * time.Minute
	// A fall is to a quarter, two halvings, from at least 8 pods: a campaign that
	// ends, or a faster version, halves a workload. It is over above a half.
	fallTo, fallOver = 4, 2
	leastFall        = 8
	// acquainted is how long a workload is watched before its falls are out of the
	// ordinary: longer than a day with jitter, as for lowering.
	acquainted = 26 * time.Hour
	// A habit is two falls in the past week and a day, or one at this time of the
	// day, give or take an hour: a batch, an office, a night.
	habit       = 8 * 24 * time.Hour
	habitTimes  = 2
	habitJitter = time.Hour
	// A turn is from growing to shrinking, or back, by half of the lower count and
	// at least one step of an autoscaler.
	turnBy = 1.5
	// Eight turns in two hours are four full swings, one each half hour. A job that
	// runs each hour turns four times.
	flapWithin           = 2 * time.Hour
	flapTurns, flapStill = 8, 4
	// Usual work is the most that was seen in the first day, and moves from then
	// on by at most a tenth a day, whichever hour of it is looked at.
	usualEvery = 25 * time.Hour
	usualStep  = 1.1
)

// learn notes what the workload does at this look of that which may be a habit
// of it.
func (c *candidate) learn() {
	low, high := c.window(c.Now.Add(-past))
	if c.Whole {
		c.noteFall(high)
	}
	c.noteTurn(low, high)
	c.noteWork()
}

// window is the least and the most that the workload was asked to have since an
// instant, now among it; 0 is unknown.
func (c *candidate) window(since time.Time) (low, high int32) {
	low, high = c.latch.Recent.Range(since)
	if low == latch.Unknown {
		low = c.scale.Desired
	}
	return min(low, c.scale.Desired), max(high, c.scale.Desired)
}

func (c *candidate) noteFall(high int32) {
	falls := c.watch.Falls
	if high < leastFall || c.scale.Desired*fallTo > high || len(falls) > 0 && c.Now.Sub(falls[len(falls)-1]) < past {
		return
	}
	c.fell = c.Now.Sub(c.watch.Since) >= acquainted && !habitual(falls, c.Now)
	if c.Dropped { // with many others, which is no habit of its own
		return
	}
	c.watch.Falls = append(slices.Clone(falls[max(0, len(falls)-habitTimes):]), c.Now)
}

// habitual reports whether a workload that fell at those instants may be
// expected to do it again at this one.
func habitual(falls []time.Time, now time.Time) bool {
	const day = 24 * time.Hour
	recent := 0
	for _, fall := range falls {
		ago := now.Sub(fall)
		if ago > habit {
			continue
		}
		recent++
		if off := ago % day; ago > habitJitter && min(off, day-off) <= habitJitter {
			return true
		}
	}
	return recent >= habitTimes
}

// collapse sees a workload that fell, and has not come back. What lasts for
// longer than a day, in which its checkpoint is lowered, is how it is now.
func (c *candidate) collapse(was *latch.Episode) sight {
	s := c.scale
	_, high := c.window(c.Now.Add(-past))
	if was != nil {
		high = was.From
	}
	said := yes("it lost most of its scale at once: from %d pods to %d, %s", high, s.Desired, c.span(was)).since(high)
	switch {
	case c.Dropped && was != nil: // it may come back with the others
		return sight{seen: unknown}
	case s.Desired == 0, // which is another thing
		was == nil && !c.fell,
		was != nil && (s.Desired*fallOver > was.From || c.Now.Sub(was.Since) >= acquainted):
		return sight{seen: nothing}
	case was != nil && s.Desired*fallTo > was.From:
		said.seen = less
	}
	return said
}

// noteTurn notes where a workload that shrank begins to grow, or one that grew
// to shrink. Extremes count since the turn before.
func (c *candidate) noteTurn(low, high int32) {
	w, now := &c.watch, c.scale.Desired
	if n := len(w.Turns); n > 0 && w.Turns[n-1].After(c.Now.Add(-past)) {
		low, high = c.window(w.Turns[n-1])
	}
	up := now-low >= leastStep && float64(now) >= turnBy*float64(low)
	down := high-now >= leastStep && float64(high) >= turnBy*float64(now)
	first := len(w.Turns) == 0
	if up && (first || !w.Rising) || down && !up && (first || w.Rising) {
		w.Rising = up
		w.Turns = append(slices.Clone(w.Turns[max(0, len(w.Turns)-flapTurns+1):]), c.Now)
	}
}

// flaps sees a workload that has turned often.
func (c *candidate) flaps(was *latch.Episode) sight {
	turns := each.Count(c.watch.Turns, func(at time.Time) bool { return c.Now.Sub(at) < flapWithin })
	low, high := c.window(c.Now.Add(-past))
	said := yes("it turned from growing to shrinking or back %d times in %s; in the last half hour it had %d to %d pods", turns, span(flapWithin), low, high)
	switch {
	case turns >= flapTurns:
		return said
	case turns >= flapStill:
		said.seen = less
		return said
	}
	return sight{seen: nothing}
}

// perUnit is how many pods there are for a unit of demand; known is false where
// there is none.
func (c *candidate) perUnit() (per float64, known bool) {
	if c.scale.Demand == nil || *c.scale.Demand <= 0 {
		return 0, false
	}
	return float64(c.scale.Desired) / *c.scale.Demand, true
}

// learning reports whether the first day of measured demand is not yet over.
func (c *candidate) learning() bool { return c.Now.Sub(c.watch.Measured) < acquainted }

// noteWork learns what pods for a unit of demand are usual. What stands at its
// floor teaches nothing.
func (c *candidate) noteWork() {
	w := &c.watch
	per, known := c.perUnit()
	if !known || c.scale.Desired <= c.scale.Min || c.scale.Desired < leastPods {
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

// upward rounds up to a step of a tenth, so that what is usual is learned in a
// few steps and not anew at each look.
func upward(x float64) float64 {
	return math.Pow(usualStep, math.Ceil(math.Log(x)/math.Log(usualStep)))
}
