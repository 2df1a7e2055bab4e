package rollouts

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

var epoch = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// A revision is one template of a workload and its pods.
type revision struct {
	hash     string
	since    int     // the minute in which it first became the target
	ready    int32   // available pods
	asked    int32   // desired pods
	starting []int   // the minutes in which its starting pods become available
	stuck    float64 // the highest share of all pods that it reaches; 1 without a limit
	least    int     // minutes until a pod is available, at least and
	most     int     // at most
}

// A life is the life of one workload, minute by minute. Its events are drawn in each
// minute.
type life struct {
	r      *rand.Rand
	judged bool
	minute int

	size      int32 // its desired pods, except while it is scaled in
	pods      int32
	batch     int32       // maximum number of pods that start at once
	revisions []*revision // by age
	target    *revision
	flying    bool
	began     int // the minute in which the flight started
	rollouts  int

	rush     int // number of further rollouts that each overtake the previous one
	halted   string
	creation int // the end of the time without pod creation
	came     int // the minute of the last new pod, or of a new target
	plan     []event
	next     int // the minute of the next rollout
	blind    int // the end of the time in which samples read nothing
	gap      int // the end of a gap in the samples
}

func newLife(r *rand.Rand) *life {
	l := &life{r: r, judged: r.IntN(2) == 0, size: []int32{4, 10, 20, 50, 100}[r.IntN(5)], next: 5 + r.IntN(60)}
	l.pods = l.size
	l.revisions = []*revision{{hash: "v1", ready: l.pods, asked: l.pods, stuck: 1, least: 1, most: 1, since: -1000}}
	l.target = l.revisions[0]
	return l
}

func (l *life) between(low, high int) int { return low + l.r.IntN(high-low+1) }

// step simulates a minute.
func (l *life) step() {
	l.minute++
	if !l.flying && l.minute >= l.next {
		l.pods = l.size
		l.roll()
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
		t.starting = append(t.starting, l.minute+l.between(t.least, t.most))
	}
	slices.Sort(t.starting)
	left := l.pods - t.ready // of the other revisions, the youngest pods go first
	for _, r := range l.revisions {
		if r != t {
			r.starting, r.asked = nil, min(r.ready, left)
			r.ready = r.asked
			left -= r.ready
		}
	}
	if t.ready == l.pods {
		l.flying, l.plan, l.rush, l.next = false, nil, 0, l.minute+10+int(l.r.ExpFloat64()*90)
	}
}

// failure returns the failure that the controller reports.
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

// ill reports whether an observer can see that the target fails: its controller reports
// a failure, or it is stuck and no pod came for 10 minutes.
func (l *life) ill() bool {
	return l.failure() != "" || l.target.stuck < 1 && l.minute-l.came >= 10
}

// sample returns the sampler's view of the rollout; nil if it cannot see the rollout.
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
	if len(r.Templates) == 1 { // the replaced template, without pods
		for _, other := range slices.Backward(l.revisions) {
			if other != l.target {
				r.Templates = append(r.Templates, at(other))
				break
			}
		}
	}
	return r
}
