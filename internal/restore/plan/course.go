package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Pace limits how fast a plan is carried out, so that schedulers and nodes can follow.
// All fields must be above zero.
type Pace struct {
	PerMinute int32 // highest number of pods to request in any minute
	Unready   int32 // highest number of requested pods of a wave that are not ready, at any time
	// Patience is the time to wait for a wave that makes no progress.
	Patience time.Duration
}

// burst is the part of a minute's pods that may be requested at once: one sixth.
const burst = 6

// lowerings is the number of times that a workload is raised again after something else
// lowered it.
const lowerings = 3

// A Course is the progress of a plan.
type Course struct {
	plan Plan
	pace Pace

	at      int // the present wave
	begun   bool
	moved   time.Time             // when the last pod of the wave was requested or became ready
	ready   map[workload.ID]int32 // the most ready pods so far
	room    float64               // pods that may be requested at once
	filled  time.Time             // when room was updated
	recent  []batch               // requests of the last minute
	asked   map[workload.ID]int32
	lowered map[workload.ID]int
	excused map[workload.ID]int32 // unready pods that the wave does not wait for any more
	dropped map[workload.ID]bool
	refused map[workload.ID]error  // why the last raise failed; Next requests it again beside the waves
	left    map[workload.ID]Reason // why the rules of the plan forbid a raise now
}

// NewCourse starts a plan at now.
func NewCourse(p Plan, pace Pace, now time.Time) *Course {
	return &Course{
		plan: p, pace: pace, moved: now, filled: now, room: pace.most(), ready: map[workload.ID]int32{},
		asked: map[workload.ID]int32{}, lowered: map[workload.ID]int{}, excused: map[workload.ID]int32{},
		dropped: map[workload.ID]bool{}, refused: map[workload.ID]error{}, left: map[workload.ID]Reason{},
	}
}

// A batch is a number of pods that were requested at one time.
type batch struct {
	id   workload.ID
	at   time.Time
	pods int64
}

func (p Pace) most() float64 { return max(1, float64(p.PerMinute)/burst) }

// A Step is the next action of a course.
type Step struct {
	Ask  []Raise // scales to write; each may be a part of the planned raise
	Say  []string
	Done bool // the plan is finished
}

// Add adds the raises of a later plan, and returns all waves of the course. It adds no
// raise of a workload that was dropped or refused, or that the present wave or a later one
// has. A raise whose wave has passed joins the present wave.
func (c *Course) Add(p Plan) []Wave {
	ahead := map[workload.ID]bool{}
	for _, wave := range c.plan.Waves[c.at:] {
		for _, r := range wave.Raises {
			ahead[r.ID] = true
		}
	}
	for _, late := range p.Waves {
		late.Raises = lists.Filter(late.Raises, func(r Raise) bool { return !ahead[r.ID] && !c.dropped[r.ID] && c.refused[r.ID] == nil })
		if len(late.Raises) == 0 {
			continue
		}
		i, there := slices.BinarySearchFunc(c.plan.Waves[c.at:], late, func(a, b Wave) int { return cmp.Compare(a.rank, b.rank) })
		i += c.at
		if !there && (i > c.at || i == len(c.plan.Waves)) {
			c.plan.Waves = slices.Insert(c.plan.Waves, i, late)
			continue
		}
		joined := &c.plan.Waves[i]
		joined.Raises = append(joined.Raises, late.Raises...)
		slices.SortFunc(joined.Raises, byID)
	}
	return c.plan.Waves
}

// Drop gives a workload up. The course requests no more pods for it.
func (c *Course) Drop(id workload.ID) { c.dropped[id] = true }

// Resume takes a dropped workload up again.
func (c *Course) Resume(id workload.ID) { delete(c.dropped, id) }

// Dropped reports whether a workload was given up.
func (c *Course) Dropped(id workload.ID) bool { return c.dropped[id] }

// Failed notes that a requested raise was not done, or only in part.
func (c *Course) Failed(id workload.ID) { delete(c.asked, id) }

// Refuse notes that a requested raise failed, and why. The waves continue without the
// workload. Each step requests its pods again, at the pace of the course.
func (c *Course) Refuse(id workload.ID, why error) {
	c.refused[id] = why
	for i, b := range slices.Backward(c.recent) {
		if b.id == id {
			c.room += float64(b.pods) // the request created no pods
			c.recent = slices.Delete(c.recent, i, i+1)
			return
		}
	}
}

// Accept notes that a raise was done. The next Add takes the rest of it into the waves.
func (c *Course) Accept(id workload.ID) { delete(c.refused, id) }

// Refused returns why the last raise of each refused workload failed.
func (c *Course) Refused() map[workload.ID]error { return maps.Clone(c.refused) }

// Next returns the next step, given the live workloads. It also requests refused raises
// after the end of the last wave.
func (c *Course) Next(live map[workload.ID]Workload, now time.Time) Step {
	c.refill(now)
	s := c.next(live, now)
	c.again(live, now, &s)
	return s
}

// again requests the refused raises that the rules still allow.
func (c *Course) again(live map[workload.ID]Workload, now time.Time, s *Step) {
	var raises []Raise
	for _, id := range slices.SortedFunc(maps.Keys(c.refused), workload.Compare) {
		r, _ := c.plan.Judge(Raise{ID: id, To: math.MaxInt32}, live)
		switch {
		case r.To <= r.From:
			delete(c.refused, id)
		case !c.dropped[id]:
			raises = append(raises, r)
		}
	}
	moved := c.moved
	c.ask(raises, live, now, s)
	c.moved = moved // the wave made no progress
}

// next returns the next step of the waves.
func (c *Course) next(live map[workload.ID]Workload, now time.Time) (s Step) {
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

// allows returns the number of pods that the pace allows now. The allowance grows with
// time since the last request, and a full minute never has more than PerMinute pods.
func (c *Course) allows() int64 {
	left := int64(c.pace.PerMinute)
	for _, b := range c.recent {
		left -= b.pods
	}
	return min(int64(c.room), left)
}

// still returns the raises of a wave that the rules still allow, including workloads at
// their maximum. It reports the reason for the rest. The wave does not wait for the rest.
func (c *Course) still(wave Wave, live map[workload.ID]Workload, s *Step) (raises []Raise) {
	for _, planned := range wave.Raises {
		r, left := c.plan.Judge(planned, live)
		before := c.left[r.ID]
		c.left[r.ID] = left.Reason
		switch {
		case c.dropped[r.ID] || c.refused[r.ID] != nil:
		case left.Skips():
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

// gives reports whether the course gives a workload up, because something else lowers it
// after each raise.
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

// ask requests pods, up to the limits of the pace.
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
		c.recent = append(c.recent, batch{r.ID, now, int64(more)})
		waiting += int64(more)
		r.To = r.From + more
		c.asked[r.ID], c.moved = r.To, now
		s.Ask = append(s.Ask, r)
	}
}

// waits returns the number of unready pods of a workload that the wave waits for.
func (c *Course) waits(r Raise, w Workload) int32 {
	unready := max(0, min(w.Replicas, r.To)-w.Ready)
	c.excused[r.ID] = min(c.excused[r.ID], unready)
	return unready - c.excused[r.ID]
}

// over reports whether a wave has ended: every pod is ready, or the wave has made no
// progress for too long.
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
