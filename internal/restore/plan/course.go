package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Pace bounds how fast a plan is carried out, so that schedulers and nodes
// cope. All of it must be above zero.
type Pace struct {
	PerMinute int32 // pods asked for in any minute, at most
	Unready   int32 // pods of a wave asked for and not ready, at any time
	// Patience is how long a wave that does not move is waited for.
	Patience time.Duration
}

// burst is the part of a minute's pods that may be asked for at once.
const burst = 6

// lowerings is how often a workload that somebody else lowers is asked for again.
const lowerings = 3

// A Course is how far a plan was carried out.
type Course struct {
	plan Plan
	pace Pace

	at      int // the wave under way
	begun   bool
	moved   time.Time             // when a pod of the wave was last asked for, or got ready
	ready   map[workload.ID]int32 // the most pods that were seen ready
	room    float64               // pods that may be asked for at once
	filled  time.Time             // when room was reckoned
	recent  []batch               // what was asked for within the last minute
	asked   map[workload.ID]int32
	lowered map[workload.ID]int
	excused map[workload.ID]int32 // unready pods that are waited for no more
	dropped map[workload.ID]bool
	left    map[workload.ID]Reason // why what lives now is not to be raised
}

// NewCourse begins a plan at an instant.
func NewCourse(p Plan, pace Pace, now time.Time) *Course {
	return &Course{
		plan: p, pace: pace, moved: now, filled: now, room: pace.most(), ready: map[workload.ID]int32{},
		asked: map[workload.ID]int32{}, lowered: map[workload.ID]int{}, excused: map[workload.ID]int32{},
		dropped: map[workload.ID]bool{}, left: map[workload.ID]Reason{},
	}
}

// A batch is pods that were asked for at an instant.
type batch struct {
	at   time.Time
	pods int64
}

func (p Pace) most() float64 { return max(1, float64(p.PerMinute)/burst) }

// A Step is what is due now.
type Step struct {
	Ask  []Raise // scales to write, each a part of what was planned
	Say  []string
	Done bool // nothing is left to do
}

// Drop gives a workload up: nothing more is asked of it.
func (c *Course) Drop(id workload.ID) { c.dropped[id] = true }

// Failed notes that what was asked of a workload was not done, or not all of it.
func (c *Course) Failed(id workload.ID) { delete(c.asked, id) }

// Next returns what is due, seen what lives.
func (c *Course) Next(live map[workload.ID]Workload, now time.Time) (s Step) {
	c.refill(now)
	for c.at < len(c.plan.Waves) {
		wave := c.plan.Waves[c.at]
		if !c.begun {
			c.begun, c.moved = true, now
			s.Say = append(s.Say, fmt.Sprintf("wave %d of %d, %s: %d to raise", c.at+1, len(c.plan.Waves), wave.Name, len(wave.Raises)))
		}
		raises := c.still(wave, live, &s)
		c.ask(raises, live, now, &s)
		if len(s.Ask) > 0 || !c.over(raises, live, now, &s) {
			return s
		}
		c.at, c.begun = c.at+1, false
	}
	s.Done = true
	return s
}

func (c *Course) refill(now time.Time) {
	if gone := now.Sub(c.filled); gone > 0 {
		c.room = min(c.pace.most(), c.room+gone.Minutes()*float64(c.pace.PerMinute))
		c.filled = now
	}
	c.recent = slices.DeleteFunc(c.recent, func(b batch) bool { return now.Sub(b.at) >= time.Minute })
}

// allows is how many pods the pace allows now: those that flowed in since it was
// last asked for some, as far as the last minute leaves room for them.
func (c *Course) allows() int64 {
	left := int64(c.pace.PerMinute)
	for _, b := range c.recent {
		left -= b.pods
	}
	return min(int64(c.room), left)
}

// still returns what the rules of the plan let be raised now, or have at its max,
// and says why they leave the rest, which is not waited for.
func (c *Course) still(wave Wave, live map[workload.ID]Workload, s *Step) (raises []Raise) {
	for _, planned := range wave.Raises {
		r, left := c.plan.Judge(planned, live)
		before := c.left[r.ID]
		c.left[r.ID] = left.Reason
		switch {
		case c.dropped[r.ID]:
		case left.Reason != "" && left.Reason != AtMax:
			delete(c.asked, r.ID)
			if left.Reason != before {
				s.Say = append(s.Say, r.ID.String()+": "+left.Text)
			}
		case c.gives(r, s):
		default:
			raises = append(raises, r)
		}
	}
	return raises
}

// gives reports whether a workload is given up: somebody lowers it each time it is
// raised.
func (c *Course) gives(r Raise, s *Step) bool {
	if r.From >= c.asked[r.ID] {
		return false
	}
	c.lowered[r.ID]++
	text := fmt.Sprintf("%s: gitlatch set %d replicas, and something else lowered them to %d", r.ID, c.asked[r.ID], r.From)
	if c.lowered[r.ID] > lowerings {
		c.dropped[r.ID] = true
		text += ". gitlatch no longer raises it. Check whether a GitOps tool applies its replicas"
	}
	c.asked[r.ID] = r.From
	s.Say = append(s.Say, text)
	return c.dropped[r.ID]
}

// ask asks for as many pods as the pace lets.
func (c *Course) ask(raises []Raise, live map[workload.ID]Workload, now time.Time, s *Step) {
	waiting := int64(0)
	for _, r := range raises {
		waiting += int64(c.waits(r, live[r.ID]))
	}
	for _, r := range raises {
		room := min(c.allows(), int64(c.pace.Unready)-waiting)
		if r.From >= r.To || room < 1 {
			continue
		}
		more := int32(min(room, int64(r.To-r.From)))
		c.room -= float64(more)
		c.recent = append(c.recent, batch{now, int64(more)})
		waiting += int64(more)
		r.To = r.From + more
		c.asked[r.ID], c.moved = r.To, now
		s.Ask = append(s.Ask, r)
	}
}

// waits counts the unready pods of a workload that are still waited for.
func (c *Course) waits(r Raise, w Workload) int32 {
	unready := max(0, min(w.Replicas, r.To)-w.Ready)
	c.excused[r.ID] = min(c.excused[r.ID], unready)
	return unready - c.excused[r.ID]
}

// over reports whether a wave has come to its end: all of it is ready, or
// patience with the rest has ended.
func (c *Course) over(raises []Raise, live map[workload.ID]Workload, now time.Time, s *Step) bool {
	var short []string
	unasked := false
	for _, r := range raises {
		w := live[r.ID]
		if w.Ready > c.ready[r.ID] {
			c.ready[r.ID], c.moved = w.Ready, now
		}
		if w.Ready >= r.To {
			continue
		}
		unasked = unasked || w.Replicas < r.To
		short = append(short, fmt.Sprintf("%s has %d of %d ready", r.ID.Short(), w.Ready, r.To))
	}
	switch {
	case len(short) == 0:
		return true
	case now.Sub(c.moved) < c.pace.Patience:
		return false
	}
	s.Say = append(s.Say, fmt.Sprintf("wave %d of %d made no progress for %s, and the restore continues without %s", c.at+1, len(c.plan.Waves), c.pace.Patience, term.Among(short)))
	for _, r := range raises {
		if w := live[r.ID]; w.Ready < r.To {
			c.excused[r.ID] = max(0, w.Replicas-w.Ready)
		}
	}
	c.moved = now
	return !unasked
}
