package rollouts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

var epoch = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// A revision is one template of a workload and its pods.
type revision struct {
	hash     string
	since    int     // the minute in which it was first asked for
	ready    int32   // available pods
	asked    int32   // pods asked for
	starting []int   // the minutes in which those not available yet become so
	stuck    float64 // the share of all pods that it never gets beyond; 1 is none
	takes    int     // minutes until a pod is available
}

// A life is that of one workload, minute by minute. What happens is drawn as it goes.
type life struct {
	r      *rand.Rand
	judged bool
	minute int

	pods      int32
	batch     int32
	revisions []*revision // by age
	target    *revision
	flying    bool
	began     int // the minute in which the flight did
	rollouts  int

	halted   string
	creation int // until when no pod can be created
	came     int // when a pod last came, or the target changed
	crashed  int // since when over half of the target's pods are gone; 0 is not so
	plan     []event
	next     int // when the next rollout begins
	blind    int // until when nothing is read
	gap      int // until when nothing looks
}

// An event happens in a minute of a rollout, once so much of its target is there.
type event struct {
	after int // minutes since the one before
	share float64
	do    func()
}

func newLife(r *rand.Rand) *life {
	l := &life{r: r, judged: r.IntN(2) == 0, pods: []int32{4, 10, 20, 50, 100}[r.IntN(5)], next: 5 + r.IntN(60)}
	l.revisions = []*revision{{hash: "v1", ready: l.pods, asked: l.pods, stuck: 1, takes: 1, since: -1000}}
	l.target = l.revisions[0]
	return l
}

func (l *life) between(low, high int) int { return low + l.r.IntN(high-low+1) }

// roll begins a rollout to a new template, as if there were no trouble.
func (l *life) roll() {
	next := &revision{hash: fmt.Sprintf("v%d", len(l.revisions)+1), since: l.minute, stuck: 1, takes: l.between(1, 4)}
	l.revisions = append(l.revisions, next)
	l.to(next)
}

// to sets the target, old or new.
func (l *life) to(target *revision) {
	if !l.flying {
		l.began, l.flying = l.minute, true
	}
	l.rollouts++
	l.batch = max(1, l.pods/4)
	l.target, l.halted, l.crashed, l.came, l.plan = target, "", 0, l.minute, nil
}

func (l *life) after(minutes int, share float64, do func()) {
	l.plan = append(l.plan, event{minutes, share, do})
}

// fix is what people do about a rollout that is no good.
func (l *life) fix() {
	switch l.r.IntN(4) {
	case 0:
		l.undo()
	case 1:
		l.target.stuck, l.target.starting, l.crashed = 1, nil, 0
	default:
		l.roll()
	}
}

// undo goes back to the template that serves most of the others.
func (l *life) undo() {
	old := l.target
	for _, r := range l.revisions {
		if r != l.target && (old == l.target || r.ready > old.ready) {
			old = r
		}
	}
	if old.starting = nil; l.r.IntN(4) == 0 { // its image is gone
		old.stuck = float64(old.ready) / float64(l.pods)
		l.to(old)
		l.after(l.between(20, 60), 0, l.roll)
		return
	}
	l.to(old)
}

// trouble draws what is wrong with the rollout that begins.
func (l *life) trouble() {
	share := l.r.Float64()
	switch l.r.IntN(11) {
	case 0:
		l.after(l.between(0, 5), share, l.roll)
	case 1:
		l.after(l.between(0, 10), share, l.undo)
	case 2:
		l.target.stuck = share
		l.after(l.between(15, 60), 0, l.fix)
	case 3:
		l.after(0, share, func() { l.halted = "paused" })
		l.after(l.between(20, 120), 0, func() { l.halted, l.came = "", l.minute })
	case 4:
		l.halted = "paused"
		l.after(l.between(20, 180), 0, func() { l.halted, l.came = "", l.minute })
	case 5:
		pods := l.pods
		l.after(0, share, func() { l.pods = max(2, l.pods*int32(l.between(30, 60))/100) })
		l.after(l.between(10, 30), 0, func() { l.pods = pods })
	case 6:
		l.after(0, share, func() { l.blind = l.minute + l.between(5, 20) })
	case 7:
		l.after(0, share, func() { l.gap = l.minute + l.between(20, 60) })
	case 8:
		l.target.takes = l.between(12, 30)
	case 9:
		l.after(0, share, func() { l.creation = l.minute + l.between(3, 8) })
	case 10:
		l.after(0, 0.55+0.4*share, func() {
			l.target.ready, l.target.starting, l.crashed = int32(float64(l.target.ready)*0.2*l.r.Float64()), nil, l.minute
			l.target.stuck = float64(l.target.ready) / float64(l.pods)
		})
		l.after(l.between(20, 60), 0, l.fix)
	}
}

// step lives a minute.
func (l *life) step() {
	l.minute++
	if !l.flying && l.minute >= l.next {
		if l.roll(); l.r.IntN(2) == 0 {
			l.trouble()
		} else if l.r.IntN(4) == 0 {
			l.batch, l.target.takes = max(1, l.pods/10), l.between(2, 6)
		}
	}
	if !l.flying {
		return
	}
	if len(l.plan) > 0 {
		if e := l.plan[0]; e.after > 0 && float64(l.target.ready) >= e.share*float64(l.pods) {
			l.plan[0].after--
		} else if e.after <= 0 && float64(l.target.ready) >= e.share*float64(l.pods) {
			l.plan = l.plan[1:]
			e.do()
		}
	}
	l.pace()
}

// pace moves the pods of a minute.
func (l *life) pace() {
	t := l.target
	most := int32(t.stuck * float64(l.pods))
	for len(t.starting) > 0 && t.starting[0] <= l.minute && t.ready < most {
		t.starting, t.ready, l.came = t.starting[1:], t.ready+1, l.minute
	}
	t.ready = min(t.ready, l.pods)
	if l.halted == "" {
		t.asked = min(l.pods, t.ready+l.batch)
	} else {
		t.asked = min(max(t.asked, t.ready), l.pods)
	}
	for int32(len(t.starting)) < t.asked-t.ready && l.minute >= l.creation {
		t.starting = append(t.starting, l.minute+t.takes)
	}
	left := l.pods - t.ready // of the others, the youngest go first
	for _, r := range l.revisions {
		if r != t {
			r.starting, r.asked = nil, min(r.ready, left)
			r.ready = r.asked
			left -= r.ready
		}
	}
	if t.ready == l.pods {
		l.flying, l.plan, l.next = false, nil, l.minute+10+int(l.r.ExpFloat64()*60)
	}
}

// failure is what the controller says.
func (l *life) failure() string {
	switch {
	case !l.judged || l.halted != "":
	case l.minute < l.creation:
		return "FailedCreate"
	case l.minute-l.came >= 10:
		return "ProgressDeadlineExceeded"
	}
	return ""
}

// ill reports whether anybody who looks sees that the target fails.
func (l *life) ill() bool {
	return l.failure() != "" || l.crashed > 0 || !l.judged && l.halted == "" && l.minute-l.came >= 10
}

// sample is what a look sees; nil is nothing.
func (l *life) sample() *workload.Rollout {
	if l.minute < l.blind {
		return nil
	}
	r := &workload.Rollout{InFlight: l.flying, Desired: l.pods, Unjudged: !l.judged}
	if !l.flying {
		return r
	}
	r.Failure, r.Halted = l.failure(), l.halted
	at := func(r *revision) workload.Template {
		return workload.Template{Hash: r.hash, Desired: r.asked, Available: r.ready, Since: epoch.Add(time.Duration(r.since) * time.Minute)}
	}
	r.Templates = []workload.Template{at(l.target)}
	for _, other := range slices.Backward(l.revisions) {
		if other != l.target && other.ready > 0 {
			r.Templates = append(r.Templates, at(other))
		}
	}
	if len(r.Templates) == 1 { // what it replaced, without any
		for _, other := range slices.Backward(l.revisions) {
			if other != l.target {
				r.Templates = append(r.Templates, at(other))
				break
			}
		}
	}
	return r
}
