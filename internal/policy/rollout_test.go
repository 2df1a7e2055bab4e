package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// seen is one look at a rollout that counted, as the oracle remembers it.
type seen struct {
	rollout workload.Rollout
	gap     bool // too long after the one before
	at      time.Time
	failed  bool // by lack of progress
	begins  bool // git said nothing of its target
	short   bool // git would return to it, and over half of what it had is missing
	firm    bool // past the cut, in good health
}

// milestones is the rule once more, from the whole past and not from a timer:
// slow, and apart from the one under test.
type milestones struct {
	milestones []int32
	cut        int32
	hold       time.Duration
	deadline   time.Duration
	past       []seen
	declared   checkpoint.Rollout
	commits    int // of the rollout in flight
}

// want is the rollout that git should hold after a look.
func (o *milestones) want(r workload.Rollout, gap bool, now time.Time) checkpoint.Rollout {
	o.past = append(o.past, seen{rollout: r, gap: gap, at: now})
	rec, none := o.declared, checkpoint.Rollout{}
	if !r.InFlight {
		return none
	}
	target, last := r.Templates[0], &o.past[len(o.past)-1]
	most, best := int32(0), r.Templates[1]
	for _, t := range r.Templates[1:] {
		most = max(most, t.Available)
		returned := rec != none && (rec.Returns == checkpoint.SideTo && t.Hash == rec.To.Hash || rec.Returns == checkpoint.SideFrom && t.Hash == rec.From.Hash)
		safe := rec != none && rec.Returns == checkpoint.SideFrom && best.Hash == rec.From.Hash && best.Available > 0
		if !safe && t.Available > best.Available || returned && (t.Available == best.Available || rec.Returns == checkpoint.SideFrom && t.Available > 0) {
			best = t
		}
	}
	says := rec != none && (target.Hash == rec.From.Hash || target.Hash == rec.To.Hash)
	held := r.Halted != "" && !target.Runs()
	running := 0
	for _, t := range r.Templates[1:] {
		if t.Runs() {
			running++
		}
	}
	undone := !says && !target.Since.IsZero() && target.Since.Before(r.Templates[1].Since) && !(held && running == 1)
	last.begins = !says && !undone
	at := o.progress(len(o.past) - 1)
	last.short = rec.Returns == checkpoint.SideTo && target.Hash == rec.To.Hash && 2*target.Available < at.once
	stalled := r.Unjudged && r.Halted == "" && at.lasted >= o.patience(at)
	if r.Failure == "" && (stalled || last.short && o.lastedOf(func(s seen) bool { return s.short }) >= o.deadline) {
		r.Failure = "no progress"
		last.failed = true
	}
	stranded := (r.Failure != "" || at.lacks && at.lasted >= o.patience(at)) && most > target.Available
	undone = undone && !stranded
	last.firm = !o.ill(len(o.past)-1) && 100*target.Available >= o.cut*r.Desired
	returns := func(c checkpoint.Rollout) checkpoint.Rollout {
		if c.Returns = checkpoint.SideFrom; c.Milestone >= o.cut {
			c.Returns = checkpoint.SideTo
		}
		return c
	}
	phase := checkpoint.PhaseProgressing
	if r.Halted != "" {
		phase = checkpoint.PhaseHalted
	}
	fallen := func(c checkpoint.Rollout) bool {
		return c.Phase == checkpoint.PhaseFailed || c.Phase == checkpoint.PhaseReturning
	}
	fits := func(c checkpoint.Rollout) bool {
		left := 6 - o.commits - 1 - 1 // this one, and the end
		if !fallen(c) {
			left--
			if c.Milestone < o.cut {
				left -= 2
			}
		}
		return left >= 0
	}
	fall := func(to checkpoint.Phase) checkpoint.Rollout {
		c := rec
		c.Milestone, c.Share, c.Phase, c.Returns = 0, 0, to, checkpoint.SideFrom
		if fallen(rec) && !fits(c) {
			return rec
		}
		return c
	}
	runs := false
	for _, t := range r.Templates[1:] {
		runs = runs || t.Runs() && (t.Hash == rec.From.Hash || t.Hash == rec.To.Hash)
	}
	switch {
	case undone && !runs:
		return none
	case undone:
		return rec
	case rec != none && target.Hash == rec.From.Hash:
		return fall(checkpoint.PhaseReturning)
	case rec != none && target.Hash == rec.To.Hash && r.Failure != "":
		return fall(checkpoint.PhaseFailed)
	case rec != none && target.Hash == rec.To.Hash:
		c := rec
		if level, _ := o.held(); level > c.Milestone {
			c.Milestone, c.Share, c.Phase = level, o.share(level), phase
		}
		c = returns(c)
		firm := o.lastedOf(func(s seen) bool { return s.firm })
		needs := o.deadline
		for n := 6; n <= o.commits && n <= 10; n += 2 {
			needs *= 2
		}
		if fits(c) || c.Returns != rec.Returns && firm >= needs {
			return c
		}
		return rec
	}
	level, twice := o.held()
	if r.Failure != "" {
		level, phase = 0, checkpoint.PhaseFailed
	} else if !twice {
		return rec
	}
	begun := returns(checkpoint.Rollout{Milestone: level, Share: o.share(level), Phase: phase, From: checkpoint.Template{Hash: best.Hash}, To: checkpoint.Template{Hash: target.Hash},
		ImagesOnly: best.ImagesOnly})
	row := o.row(len(o.past) - 1)
	switch {
	case r.Failure != "" || r.Halted != "" || o.lasted() >= o.hold || row < 6 && (row < 2 || o.stuck()) && (rec != none || !o.soon()):
		return begun
	case !runs:
		return none
	}
	return rec
}

// lastedOf is for how long the looks in a row at the target of the last were such,
// none where the last is not.
func (o *milestones) lastedOf(such func(seen) bool) (lasted time.Duration) {
	if !such(o.past[len(o.past)-1]) {
		return -1
	}
	for i := len(o.past) - 1; i > 0 && o.same(i, i-1) && such(o.past[i-1]); i-- {
		if !o.past[i].gap {
			lasted += o.past[i].at.Sub(o.past[i-1].at)
		}
	}
	return lasted
}

// A stand is how far a target had come by a look: the most of its pods that were
// available since it last came further, how many of them had to be, and for how
// long some were asked for and not available, and it came no further.
type stand struct {
	most, due int32
	once      int32 // the most at once, of as many as are asked for
	lacks     bool
	lasted    time.Duration
	longest   time.Duration // that one took to come
}

// progress goes once more through the looks at the target up to one of them.
func (o *milestones) progress(upTo int) (at stand) {
	first := upTo
	for first > 0 && o.same(first, first-1) {
		first--
	}
	for i := first; i <= upTo; i++ {
		target := o.past[i].rollout.Templates[0]
		more := i > first && target.Desired > o.past[i-1].rollout.Templates[0].Desired
		at.most, at.due = min(at.most, target.Desired), min(at.due, target.Desired)
		at.once = max(min(at.once, target.Desired), target.Available)
		lasted := at.lasted
		if i > first && !o.past[i].gap {
			lasted += o.past[i].at.Sub(o.past[i-1].at)
		}
		if at.lacks && target.Available > at.most {
			at.longest = max(at.longest, lasted)
		}
		switch {
		case target.Available >= target.Desired:
			at = stand{most: target.Desired, due: target.Desired, once: at.once, longest: at.longest}
		case !at.lacks || more || target.Available > at.most:
			at.lacks, at.lasted, at.most = true, 0, target.Available
		default:
			at.lasted = lasted
		}
		if at.due = max(at.due, target.Available); at.lasted >= o.patience(at) {
			at.due = target.Desired
		}
	}
	return at
}

// row is how many rollouts the one in flight at a look follows, each begun within
// the hold after the one before. What overtakes another is the next of them, a way
// back is not.
func (o *milestones) row(of int) int {
	first := of
	for first > 0 && o.same(first, first-1) {
		first--
	}
	for i := first - 1; i >= 0; i-- {
		switch {
		case !o.past[i].rollout.InFlight:
		case o.past[first].at.Sub(o.past[i].at) >= o.hold:
			return 0
		case i == first-1 && !o.past[first].begins:
			return o.row(i)
		default:
			return o.row(i) + 1
		}
	}
	return 0
}

// patience is how long a target may come no further.
func (o *milestones) patience(at stand) time.Duration { return max(o.deadline, 2*at.longest) }

// stuck reports whether pods are asked for, and neither more of them were nor
// became available since the target was first seen, or for two looks.
func (o *milestones) stuck() bool {
	at := o.progress(len(o.past) - 1)
	return at.lacks && (at.lasted == o.lasted() || at.lasted >= 2*time.Minute)
}

// soon reports whether, at the pace of the last two looks, less than half of the
// hold is left, and less than six looks.
func (o *milestones) soon() bool {
	a, b := o.past[len(o.past)-2], o.past[len(o.past)-1]
	left := b.rollout.Desired - b.rollout.Templates[0].Available
	pace := float64(b.rollout.Templates[0].Available-a.rollout.Templates[0].Available) / b.at.Sub(a.at).Minutes()
	return left <= 0 || pace > 0 && float64(left)/pace < min(o.hold.Minutes()/2, 6)
}

// held is the lower of the levels of the last two looks, where both saw the
// same target in flight and no gap lies between them.
func (o *milestones) held() (int32, bool) {
	if len(o.past) < 2 {
		return 0, false
	}
	last, before := len(o.past)-1, len(o.past)-2
	if o.past[last].gap || !o.same(last, before) {
		return 0, false
	}
	return min(o.level(last), o.level(before)), true
}

// lasted is for how long the target of the last look was seen in flight, of the
// time that was observed.
func (o *milestones) lasted() (lasted time.Duration) {
	for i := len(o.past) - 1; i > 0 && o.same(i, i-1); i-- {
		if !o.past[i].gap {
			lasted += o.past[i].at.Sub(o.past[i-1].at)
		}
	}
	return lasted
}

func (o *milestones) same(i, j int) bool {
	a, b := o.past[i].rollout, o.past[j].rollout
	return a.InFlight && b.InFlight && a.Templates[0].Hash == b.Templates[0].Hash
}

// share is how much further than a milestone the last look saw it, in health, and
// not at another milestone.
func (o *milestones) share(milestone int32) int32 {
	last := len(o.past) - 1
	r := o.past[last].rollout
	share := min(99, 100*r.Templates[0].Available/r.Desired)
	if o.ill(last) || o.level(last) > milestone || share <= milestone {
		return 0
	}
	return share
}

func (o *milestones) ill(i int) bool {
	r := o.past[i].rollout
	return r.Failure != "" || o.past[i].failed || float64(r.Templates[0].Available) < 0.95*float64(o.progress(i).due)-1e-9
}

func (o *milestones) level(i int) (level int32) {
	r := o.past[i].rollout
	if o.ill(i) {
		return 0
	}
	for _, m := range o.milestones {
		if 100*r.Templates[0].Available >= m*r.Desired {
			level = m
		}
	}
	return level
}

// nextRollout draws what the next look sees.
func nextRollout(r *rand.Rand, was workload.Rollout) workload.Rollout {
	hashes := []string{"v1", "v2", "v3", "v4"}
	next := workload.Rollout{InFlight: r.IntN(8) > 0, Desired: pick[int32](r, 1, 3, 7, 20, 100)}
	target := pick(r, hashes...)
	if was.InFlight && r.IntN(8) > 0 {
		target, next.Desired = was.Templates[0].Hash, was.Desired
	}
	if !next.InFlight {
		return next
	}
	asked := r.Int32N(next.Desired + 1)
	next.Templates = []workload.Template{{Hash: target, Desired: asked, Available: asked - min(asked, r.Int32N(3)*r.Int32N(6)/2)}}
	for _, h := range hashes {
		if h != target {
			next.Templates = append(next.Templates, workload.Template{Hash: h, Desired: 1, Available: r.Int32N(3), ImagesOnly: r.IntN(2) == 0})
		}
	}
	r.Shuffle(len(hashes)-1, func(i, j int) {
		next.Templates[1+i], next.Templates[1+j] = next.Templates[1+j], next.Templates[1+i]
	})
	next.Templates = next.Templates[:2+r.IntN(2)]
	if r.IntN(8) == 0 { // no pods are left of what it replaces
		next.Templates = next.Templates[:2]
		next.Templates[1].Desired, next.Templates[1].Available = 0, 0
	}
	if next.Unjudged = was.Unjudged; !was.InFlight {
		next.Unjudged = r.IntN(2) == 0
	}
	if was.InFlight && r.IntN(3) == 0 && next.Templates[0].Hash == was.Templates[0].Hash { // as it was
		next.Templates[0] = was.Templates[0]
	}
	if r.IntN(8) == 0 {
		next.Failure = "ProgressDeadlineExceeded"
	}
	if r.IntN(6) == 0 {
		next.Halted = "paused"
	}
	if r.IntN(8) == 0 {
		next.Templates[0].Since, next.Templates[1].Since = noon.Add(-time.Hour), noon
	}
	if r.IntN(12) == 0 {
		next.Templates[r.IntN(2)].Since = time.Time{}
	}
	return next
}

// Random lives of rollouts, decided by the rule and by the oracle side by side,
// with the laws that hold whatever either says.
func TestMilestonesAreThoseOfTheOracle(t *testing.T) {
	t.Parallel()
	for seed := range lives() {
		r := rand.New(rand.NewPCG(seed, 4))
		p := policy.Presets()["cope"]
		p.Milestones = pick(r, p.Milestones, []int32{50}, []int32{1, 99})
		p.Cut = pick[int32](r, 50, 1, 90, 99)
		p.RolloutHold = pick(r, 0, 3*time.Minute, 30*time.Minute)
		p.ProgressDeadline = pick(r, time.Minute, 4*time.Minute, 10*time.Minute)
		o := &milestones{milestones: p.Milestones, cut: p.Cut, hold: p.RolloutHold, deadline: p.ProgressDeadline}
		l, now, last, view := latch.Latch{ID: web}, noon, time.Time{}, workload.Rollout{}
		for step := range 40 {
			view = nextRollout(r, view)
			gap := r.IntN(12) == 0
			if now = now.Add(time.Minute); gap {
				now = now.Add(time.Hour)
			}
			look := policy.Look{Now: now, Last: last, Period: time.Minute}
			before := l
			next, d := policy.DecideRollout(p, l, workload.Sample{ID: web, Rollout: &view}, look)
			want := o.want(view, gap && step > 0, now)
			got := before.Declared.Rollout
			if d.Crosses() {
				got = d.On(before.Declared).Rollout
			}
			where := fmt.Sprintf("seed %d, step %d: %+v on %+v: %s %s", seed, step, view, before.Declared.Rollout, d.Verdict, d.Text)
			if got != want {
				t.Fatalf("%s\ngot  %+v\nwant %+v", where, got, want)
			}
			if view.InFlight && d.Count != view.Templates[0].Available {
				t.Fatalf("%s: it counts %d", where, d.Count)
			}
			if view.InFlight && (view.Failure != "" || o.past[step].failed) && got.Milestone > 0 && got.To.Hash == view.Templates[0].Hash {
				t.Fatalf("%s: failed, and is at %d %%", where, got.Milestone)
			}
			look.Last = now
			if again, second := policy.DecideRollout(p, next, workload.Sample{ID: web, Rollout: &view}, look); !again.Equal(next) || second.Crosses() != d.Crosses() {
				t.Fatalf("%s: a second look says %s %s", where, second.Verdict, second.Text)
			}
			if l = next; d.Crosses() {
				l = l.Settled(d.On(before.Declared))
				if was := before.Declared.Rollout; got.To.Hash != was.To.Hash && got.To.Hash != was.From.Hash {
					o.commits = 0
				}
				o.commits++
			}
			o.declared, last = got, now
		}
	}
}

// What stands in the way of a milestone is named.
func TestReasonsOfARollout(t *testing.T) {
	t.Parallel()
	flies := workload.Rollout{InFlight: true, Desired: 10, Templates: []workload.Template{{Hash: "v2", Desired: 5, Available: 5}, {Hash: "v1", Desired: 5, Available: 5}}}
	recorded := checkpoint.Rollout{Milestone: 25, Phase: checkpoint.PhaseProgressing, Returns: checkpoint.SideFrom,
		From: checkpoint.Template{Hash: "v1"}, To: checkpoint.Template{Hash: "v2"}}
	tests := []struct {
		name    string
		change  func(p *policy.Policy, l *latch.Latch, s *workload.Sample, k *policy.Look)
		verdict policy.Verdict
		reason  policy.Reason
	}{
		{"nothing", func(*policy.Policy, *latch.Latch, *workload.Sample, *policy.Look) {}, policy.Pending, policy.ReasonNone},
		{"held", func(_ *policy.Policy, _ *latch.Latch, _ *workload.Sample, k *policy.Look) {
			k.Stop = policy.Stop{All: true, Reason: policy.ReasonHold}
		}, policy.Frozen, policy.ReasonHold},
		{"another cluster", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, k *policy.Look) {
			k.Stop, s.Rollout.InFlight = policy.Stop{Reason: policy.ReasonOther}, false
		}, policy.Frozen, policy.ReasonOther},
		{"failed in another cluster", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, k *policy.Look) {
			k.Stop, s.Rollout.Failure = policy.Stop{Reason: policy.ReasonOther}, "failed"
		}, policy.Frozen, policy.ReasonOther},
		{"failed in a cluster read in part", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, k *policy.Look) {
			k.Stop, s.Rollout.Failure = policy.Stop{Reason: policy.ReasonPartial}, "failed"
		}, policy.Cross, policy.ReasonNone},
		{"on no node", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, _ *policy.Look) { s.Rollout.Desired = 0 }, policy.Frozen, policy.ReasonSuspended},
		{"done in a cluster read in part", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, k *policy.Look) {
			k.Stop, s.Rollout.InFlight = policy.Stop{Reason: policy.ReasonPartial}, false
		}, policy.Frozen, policy.ReasonPartial},
		{"done", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, _ *policy.Look) { s.Rollout.InFlight = false }, policy.Cross, policy.ReasonNone},
		{"deleted", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, _ *policy.Look) { s.Terminating = true }, policy.Frozen, policy.ReasonTerminating},
		{"unknown", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, _ *policy.Look) { s.Rollout = nil }, policy.Frozen, policy.ReasonUnread},
		{"no templates", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, _ *policy.Look) { s.Rollout.Templates = nil }, policy.Frozen, policy.ReasonUnread},
		{"target without a hash", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, _ *policy.Look) {
			s.Rollout.Templates = slices.Clone(s.Rollout.Templates)
			s.Rollout.Templates[0].Hash = ""
		}, policy.Frozen, policy.ReasonUnread},
		{"scaled to zero and no longer in flight", func(_ *policy.Policy, _ *latch.Latch, s *workload.Sample, _ *policy.Look) {
			s.Scale, s.Rollout.InFlight = &workload.Scale{}, false
		}, policy.Frozen, policy.ReasonSuspended},
		{"yield", func(_ *policy.Policy, l *latch.Latch, _ *workload.Sample, _ *policy.Look) {
			l.YieldUntil = noon.Add(time.Second)
		}, policy.Frozen, policy.ReasonYield},
		{"an image that is no line", func(_ *policy.Policy, l *latch.Latch, s *workload.Sample, _ *policy.Look) {
			l.Declared = checkpoint.Entry{}
			s.Rollout.Failure, s.Rollout.Templates = "failed", slices.Clone(s.Rollout.Templates)
			s.Rollout.Templates[0].Images = map[string]string{"app": "web\n:v2"}
		}, policy.Skip, policy.ReasonUnfit},
		{"reported only", func(p *policy.Policy, _ *latch.Latch, s *workload.Sample, _ *policy.Look) {
			p.Rollout, s.Rollout.Failure = policy.ModeReport, "failed"
		}, policy.Pending, policy.ReasonReport},
		{"no longer asked for", func(p *policy.Policy, _ *latch.Latch, _ *workload.Sample, _ *policy.Look) {
			p.Rollout = policy.ModeIgnore
		}, policy.Cross, policy.ReasonNone},
	}
	for _, tt := range tests {
		p, l, look, rollout := policy.Presets()["cope"], latch.Latch{ID: web}, policy.Look{Now: noon, Period: time.Minute}, flies
		l.Declared.Rollout = recorded
		s := workload.Sample{ID: web, Rollout: &rollout}
		tt.change(&p, &l, &s, &look)
		if _, d := policy.DecideRollout(p, l, s, look); d.Verdict != tt.verdict || d.Reason != tt.reason || d.Urgent && d.Verdict == policy.Skip {
			t.Errorf("%s: %s %q %s, want %s %q", tt.name, d.Verdict, d.Reason, d.Text, tt.verdict, tt.reason)
		}
	}
}

// A rollout of which a template is not known is not recorded, and not begun; it
// says which.
func TestARolloutWithAnUnknownTemplateStandsStill(t *testing.T) {
	t.Parallel()
	v1, v2, unknown := workload.Template{Hash: "v1", Desired: 9, Available: 9}, workload.Template{Hash: "v2", Desired: 1, Available: 1}, workload.Template{Desired: 1}
	for want, cases := range map[string][][]workload.Template{
		"the template that its rollout is on its way to is not known yet": {nil, {unknown}, {unknown, v1}, {unknown, v1, v2}},
		"the template that its rollout replaces is not known":             {{v2}, {v2, unknown}, {v2, v1, unknown}},
	} {
		for _, templates := range cases {
			r := workload.Rollout{InFlight: true, Desired: 10, Failure: "failed", Templates: templates}
			if _, d := policy.DecideRollout(policy.Presets()["cope"], latch.Latch{ID: web}, workload.Sample{ID: web, Rollout: &r}, policy.Look{Now: noon}); d.Reason != policy.ReasonUnread || d.Text != want {
				t.Errorf("%+v: %s %s, want %s", templates, d.Verdict, d.Text, want)
			}
		}
	}
	if _, d := policy.DecideRollout(policy.Presets()["cope"], latch.Latch{ID: web}, workload.Sample{ID: web, Unknown: "replicasets are unread"}, policy.Look{Now: noon}); d.Reason != policy.ReasonUnread || d.Text != "its rollout is unknown: replicasets are unread" {
		t.Errorf("%s %s", d.Verdict, d.Text)
	}
}

// A failure that the second look at an instant sees is at 0, whatever the first
// one counted.
func TestAFailureAtTheInstantOfALookIsAtZero(t *testing.T) {
	t.Parallel()
	r := workload.Rollout{InFlight: true, Desired: 10, Templates: []workload.Template{{Hash: "v2", Desired: 9, Available: 9}, {Hash: "v1", Desired: 1, Available: 1}}}
	s, p, l := workload.Sample{ID: web, Rollout: &r}, policy.Presets()["cope"], latch.Latch{ID: web}
	l, _ = policy.DecideRollout(p, l, s, policy.Look{Now: noon, Period: time.Minute})
	look := policy.Look{Now: noon.Add(time.Minute), Last: noon, Period: time.Minute}
	l, _ = policy.DecideRollout(p, l, s, look)
	r.Failure, look.Last = "failed", look.Now
	if _, d := policy.DecideRollout(p, l, s, look); !d.Crosses() || d.To.Rollout.Milestone != 0 || d.To.Rollout.Phase != checkpoint.PhaseFailed || d.To.Rollout.Returns != checkpoint.SideFrom {
		t.Errorf("%s %s to %+v", d.Verdict, d.Text, d.To)
	}
}

// One that goes to and fro and fails each time says so while it has commits for
// that, and keeps the last for its end.
func TestARolloutToAndFroTakesAtMostSixCommits(t *testing.T) {
	t.Parallel()
	v1, v2 := workload.Template{Hash: "v1", Desired: 5, Available: 5}, workload.Template{Hash: "v2", Desired: 5, Available: 5}
	p, l, commits := policy.Presets()["cope"], latch.Latch{ID: web}, 0
	look := policy.Look{Now: noon, Period: time.Minute}
	decide := func(r workload.Rollout) {
		var d policy.Decision
		if l, d = policy.DecideRollout(p, l, workload.Sample{ID: web, Rollout: &r}, look); d.Crosses() {
			l, commits = l.Settled(d.On(l.Declared)), commits+1
		}
		look.Last, look.Now = look.Now, look.Now.Add(time.Minute)
	}
	for range 10 {
		decide(workload.Rollout{InFlight: true, Desired: 10, Failure: "failed", Templates: []workload.Template{v2, v1}})
		decide(workload.Rollout{InFlight: true, Desired: 10, Templates: []workload.Template{v1, v2}})
	}
	if r := l.Declared.Rollout; commits != 5 || r.Milestone != 0 || r.Returned().Hash != "v1" {
		t.Errorf("%d commits, and then %+v", commits, r)
	}
	decide(workload.Rollout{})
	if commits != 6 || l.Declared.Rollout != (checkpoint.Rollout{}) {
		t.Errorf("done, %d commits, and then %+v", commits, l.Declared.Rollout)
	}
}

// What a rollout overtakes is brought where it differs from the new target in its
// images alone, whichever of the others it is.
func TestOfEachTemplateItIsKnownWhetherItsImagesAloneDiffer(t *testing.T) {
	t.Parallel()
	for _, v1 := range []bool{true, false} {
		r := workload.Rollout{InFlight: true, Desired: 10, Templates: []workload.Template{
			{Hash: "v3", Desired: 1}, {Hash: "v2", Desired: 2, Available: 2, ImagesOnly: !v1}, {Hash: "v1", Desired: 8, Available: 8, ImagesOnly: v1},
		}}
		l := latch.Latch{ID: web, Declared: checkpoint.Entry{Rollout: checkpoint.Rollout{
			Milestone: 10, Phase: checkpoint.PhaseProgressing, Returns: checkpoint.SideFrom, From: checkpoint.Template{Hash: "v1"}, To: checkpoint.Template{Hash: "v2"}, ImagesOnly: true,
		}}}
		look := policy.Look{Now: noon, Period: time.Minute}
		l, _ = policy.DecideRollout(policy.Presets()["cope"], l, workload.Sample{ID: web, Rollout: &r}, look)
		look.Last, look.Now = look.Now, look.Now.Add(time.Minute)
		_, d := policy.DecideRollout(policy.Presets()["cope"], l, workload.Sample{ID: web, Rollout: &r}, look)
		if !d.Crosses() || d.To.Rollout.Returned().Hash != "v1" || d.To.Rollout.To.Hash != "v3" || d.To.Rollout.ImagesOnly != v1 {
			t.Errorf("%s %s, to %+v; want images only %t", d.Verdict, d.Text, d.To, v1)
		}
	}
}

// One that is held for weeks is recorded once. Where its target then bears another
// name than it was given, that takes one commit, and v1 returns throughout.
func TestAHeldRolloutIsRecordedOnce(t *testing.T) {
	t.Parallel()
	p, l, commits := policy.Presets()["cope"], latch.Latch{ID: web}, 0
	look := policy.Look{Now: noon, Period: 5 * time.Minute}
	decide := func(looks int, r workload.Rollout) {
		r.Desired = 10
		for range looks {
			var d policy.Decision
			if l, d = policy.DecideRollout(p, l, workload.Sample{ID: web, Rollout: &r}, look); d.Crosses() {
				l, commits = l.Settled(d.On(l.Declared)), commits+1
			}
			look.Last, look.Now = look.Now, look.Now.Add(look.Period)
		}
	}
	rolls := func(hash string, pods int32, halted string) workload.Rollout {
		return workload.Rollout{InFlight: true, Halted: halted, Templates: []workload.Template{
			{Hash: hash, Desired: pods, Available: pods}, {Hash: "v1", Desired: 10 - pods, Available: 10 - pods, ImagesOnly: true},
		}}
	}
	want := func(n int, to string, phase checkpoint.Phase) {
		t.Helper()
		r := l.Declared.Rollout
		if commits != n || r.To.Hash != to || r.Milestone != 0 || r.Phase != phase || r.Returned().Hash != "v1" || !r.ImagesOnly {
			t.Errorf("%d commits, want %d, and then %+v", commits, n, r)
		}
	}
	decide(2, rolls("own", 0, "paused"))
	want(1, "own", checkpoint.PhaseHalted)
	before := l
	decide(3*7*24*12, rolls("own", 0, "paused"))
	want(1, "own", checkpoint.PhaseHalted)
	if !l.Equal(before) {
		t.Errorf("its latch was %+v, and then %+v", before, l)
	}
	decide(12, rolls("v2", 0, ""))
	want(2, "v2", checkpoint.PhaseProgressing)
	decide(12, workload.Rollout{})
	if commits != 3 || l.Declared.Rollout != (checkpoint.Rollout{}) {
		t.Errorf("over, %d commits, and then %+v", commits, l.Declared.Rollout)
	}
}

// A person may raise the milestone of a rollout that fell. While it fails it
// falls again, by a commit that waits for nothing.
func TestARolloutThatAPersonRaisedFallsAgain(t *testing.T) {
	t.Parallel()
	for phase, failure := range map[checkpoint.Phase]string{checkpoint.PhaseFailed: "failed", checkpoint.PhaseReturning: ""} {
		target, other := workload.Template{Hash: "v2", Desired: 5}, workload.Template{Hash: "v1", Desired: 5}
		if phase == checkpoint.PhaseReturning {
			target, other = other, target
		}
		r := workload.Rollout{InFlight: true, Desired: 10, Failure: failure, Templates: []workload.Template{target, other}}
		raised := checkpoint.Rollout{Milestone: 50, Phase: phase, Returns: checkpoint.SideTo, From: checkpoint.Template{Hash: "v1"}, To: checkpoint.Template{Hash: "v2"}}
		l := latch.Latch{ID: web, Declared: checkpoint.Entry{Rollout: raised}, Rollout: latch.Rollout{Commits: 5}}
		_, d := policy.DecideRollout(policy.Presets()["cope"], l, workload.Sample{ID: web, Rollout: &r}, policy.Look{Now: noon})
		if !d.Crosses() || !d.Urgent || d.To.Rollout.Milestone != 0 || d.To.Rollout.Returned().Hash != "v1" {
			t.Errorf("%s: %s, urgent %t: %s, to %+v", phase, d.Verdict, d.Urgent, d.Text, d.To)
		}
	}
}

// A cut that moved changes which template a rebuild begins with, at once, and
// not how far the rollout is.
func TestAChangedCutRewritesWhatReturns(t *testing.T) {
	t.Parallel()
	r := workload.Rollout{InFlight: true, Desired: 10, Templates: []workload.Template{{Hash: "v2", Desired: 5, Available: 5}, {Hash: "v1", Desired: 5, Available: 5}}}
	for _, c := range []struct {
		cut       int32
		was, want checkpoint.Side
	}{{75, checkpoint.SideTo, checkpoint.SideFrom}, {50, checkpoint.SideFrom, checkpoint.SideTo}} {
		p := policy.Presets()["cope"]
		p.Cut = c.cut
		recorded := checkpoint.Rollout{Milestone: 50, Phase: checkpoint.PhaseProgressing, Returns: c.was, From: checkpoint.Template{Hash: "v1"}, To: checkpoint.Template{Hash: "v2"}}
		want := recorded
		want.Returns = c.want
		_, d := policy.DecideRollout(p, latch.Latch{ID: web, Declared: checkpoint.Entry{Rollout: recorded}}, workload.Sample{ID: web, Rollout: &r}, policy.Look{Now: noon})
		text := fmt.Sprintf("the cut is now at %d %%: a rebuild begins with the template %s", c.cut, want.Returned().Hash)
		if !d.Crosses() || !d.Urgent || d.To.Rollout != want || d.Text != text {
			t.Errorf("%s, urgent %t: %s, to %+v", d.Verdict, d.Urgent, d.Text, d.To)
		}
	}
}

// What no autoscaler drives has nobody else to end a yield, and to forget a
// target, so that its latch says nothing again.
func TestNothingIsLeftOfALatchWithoutALevel(t *testing.T) {
	t.Parallel()
	flies := workload.Rollout{InFlight: true, Desired: 2, Templates: []workload.Template{{Hash: "v2", Desired: 1, Available: 1}, {Hash: "v1", Desired: 1, Available: 1}}}
	l := latch.Latch{ID: web, YieldUntil: noon.Add(time.Minute)}
	for i, rollout := range []workload.Rollout{flies, flies, {}} {
		look := policy.Look{Now: noon.Add(time.Duration(i) * time.Minute), Period: time.Minute}
		l, _ = policy.DecideRollout(policy.Presets()["cope"], l, workload.Sample{ID: web, Rollout: &rollout}, look)
		if want := i == 2; l.Blank() != want {
			t.Errorf("look %d: %+v", i, l)
		}
	}
}

// Changes of one workload are one, whatever reading they come from.
func TestDecisionsOfOneWorkloadAreOneChange(t *testing.T) {
	t.Parallel()
	rec := checkpoint.Rollout{Milestone: 25, Phase: checkpoint.PhaseProgressing}
	from := checkpoint.Entry{Replicas: 100, Max: 500, Rollout: rec}
	scaled, done := from, from.WithRollout(checkpoint.Rollout{})
	scaled.Replicas = 200
	scale := policy.Decision{ID: web, Verdict: policy.Cross, From: from, To: scaled}
	rollout := policy.Decision{ID: web, Reading: policy.ReadingRollout, Verdict: policy.Cross, From: from, To: done}
	retired := policy.Decision{ID: web, Verdict: policy.Cross, From: from}
	only := checkpoint.Entry{Rollout: rec}
	over := policy.Decision{ID: web, Reading: policy.ReadingRollout, Verdict: policy.Cross, From: only}
	both := checkpoint.Entry{Replicas: 200, Max: 500}
	for name, tt := range map[string]struct {
		of   []policy.Decision
		want checkpoint.Entry
	}{
		"both": {[]policy.Decision{scale, rollout}, both}, "either way": {[]policy.Decision{rollout, scale}, both},
		"scale": {[]policy.Decision{scale}, scaled}, "rollout": {[]policy.Decision{rollout}, done},
		"retired": {[]policy.Decision{retired}, checkpoint.Entry{}}, "done, and nothing else was declared": {[]policy.Decision{over}, checkpoint.Entry{}},
	} {
		got := policy.Changes(tt.of)
		if len(got) != 1 || got[0].To != tt.want {
			t.Errorf("%s: %+v, want to %+v", name, got, tt.want)
		}
	}
	if over.Retires() || !retired.Retires() {
		t.Error("the end of a rollout is taken for a retirement, or a retirement for none")
	}
}
