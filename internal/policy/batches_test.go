package policy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// batches is a rollout of pods in batches, each of which becomes available as a
// whole once its time is over, and then the next is asked for.
type batches struct {
	pods, batch int32
	takes, tick time.Duration
	unjudged    bool  // as a StatefulSet is; else as a Deployment
	stays       int32 // no more than so many become available; 0 is all
	failed      bool  // by its condition, once it stays
	follows     int   // so many in a row, the last in flight half an hour before
}

// at is what is seen of it a while after its beginning.
func (b batches) at(after time.Duration) workload.Rollout {
	available := int32(after/b.takes) * b.batch
	if b.stays > 0 {
		available = min(available, b.stays)
	}
	asked := min(b.pods, available+b.batch)
	r := workload.Rollout{InFlight: available < b.pods, Desired: b.pods, Unjudged: b.unjudged, Templates: []workload.Template{
		{Hash: "v2", Desired: asked, Available: available}, {Hash: "v1", Desired: b.pods - available, Available: b.pods - available},
	}}
	if b.failed && available == b.stays {
		r.Failure = "ProgressDeadlineExceeded"
	}
	return r
}

// lostAfter is what git says of it when the cluster is lost.
func (b batches) lostAfter(after time.Duration) checkpoint.Rollout {
	p, l := policy.Presets()["cope"], latch.Latch{ID: web}
	if b.follows > 0 {
		l.Rollout.Before, l.Rollout.Follows = noon.Add(-30*time.Minute), b.follows-1
	}
	for look := (policy.Look{Now: noon, Period: b.tick}); !look.Now.After(noon.Add(after)); look.Last, look.Now = look.Now, look.Now.Add(b.tick) {
		r := b.at(look.Now.Sub(noon))
		var d policy.Decision
		if l, d = policy.DecideRollout(p, l, workload.Sample{ID: web, Rollout: &r}, look); d.Crosses() {
			l = l.Settled(d.On(l.Declared))
		}
	}
	return l.Declared.Rollout
}

// A good rollout is in good health while it waits for a batch; a bad one is not,
// whatever batches it asked for. Of one that was at four milestones before, the
// last commits are kept, and git says 50 % to its end.
func TestLostInSlowBatchesARebuildBeginsWithTheVersionOfItsMilestone(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	for _, c := range []struct {
		said  string
		of    batches
		after time.Duration
		want  string // milestone, phase and side; "" is nothing
	}{
		{"good at 9 of 10, 3 min each", batches{pods: 10, batch: 1, takes: 3 * m, tick: m}, 28 * m, "75 progressing to"},
		{"good at 9 of 10, 3 min each, unjudged", batches{pods: 10, batch: 1, takes: 3 * m, tick: m, unjudged: true}, 28 * m, "75 progressing to"},
		{"good at 9 of 10, 9 min each, unjudged", batches{pods: 10, batch: 1, takes: 9 * m, tick: m, unjudged: true}, 85 * m, "75 progressing to"},
		{"good at 8 of 10, 9 min each, tick 5 min, unjudged", batches{pods: 10, batch: 1, takes: 9 * m, tick: 5 * m, unjudged: true}, 80 * m, "75 progressing to"},
		{"good at 90 of 100, 10 a batch of 9 min", batches{pods: 100, batch: 10, takes: 9 * m, tick: m}, 85 * m, "75 progressing to"},
		{"good at 75 of 100, 25 a batch of 8 min", batches{pods: 100, batch: 25, takes: 8 * m, tick: m}, 31 * m, "75 progressing to"},
		{"good at 90 of 100, 10 a batch of 6 min, tick 5 min", batches{pods: 100, batch: 10, takes: 6 * m, tick: 5 * m}, 59 * m, "75 progressing to"},
		{"good at 9 of 10, 12 min each, unjudged", batches{pods: 10, batch: 1, takes: 12 * m, tick: m, unjudged: true}, 109 * m, "75 progressing to"},
		{"good at 9 of 10, 20 min each, tick 5 min, unjudged", batches{pods: 10, batch: 1, takes: 20 * m, tick: 5 * m, unjudged: true}, 185 * m, "75 progressing to"},
		{"failed at 5 of 10, 12 min each, unjudged", batches{pods: 10, batch: 1, takes: 12 * m, tick: m, stays: 5, unjudged: true}, 85 * m, "0 failed from"},
		{"bad, stuck at 1 of 10", batches{pods: 10, batch: 1, takes: 3 * m, tick: m, stays: 1}, 8 * m, "10 progressing from"},
		{"bad, stuck at 1 of 10, unjudged", batches{pods: 10, batch: 1, takes: 3 * m, tick: m, stays: 1, unjudged: true}, 13 * m, "0 failed from"},
		{"bad, stuck at 10 of 100", batches{pods: 100, batch: 10, takes: 3 * m, tick: m, stays: 10}, 60 * m, "10 progressing from"},
		{"bad, stuck at 0 of 10", batches{pods: 10, batch: 3, takes: 300 * m, tick: m}, 60 * m, "0 progressing from"},
		{"failed at 8 of 10, by its condition", batches{pods: 10, batch: 2, takes: 3 * m, tick: m, stays: 8, failed: true}, 12 * m, "0 failed from"},
		{"failed at 8 of 10, by its stall", batches{pods: 10, batch: 2, takes: 3 * m, tick: m, stays: 8, unjudged: true}, 22 * m, "0 failed from"},
		{"at 8 of 10, before its deadline", batches{pods: 10, batch: 2, takes: 3 * m, tick: m, stays: 8, unjudged: true}, 21 * m, "75 progressing to"},
		{"a third within the hour, stuck", batches{pods: 10, batch: 3, takes: 300 * m, tick: m, follows: 2}, m, "0 progressing from"},
		{"a third within the hour, stuck at 1 of 10", batches{pods: 10, batch: 1, takes: 3 * m, tick: m, stays: 1, follows: 2}, 5 * m, "10 progressing from"},
		{"a third within the hour that gets on", batches{pods: 100, batch: 1, takes: m, tick: m, follows: 2}, 50 * m, ""},
		{"a second within the hour that gets on", batches{pods: 100, batch: 1, takes: m, tick: m, follows: 1}, 10 * m, "0 progressing from"},
		{"at 10 of 100, 10 a look of 1 min", batches{pods: 100, batch: 10, takes: m, tick: m}, m, "0 progressing from"},
		{"at 10 of 100, 10 a look of 5 min", batches{pods: 100, batch: 10, takes: 5 * m, tick: 5 * m}, 5 * m, "0 progressing from"},
		{"at 10 of 100, 10 a look of 15 min", batches{pods: 100, batch: 10, takes: 15 * m, tick: 15 * m}, 15 * m, "0 progressing from"},
		{"one that is soon over", batches{pods: 100, batch: 20, takes: m, tick: m}, 4 * m, ""},
		{"one that is soon over, tick 5 min", batches{pods: 100, batch: 20, takes: 5 * m, tick: 5 * m}, 20 * m, ""},
	} {
		got := ""
		if r := c.of.lostAfter(c.after); r != (checkpoint.Rollout{}) {
			got = fmt.Sprintf("%d %s %s", r.Milestone, r.Phase, r.Returns)
		}
		if got != c.want {
			t.Errorf("%s, lost after %s: git says %q, want %q", c.said, c.after, got, c.want)
		}
	}
}

// How many pods are due decides what a sample of them is worth.
func TestWhatIsDueOfARollout(t *testing.T) {
	t.Parallel()
	pods := func(available, asked int32) workload.Template {
		return workload.Template{Hash: "v2", Desired: asked, Available: available}
	}
	stays := make([]workload.Template, 11)
	for i := range stays {
		stays[i] = pods(60, 80)
	}
	for name, c := range map[string]struct {
		seen []workload.Template // a minute apart
		want int32
	}{
		"a batch was just asked for":             {[]workload.Template{pods(50, 50), pods(50, 75), pods(50, 75)}, 50},
		"pods crash that were available":         {[]workload.Template{pods(50, 50), pods(40, 75), pods(40, 75)}, 0},
		"one in twenty crashes":                  {[]workload.Template{pods(60, 60), pods(57, 75), pods(57, 75)}, 50},
		"scaled in":                              {[]workload.Template{pods(80, 80), pods(50, 50), pods(50, 50)}, 50},
		"no more came until the deadline":        {stays, 0},
		"others were asked for since":            {append(stays[:11:11], pods(60, 100), pods(60, 100)), 0},
		"no more came almost until it":           {stays[:10], 50},
		"they came at last, and others may wait": {append(stays[:11:11], pods(80, 100), pods(80, 100)), 75},
	} {
		p, l, look := policy.Presets()["cope"], latch.Latch{ID: web}, policy.Look{Now: noon, Period: time.Minute}
		for _, target := range c.seen {
			r := workload.Rollout{InFlight: true, Desired: 100, Templates: []workload.Template{target, {Hash: "v1", Desired: 50, Available: 50}}}
			l, _ = policy.DecideRollout(p, l, workload.Sample{ID: web, Rollout: &r}, look)
			look.Last, look.Now = look.Now, look.Now.Add(time.Minute)
		}
		if got := l.Rollout.Levels[len(l.Rollout.Levels)-1]; got != c.want {
			t.Errorf("%s: at %d %%, want %d", name, got, c.want)
		}
	}
}
