package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// blank returns a latch with a level, and the live minimum and maximum.
func blank(declared int32, s workload.Scale) latch.Latch {
	l := latch.Latch{ID: web}
	if declared > 0 {
		l.Declared = checkpoint.Entry{Replicas: declared, Min: s.Min, Max: s.Max}
	}
	return l
}

// healthy returns a sample with all pods ready and no rollout in flight.
func healthy(s workload.Scale) workload.Sample {
	s.Ready = s.Desired
	return workload.Sample{ID: web, Scale: &s, Rollout: &workload.Rollout{}}
}

// The reason is the most severe one that stops a latch.
func TestReasonsComeInTheirOrder(t *testing.T) {
	t.Parallel()
	p := policy.Presets()["cope"]
	stopped := policy.Stop{All: true, Reason: policy.ReasonHold, Text: "held"}
	drop := policy.Stop{Reason: policy.ReasonMassDrop, Text: "dropped"}
	tests := []struct {
		name   string
		sample func(*workload.Sample)
		stop   policy.Stop
		yield  bool
		want   policy.Reason
		text   string
	}{
		{"the whole fleet", func(s *workload.Sample) { s.Terminating = true }, stopped, true, policy.ReasonHold, "held"},
		{"deletion before an unknown scale", func(s *workload.Sample) { s.Terminating, s.Scale = true, nil }, policy.Stop{}, true, policy.ReasonTerminating, "deleted"},
		{"an unknown scale before a yield", func(s *workload.Sample) { s.Scale, s.Unknown = nil, "generation 7 is not observed yet" }, policy.Stop{}, true, policy.ReasonUnread, "generation 7"},
		{"an unknown scale without a cause", func(s *workload.Sample) { s.Scale = nil }, policy.Stop{}, false, policy.ReasonUnread, "could not be read"},
		{"zero before a yield", func(s *workload.Sample) { s.Scale.Desired = 0 }, policy.Stop{}, true, policy.ReasonSuspended, "zero"},
		{"a yield before the fleet's lowering", func(*workload.Sample) {}, drop, true, policy.ReasonYield, "2026-11-20T12:00:01Z"},
		{"the fleet's lowering before the workload's", func(s *workload.Sample) { s.Scale.Blind = "no metrics" }, drop, false, policy.ReasonMassDrop, "dropped"},
		{"blind before unready", func(s *workload.Sample) { s.Scale.Blind, s.Scale.Ready = "no metrics", 0 }, policy.Stop{}, false, policy.ReasonBlind, "no metrics"},
		{"unready before a rollout", func(s *workload.Sample) { s.Scale.Ready, s.Rollout.InFlight = 5, true }, policy.Stop{}, false, policy.ReasonUnready, "5 of 10"},
		{"a rollout in flight", func(s *workload.Sample) { s.Rollout.InFlight = true }, policy.Stop{}, false, policy.ReasonRollout, "in flight"},
		{"a rollout that is unknown", func(s *workload.Sample) { s.Rollout, s.Unknown = nil, "replica sets: forbidden" }, policy.Stop{}, false, policy.ReasonRollout, "replica sets: forbidden"},
		{"a rollout before a brake", func(s *workload.Sample) { s.Rollout.InFlight, s.Scale.Brake.Until = true, noon.Add(1) }, policy.Stop{}, false, policy.ReasonRollout, "in flight"},
		{"a brake", func(s *workload.Sample) { s.Scale.Brake = workload.Brake{On: "HPA web", Until: noon.Add(time.Hour)} }, policy.Stop{}, false, policy.ReasonBraked,
			"HPA web does not scale down: a restore braked it until 2026-11-20T13:00:00Z"},
		{"a brake that ends now", func(s *workload.Sample) { s.Scale.Brake = workload.Brake{On: "HPA web", Until: noon} }, policy.Stop{}, false, policy.ReasonNone, "below the threshold"},
		{"a brake without a known end", func(s *workload.Sample) { s.Scale.Brake.On = "HPA web" }, policy.Stop{}, false, policy.ReasonNone, "below the threshold"},
		{"nothing", func(*workload.Sample) {}, policy.Stop{}, false, policy.ReasonNone, "below the threshold"},
	}
	for _, tt := range tests {
		s := healthy(workload.Scale{Desired: 10})
		tt.sample(&s)
		l := blank(100, workload.Scale{})
		if tt.yield {
			l.GraceUntil = noon.Add(time.Second)
		}
		l, d := policy.Decide(p, l, s, policy.Look{Now: noon, Stop: tt.stop})
		verdict := policy.Frozen
		if tt.want == policy.ReasonNone {
			verdict = policy.Pending
		}
		if d.Verdict != verdict || d.Reason != tt.want || !strings.Contains(d.Text, tt.text) {
			t.Errorf("%s: %s %s %q, want %s %q", tt.name, d.Verdict, d.Reason, d.Text, tt.want, tt.text)
		}
		if l.Freeze.Reason != string(tt.want) || (tt.want != "") != l.Freeze.Since.Equal(noon) {
			t.Errorf("%s: the latch says it is frozen for %+v", tt.name, l.Freeze)
		}
	}
}

// If a user scales to 120 pods, the reason explains why the level of 50 stays.
func TestWithinTheThresholdsSaysWhatARaiseCounts(t *testing.T) {
	t.Parallel()
	for ready, want := range map[int32]string{
		30: "30 of 40 pods are ready, and a raise counts only ready pods: the replica count of 30 is within the thresholds of level 50",
		39: "the replica count of 40 is within the thresholds of level 50",
	} {
		s := healthy(workload.Scale{Desired: 40})
		s.Scale.Ready = ready
		l, d := policy.Decide(policy.Presets()["cope"], blank(50, workload.Scale{}), s, policy.Look{Now: noon})
		if d.Verdict != policy.Quiet || d.Text != want || l.Up.Levels != nil {
			t.Errorf("%d ready: %s %q, want %q", ready, d.Verdict, d.Text, want)
		}
	}
}

// If most pods of a new workload are not ready yet, the reason of its first level names the
// number that is rounded.
func TestTheReasonOfARaiseNamesTheReadyPods(t *testing.T) {
	t.Parallel()
	s := healthy(workload.Scale{Desired: 42})
	s.Scale.Ready = 14
	l := latch.Latch{}
	for i, want := range []string{
		"14 of 42 pods are ready, and a raise counts only ready pods: 14 rounds to 20: sample 1 of 2",
		"14 of 42 pods are ready, and a raise counts only ready pods: 2 samples in a row rounded to level 20 or higher (last sample: 14 pods)",
	} {
		var d policy.Decision
		l, d = policy.Decide(policy.Presets()["cope"], l, s, policy.Look{Now: noon.Add(time.Duration(i) * time.Minute), Period: time.Minute})
		if d.Text != want {
			t.Errorf("sample %d: %q, want %q", i+1, d.Text, want)
		}
	}
}

// A freeze remembers its start, and a change of its reason. Once it is over, the latch
// forgets both.
func TestFreezeSaysSinceWhen(t *testing.T) {
	t.Parallel()
	p, l := policy.Presets()["cope"], blank(100, workload.Scale{})
	unread, down := workload.Sample{ID: web}, healthy(workload.Scale{Desired: 0})
	low := healthy(workload.Scale{Desired: 10})
	rolling := low
	rolling.Rollout = &workload.Rollout{InFlight: true}
	minute := func(n int) time.Time { return noon.Add(time.Duration(n) * 5 * time.Minute) }
	for i, tt := range []struct {
		sample workload.Sample
		want   latch.Freeze
	}{
		{low, latch.Freeze{}},
		{unread, latch.Freeze{Reason: "unread", Since: minute(1)}},
		{unread, latch.Freeze{Reason: "unread", Since: minute(1)}},
		{down, latch.Freeze{Reason: "suspended", Since: minute(3)}},
		{rolling, latch.Freeze{Reason: "rollout", Since: minute(4)}},
		{rolling, latch.Freeze{Reason: "rollout", Since: minute(4)}},
		{low, latch.Freeze{}},
	} {
		look := policy.Look{Now: minute(i), Period: 5 * time.Minute}
		if i > 0 {
			look.Last = minute(i - 1)
		}
		if l, _ = policy.Decide(p, l, tt.sample, look); l.Freeze != tt.want {
			t.Errorf("look %d: frozen for %+v, want %+v", i, l.Freeze, tt.want)
		}
	}
}

// A workload that a sample sees is not missing, even if the rest of it is unknown.
func TestDecideEndsAnAbsence(t *testing.T) {
	t.Parallel()
	l := blank(100, workload.Scale{})
	l.Missing = latch.Stopwatch{Since: noon.Add(-time.Hour)}
	for _, s := range []workload.Sample{healthy(workload.Scale{Desired: 90}), {ID: web}} {
		if got, _ := policy.Decide(policy.Presets()["cope"], l, s, policy.Look{Now: noon}); got.Missing.Running() {
			t.Errorf("still missing: %+v", got.Missing)
		}
	}
}

func TestYieldEndsAtItsInstant(t *testing.T) {
	t.Parallel()
	p, l := policy.Presets()["cope"], blank(100, workload.Scale{})
	l.GraceUntil = noon
	s := healthy(workload.Scale{Desired: 150})
	if _, d := policy.Decide(p, l, s, policy.Look{Now: noon.Add(-1)}); d.Reason != policy.ReasonYield {
		t.Errorf("just before: %s %s", d.Verdict, d.Reason)
	}
	l, d := policy.Decide(p, l, s, policy.Look{Now: noon})
	if d.Verdict != policy.Pending || !l.GraceUntil.IsZero() {
		t.Errorf("at its instant: %s, left alone until %s", d.Verdict, l.GraceUntil)
	}
}

// The reason is capped if the maximum in git, and not the autoscaler's, is below the
// desired replicas. It is a mismatch if the two maximums differ.
func TestCappedAndMismatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		bounds   policy.Mode
		accepted checkpoint.Entry
		live     workload.Scale
		capped   bool
		mismatch *policy.Bounds
	}{
		{"the same bounds", policy.ModeReport, checkpoint.Entry{Replicas: 50, Min: 1, Max: 50}, workload.Scale{Desired: 50, Min: 1, Max: 50}, false, nil},
		{"git's is below the need", policy.ModeReport, checkpoint.Entry{Replicas: 50, Min: 1, Max: 50}, workload.Scale{Desired: 51, Min: 1, Max: 80}, true, &policy.Bounds{Min: 1, Max: 80}},
		{"git's is below the need, and there is no other", policy.ModeReport, checkpoint.Entry{Replicas: 50, Max: 50}, workload.Scale{Desired: 51}, true, &policy.Bounds{}},
		{"git's is not below the need", policy.ModeReport, checkpoint.Entry{Replicas: 50, Max: 50}, workload.Scale{Desired: 50, Max: 80}, false, &policy.Bounds{Max: 80}},
		{"git has none", policy.ModeReport, checkpoint.Entry{Replicas: 50}, workload.Scale{Desired: 50, Max: 80}, false, &policy.Bounds{Max: 80}},
		{"both are below what is asked for", policy.ModeReport, checkpoint.Entry{Replicas: 50, Max: 50}, workload.Scale{Desired: 60, Max: 40}, false, &policy.Bounds{Max: 40}},
		{"the live ones are followed", policy.ModeLatch, checkpoint.Entry{Replicas: 50, Max: 50}, workload.Scale{Desired: 51, Max: 80}, false, &policy.Bounds{Max: 80}},
		{"nobody asked", policy.ModeIgnore, checkpoint.Entry{Replicas: 50}, workload.Scale{Desired: 51, Max: 80}, false, nil},
		{"nothing is declared", policy.ModeReport, checkpoint.Entry{}, workload.Scale{Desired: 51, Max: 80}, false, nil},
	}
	for _, tt := range tests {
		p := policy.Presets()["cope"]
		p.Bounds = tt.bounds
		_, d := policy.Decide(p, latch.Latch{ID: web, Declared: tt.accepted}, healthy(tt.live), policy.Look{Now: noon})
		if d.Capped != tt.capped {
			t.Errorf("%s: capped is %v", tt.name, d.Capped)
		}
		if (d.Mismatch == nil) != (tt.mismatch == nil) || d.Mismatch != nil && *d.Mismatch != *tt.mismatch {
			t.Errorf("%s: mismatch is %v, want %v", tt.name, d.Mismatch, tt.mismatch)
		}
	}
}

// Bounds are shown in words.
func TestBoundsInWords(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]policy.Bounds{
		"any number of replicas": {},
		"2 or more replicas":     {Min: 2},
		"up to 1 replicas":       {Max: 1},
		"1 to 1 replicas":        {Min: 1, Max: 1},
		"2 to 300 replicas":      {Min: 2, Max: 300},
		"3 to 2 replicas (the minimum is above the maximum)": {Min: 3, Max: 2},
	} {
		if got := b.String(); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
}

// The first sample of a site does not end a row of samples, and neither does a pause of three
// periods. A longer gap ends it.
func TestTheFirstSampleIsAfterNoGap(t *testing.T) {
	t.Parallel()
	l := blank(100, workload.Scale{})
	l.Up.Levels = []int32{200}
	for name, c := range map[string]struct {
		last time.Time
		want policy.Verdict
	}{
		"the first sample": {time.Time{}, policy.Cross},
		"three periods":    {noon.Add(-15 * time.Minute), policy.Cross},
		"a gap":            {noon.Add(-15*time.Minute - 1), policy.Pending},
	} {
		look := policy.Look{Now: noon, Last: c.last, Period: 5 * time.Minute}
		if _, d := policy.Decide(policy.Presets()["cope"], l, healthy(workload.Scale{Desired: 180}), look); d.Verdict != c.want {
			t.Errorf("%s: %s %q, want %s", name, d.Verdict, d.Text, c.want)
		}
	}
}

// A reading has a value in an entry only if the entry has a level or a rollout.
func TestTheValueOfAReading(t *testing.T) {
	t.Parallel()
	both := checkpoint.Entry{Replicas: 50, Rollout: checkpoint.Rollout{Milestone: 25, Phase: checkpoint.PhaseProgressing}}
	for _, c := range []struct {
		reading policy.Reading
		entry   checkpoint.Entry
		want    int32 // -1 without a value
	}{
		{policy.ReadingScale, both, 50},
		{policy.ReadingRollout, both, 25},
		{policy.ReadingScale, checkpoint.Entry{Rollout: both.Rollout}, -1},
		{policy.ReadingScale, checkpoint.Entry{Replicas: 1}, 1},
		{policy.ReadingRollout, checkpoint.Entry{Replicas: 50}, -1},
		{policy.ReadingRollout, checkpoint.Entry{Rollout: checkpoint.Rollout{Phase: checkpoint.PhaseFailed}}, 0},
	} {
		got := int32(-1)
		if value := c.reading.Of(c.entry); value != nil {
			got = *value
		}
		if got != c.want {
			t.Errorf("%q of %+v: %d, want %d", c.reading, c.entry, got, c.want)
		}
	}
}
