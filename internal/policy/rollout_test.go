package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// nextRollout draws the rollout that the next sample sees.
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
	if r.IntN(8) == 0 { // no pods of the replaced template remain
		next.Templates = next.Templates[:2]
		next.Templates[1].Desired, next.Templates[1].Available = 0, 0
	}
	if next.Unjudged = was.Unjudged; !was.InFlight {
		next.Unjudged = r.IntN(2) == 0
	}
	if was.InFlight && r.IntN(3) == 0 && next.Templates[0].Hash == was.Templates[0].Hash { // unchanged
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

// Random lives of rollouts, decided by the rule and by the oracle. A decision is saved
// or not, as in a tick.
func TestTheRuleIsThatOfTheOracle(t *testing.T) {
	t.Parallel()
	for seed := range lives() {
		r := rand.New(rand.NewPCG(seed, 4))
		p := drawRolloutPolicy(r)
		o := &memory{policy: p}
		l, look, view := latch.Latch{ID: web}, policy.Look{Now: noon, Period: time.Minute}, workload.Rollout{}
		for step := range 60 {
			view = nextRollout(r, view)
			shown := view
			s := workload.Sample{ID: web, Rollout: &shown}
			at := glance{Rollout: shown, blind: r.IntN(16) == 0, gap: step > 0 && r.IntN(16) == 0}
			if at.blind {
				s.Rollout = nil
			}
			if look.Now = look.Now.Add(time.Minute); at.gap {
				look.Now = look.Now.Add(time.Hour)
			}
			at.at = look.Now
			o.past = append(o.past, at)
			next, d := policy.DecideRollout(p, l, s, look)
			got, want := l.Declared.Rollout, o.want()
			if d.Crosses() {
				got = d.To.Rollout
			}
			where := fmt.Sprintf("seed %d, step %d: %+v on %+v: %s %s", seed, step, view, l.Declared.Rollout, d.Verdict, d.Text)
			if got != want {
				t.Fatalf("%s\ngot  %+v\nwant %+v", where, got, want)
			}
			look.Last = look.Now
			if again, second := policy.DecideRollout(p, next, s, look); !again.Equal(next) || second.Verdict != d.Verdict || second.To != d.To {
				t.Fatalf("%s: a second look says %s %s, and %+v is now %+v", where, second.Verdict, second.Text, next.Rollout(), again.Rollout())
			}
			if l = next; d.Crosses() && r.IntN(5) > 0 {
				l = l.Settled(d.ApplyTo(l.Declared))
				o.declared = got
			}
		}
	}
}

// drawRolloutPolicy draws a rule for rollouts, for samples a minute apart.
func drawRolloutPolicy(r *rand.Rand) policy.Policy {
	p := policy.Presets()["cope"]
	p.Cut = pick[int32](r, 50, 1, 90, 99)
	p.RolloutAfter = pick(r, 0, 3*time.Minute, 15*time.Minute)
	p.ProgressDeadline = pick(r, time.Minute, 4*time.Minute, 10*time.Minute)
	return p
}

// The reason names the obstacle to a milestone.
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
		{"nothing", func(*policy.Policy, *latch.Latch, *workload.Sample, *policy.Look) {}, policy.Cross, policy.ReasonNone},
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
			l.GraceUntil = noon.Add(time.Second)
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

// The text of a decision shows the pods, the share of the traffic and a halt.
func TestTheProgressOfARollout(t *testing.T) {
	t.Parallel()
	rollout := workload.Rollout{InFlight: true, Desired: 10, Failure: "it failed", Traffic: new(int32(30)), Halted: "a step",
		Templates: []workload.Template{{Hash: "v2", Desired: 5, Available: 5}, {Hash: "v1", Desired: 5, Available: 5}}}
	_, d := policy.DecideRollout(policy.Presets()["cope"], latch.Latch{ID: web}, workload.Sample{ID: web, Rollout: &rollout},
		policy.Look{Now: noon, Period: time.Minute})
	const want = "5 of 10 pods of template v2 are available, with 30 % of the traffic, halted by a step"
	if !strings.Contains(d.Text, want) {
		t.Errorf("%q, want %q", d.Text, want)
	}
}

// The reason for the removal of a rollout entry is the end of the rollout, or the policy.
func TestTheReasonForRemovingARolloutEntry(t *testing.T) {
	t.Parallel()
	for inFlight, want := range map[bool]string{true: "its policy no longer latches rollouts", false: "the rollout is over"} {
		p, l := policy.Presets()["cope"], latch.Latch{ID: web}
		p.Rollout = policy.ModeIgnore
		l.Declared.Rollout = checkpoint.Rollout{Milestone: 25, Phase: checkpoint.PhaseProgressing, Returns: checkpoint.SideFrom,
			From: checkpoint.Template{Hash: "v1"}, To: checkpoint.Template{Hash: "v2"}}
		rollout := workload.Rollout{InFlight: inFlight, Desired: 10, Templates: []workload.Template{{Hash: "v2", Desired: 5, Available: 5}, {Hash: "v1", Desired: 5, Available: 5}}}
		_, d := policy.DecideRollout(p, l, workload.Sample{ID: web, Rollout: &rollout}, policy.Look{Now: noon, Period: time.Minute})
		if d.Verdict != policy.Cross || d.Text != want || d.To.Rollout != (checkpoint.Rollout{}) {
			t.Errorf("in flight %v: %s %q, want %q", inFlight, d.Verdict, d.Text, want)
		}
	}
}

// The reason for another rollout entry is the return to the old template, the cut, or the
// progress.
func TestTheReasonForAnotherRolloutEntry(t *testing.T) {
	t.Parallel()
	v1, v2 := workload.Template{Hash: "v1", Desired: 4, Available: 4}, workload.Template{Hash: "v2", Desired: 6, Available: 6}
	for want, c := range map[string]struct {
		target, other workload.Template
		milestone     int32
		returns       checkpoint.Side
		percent       int32 // in the sample before
	}{
		"it returns to v1": {v1, v2, 25, checkpoint.SideFrom, 0},
		"6 of 10 pods of template v2 are available, so a rebuild starts with this template": {v2, v1, 50, checkpoint.SideFrom, 60},
		"6 of 10 pods of template v2 are available":                                         {v2, v1, 25, checkpoint.SideTo, 60},
	} {
		l := latch.Latch{ID: web, Flight: &latch.Rollout{Target: c.target.Hash, Percent: c.percent, Peak: 6}}
		l.Flight.Flight.Since = noon.Add(-time.Hour)
		l.Declared.Rollout = checkpoint.Rollout{Milestone: c.milestone, Phase: checkpoint.PhaseProgressing, Returns: c.returns,
			From: checkpoint.Template{Hash: "v1"}, To: checkpoint.Template{Hash: "v2"}}
		rollout := workload.Rollout{InFlight: true, Desired: 10, Templates: []workload.Template{c.target, c.other}}
		look := policy.Look{Now: noon, Last: noon.Add(-time.Minute), Period: time.Minute}
		_, d := policy.DecideRollout(policy.Presets()["cope"], l, workload.Sample{ID: web, Rollout: &rollout}, look)
		if d.Verdict != policy.Cross || d.Text != want {
			t.Errorf("%s %q, want %q", d.Verdict, d.Text, want)
		}
	}
}

// A rollout with an unknown template is not written and not started. The reason names
// the unknown template.
func TestARolloutWithAnUnknownTemplateStandsStill(t *testing.T) {
	t.Parallel()
	v1, v2, unknown := workload.Template{Hash: "v1", Desired: 9, Available: 9}, workload.Template{Hash: "v2", Desired: 1, Available: 1}, workload.Template{Desired: 1}
	for want, cases := range map[string][][]workload.Template{
		"the target template of its rollout is unknown":     {nil, {unknown}, {unknown, v1}, {unknown, v1, v2}},
		"the template that its rollout replaces is unknown": {{v2}, {v2, unknown}, {v2, v1, unknown}},
	} {
		for _, templates := range cases {
			r := workload.Rollout{InFlight: true, Desired: 10, Failure: "failed", Templates: templates}
			if _, d := policy.DecideRollout(policy.Presets()["cope"], latch.Latch{ID: web}, workload.Sample{ID: web, Rollout: &r}, policy.Look{Now: noon}); d.Reason != policy.ReasonUnread || d.Text != want {
				t.Errorf("%+v: %s %s, want %s", templates, d.Verdict, d.Text, want)
			}
		}
	}
	if _, d := policy.DecideRollout(policy.Presets()["cope"], latch.Latch{ID: web}, workload.Sample{ID: web, Unknown: "replicasets could not be listed"}, policy.Look{Now: noon}); d.Reason != policy.ReasonUnread || d.Text != "its rollout is unknown: replicasets could not be listed" {
		t.Errorf("%s %s", d.Verdict, d.Text)
	}
}

// A failure that the second sample at one instant sees is at milestone 0, for any count
// in the first sample.
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

// A rollout that overtakes another one sets ImagesOnly only if its target and the
// template that returns differ in their images alone. The template between them does
// not matter.
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

// A rollout that is halted for weeks is written once. If its target then has another
// name, that takes one commit, and v1 returns throughout.
func TestAHeldRolloutIsRecordedOnce(t *testing.T) {
	t.Parallel()
	p, l, commits := policy.Presets()["cope"], latch.Latch{ID: web}, 0
	look := policy.Look{Now: noon, Period: 5 * time.Minute}
	decide := func(looks int, r workload.Rollout) {
		r.Desired = 10
		for range looks {
			var d policy.Decision
			if l, d = policy.DecideRollout(p, l, workload.Sample{ID: web, Rollout: &r}, look); d.Crosses() {
				l, commits = l.Settled(d.ApplyTo(l.Declared)), commits+1
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
	decide(4, rolls("own", 0, "paused"))
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

// A workload that is not autoscaled has nothing else that ends its edit grace period
// and forgets its target, so its latch becomes blank again.
func TestNothingIsLeftOfALatchWithoutALevel(t *testing.T) {
	t.Parallel()
	flies := workload.Rollout{InFlight: true, Desired: 2, Templates: []workload.Template{{Hash: "v2", Desired: 1, Available: 1}, {Hash: "v1", Desired: 1, Available: 1}}}
	l := latch.Latch{ID: web, GraceUntil: noon.Add(time.Minute)}
	for i, rollout := range []workload.Rollout{flies, flies, {}} {
		look := policy.Look{Now: noon.Add(time.Duration(i) * time.Minute), Period: time.Minute}
		l, _ = policy.DecideRollout(policy.Presets()["cope"], l, workload.Sample{ID: web, Rollout: &rollout}, look)
		if want := i == 2; l.Blank() != want {
			t.Errorf("look %d: %+v", i, l)
		}
	}
}

// Several changes of one workload are one change, even if they come from different
// readings.
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
