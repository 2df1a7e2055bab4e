package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	waves []Wave
	pace  Pace

	at      int // the wave under way
	begun   bool
	moved   time.Time // when a pod of the wave was last asked for, or got ready
	ready   int64     // pods of the wave
	room    float64   // pods that may be asked for at once
	filled  time.Time // when room was reckoned
	recent  []batch   // what was asked for within the last minute
	asked   map[workload.ID]int32
	lowered map[workload.ID]int
	excused map[workload.ID]int32 // unready pods that are waited for no more
	dropped map[workload.ID]bool
}

// NewCourse begins a plan at an instant.
func NewCourse(p Plan, pace Pace, now time.Time) *Course {
	return &Course{
		waves: p.Waves, pace: pace, moved: now, filled: now, room: pace.most(),
		asked: map[workload.ID]int32{}, lowered: map[workload.ID]int{}, excused: map[workload.ID]int32{},
		dropped: map[workload.ID]bool{},
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
	// Begin is the wave whose brakes are to be set before anything of it is
	// asked for; nil where none begins. Ask again at once.
	Begin *Wave
	Ask   []Ask // scales to write
	Say   []string
	Done  bool // nothing is left to do
}

// An Ask takes a workload to a count, in pods.
type Ask struct {
	ID       workload.ID
	From, To int32
}

// Drop gives a workload up: nothing more is asked of it.
func (c *Course) Drop(id workload.ID) { c.dropped[id] = true }

// Failed notes that what was asked of a workload was not done.
func (c *Course) Failed(id workload.ID) { delete(c.asked, id) }

// Next returns what is due, seen what lives.
func (c *Course) Next(live map[workload.ID]Workload, now time.Time) (s Step) {
	c.refill(now)
	for c.at < len(c.waves) {
		wave := &c.waves[c.at]
		if !c.begun {
			c.begun, c.moved, c.ready = true, now, 0
			s.Begin = wave
			s.Say = append(s.Say, fmt.Sprintf("wave %d of %d, %s: %d to raise", c.at+1, len(c.waves), wave.Name, len(wave.Raises)))
			return s
		}
		c.mind(wave, live, &s)
		c.ask(wave, live, now, &s)
		if len(s.Ask) > 0 || !c.over(wave, live, now, &s) {
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

// mind gives up what is gone, and what somebody lowers each time it is raised.
func (c *Course) mind(wave *Wave, live map[workload.ID]Workload, s *Step) {
	for _, r := range wave.Raises {
		w, lives := live[r.ID]
		switch {
		case c.dropped[r.ID]:
		case !lives || w.Terminating:
			c.dropped[r.ID] = true
			s.Say = append(s.Say, r.ID.String()+": is gone")
		case w.Replicas < c.asked[r.ID]:
			c.lowered[r.ID]++
			text := fmt.Sprintf("%s: was asked for %d, and something else lowered it to %d", r.ID, c.asked[r.ID], w.Replicas)
			if c.lowered[r.ID] > lowerings {
				c.dropped[r.ID] = true
				text += "; giving it up: does a GitOps tool apply its count?"
			}
			c.asked[r.ID] = w.Replicas
			s.Say = append(s.Say, text)
		}
	}
}

// ask asks for as many pods as the pace lets.
func (c *Course) ask(wave *Wave, live map[workload.ID]Workload, now time.Time, s *Step) {
	waiting := int64(0)
	for _, r := range wave.Raises {
		waiting += int64(c.waits(r, live[r.ID]))
	}
	for _, r := range wave.Raises {
		w := live[r.ID]
		room := min(c.allows(), int64(c.pace.Unready)-waiting)
		if c.dropped[r.ID] || w.Replicas >= r.To || room < 1 {
			continue
		}
		more := int32(min(room, int64(r.To-w.Replicas)))
		c.room -= float64(more)
		c.recent = append(c.recent, batch{now, int64(more)})
		waiting += int64(more)
		c.asked[r.ID], c.moved = w.Replicas+more, now
		s.Ask = append(s.Ask, Ask{r.ID, w.Replicas, w.Replicas + more})
	}
}

// waits counts the unready pods of a workload that are still waited for.
func (c *Course) waits(r Raise, w Workload) int32 {
	unready := max(0, min(w.Replicas, r.To)-w.Ready)
	c.excused[r.ID] = min(c.excused[r.ID], unready)
	if c.dropped[r.ID] {
		return 0
	}
	return unready - c.excused[r.ID]
}

// over reports whether a wave has come to its end: all of it is ready, or
// patience with the rest has ended.
func (c *Course) over(wave *Wave, live map[workload.ID]Workload, now time.Time, s *Step) bool {
	var ready int64
	short, unasked := []string(nil), false
	for _, r := range wave.Raises {
		w := live[r.ID]
		ready += int64(w.Ready)
		if c.dropped[r.ID] || w.Ready >= r.To {
			continue
		}
		unasked = unasked || w.Replicas < r.To
		short = append(short, fmt.Sprintf("%s has %d of %d ready", r.ID.Short(), w.Ready, r.To))
	}
	if ready > c.ready {
		c.ready, c.moved = ready, now
	}
	switch {
	case len(short) == 0:
		return true
	case now.Sub(c.moved) < c.pace.Patience:
		return false
	}
	const most = 5
	if more := len(short) - most; more > 0 {
		short = append(short[:most], fmt.Sprintf("%d more", more))
	}
	s.Say = append(s.Say, fmt.Sprintf("wave %d of %d stands still for %s, going on: %s", c.at+1, len(c.waves), c.pace.Patience, strings.Join(short, ", ")))
	for _, r := range wave.Raises {
		if w := live[r.ID]; !c.dropped[r.ID] && w.Ready < r.To {
			c.excused[r.ID] = max(0, w.Replicas-w.Ready)
		}
	}
	c.moved = now
	return !unasked
}
