package rollouts

import "fmt"

// An event happens in a minute of a rollout, once its target has a share of the pods.
type event struct {
	after int // minutes since the previous event
	share float64
	do    func()
}

// roll starts a rollout to a new template.
func (l *life) roll() {
	next := &revision{hash: fmt.Sprintf("v%d", len(l.revisions)+1), since: l.minute}
	l.revisions = append(l.revisions, next)
	l.to(next)
}

// undo rolls back to the other template with the most pods. In one of four cases its
// image no longer exists.
func (l *life) undo() {
	old := l.target
	for _, r := range l.revisions {
		if r != l.target && (old == l.target || r.ready > old.ready) {
			old = r
		}
	}
	l.to(old)
	if l.r.IntN(4) == 0 {
		old.stuck, l.plan = float64(old.ready)/float64(l.pods), nil
		l.after(l.between(20, 120), 0, l.roll)
	}
}

// to sets the target, old or new. Half of the rollouts have trouble. Four of five
// rollouts are as quick as on the shipped day, and one takes an hour or so.
func (l *life) to(target *revision) {
	if !l.flying {
		l.began, l.flying = l.minute, true
	}
	l.rollouts++
	l.target, l.halted, l.came, l.plan = target, "", l.minute, nil
	target.stuck, target.starting = 1, nil
	target.least = l.between(1, 4)
	target.most, l.batch = target.least, max(1, l.pods/4)
	if l.r.IntN(5) == 0 {
		target.least, target.most, l.batch = 4, 12, max(1, l.pods/10)
	}
	switch {
	case l.rush > 0:
		l.rush--
		l.after(l.between(3, 12), 0, l.roll)
	case l.r.IntN(2) == 0:
		l.trouble()
	}
}

func (l *life) after(minutes int, share float64, do func()) {
	l.plan = append(l.plan, event{minutes, share, do})
}

// fix draws a user's reaction to a failed rollout.
func (l *life) fix() {
	switch l.r.IntN(4) {
	case 0:
		l.undo()
	case 1:
		l.target.stuck, l.target.starting = 1, nil
	default:
		l.roll()
	}
}

func (l *life) halt() { l.halted = "paused" }

// resume restarts the controller's clock.
func (l *life) resume() { l.halted, l.came = "", l.minute }

// crash removes most of the target's pods, and no more come.
func (l *life) crash() {
	t := l.target
	t.ready, t.starting = int32(float64(t.ready)*0.2*l.r.Float64()), nil
	t.stuck = float64(t.ready) / float64(l.pods)
}

// trouble draws the trouble of a rollout that starts, with equal chances. Many troubles
// happen once a share of the target is available.
func (l *life) trouble() {
	share := l.r.Float64()
	troubles := []func(){
		func() { // overtaken, again and again
			l.rush = l.between(3, 10)
			l.after(l.between(3, 12), 0, l.roll)
		},
		func() { // overtaken once
			l.after(l.between(3, 12), 0, l.roll)
		},
		func() { // undone
			l.after(l.between(0, 10), share, l.undo)
		},
		func() { // fails
			l.target.stuck = share
			l.after(l.between(20, 120), 0, l.fix)
		},
		func() { // halted, as by the steps of a canary
			for range l.between(1, 3) {
				l.after(0, share, l.halt)
				l.after(l.between(20, 120), 0, l.resume)
				share += (1 - share) * l.r.Float64()
			}
		},
		func() { // halted at 0 %
			l.halt()
			l.after(l.between(20, 240), 0, l.resume)
		},
		func() { // scaled in for a while
			l.after(0, share, func() { l.pods = max(2, l.pods*int32(l.between(30, 60))/100) })
			l.after(l.between(10, 30), 0, func() { l.pods = l.size })
		},
		func() { // not read
			l.after(0, share, func() { l.blind = l.minute + l.between(5, 20) })
		},
		func() { // not sampled
			l.after(0, share, func() { l.gap = l.minute + l.between(5, 20) })
		},
		func() { // slow
			l.target.least, l.target.most = 12, 30
		},
		func() { // without new pods for some minutes
			l.after(0, share, func() { l.creation = l.minute + l.between(3, 8) })
		},
		func() { // crashes past the cut, on its way or halted there
			share, wait := 0.55+0.4*share, 0
			if l.r.IntN(2) == 0 {
				wait = l.between(10, 60)
				l.after(0, share, l.halt)
			}
			l.after(wait, share, l.crash)
			l.after(l.between(20, 120), 0, l.fix)
		},
	}
	troubles[l.r.IntN(len(troubles))]()
}
