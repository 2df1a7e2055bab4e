package latch

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func rollout(milestone int32, from, to string) checkpoint.Rollout {
	return checkpoint.Rollout{Milestone: milestone, From: checkpoint.Template{Hash: from}, To: checkpoint.Template{Hash: to}}
}

// What a rollout has spent is counted from its beginning to its end, or to that of
// one that overtakes it, whatever happens to the level beside it.
func TestARolloutsCommitsAreCounted(t *testing.T) {
	t.Parallel()
	none, at10, at25, next := checkpoint.Rollout{}, rollout(10, "v1", "v2"), rollout(25, "v1", "v2"), rollout(0, "v2", "v3")
	flies := Rollout{Target: "v2", Stopwatch: Stopwatch{Since: noon}, Levels: []int32{10, 25}, Progress: Progress{Asked: 7, Available: 7, Due: 7}, Before: noon, Follows: 1, Commits: 3}
	over := Rollout{Before: noon, Follows: 1, Commits: 3}
	stopped := Rollout{Commits: 3}
	after := func(r Rollout, commits int) Rollout {
		r.Commits = commits
		return r
	}
	entry := func(level int32, r checkpoint.Rollout) checkpoint.Entry {
		return checkpoint.Entry{Replicas: level, Rollout: r}
	}
	for name, c := range map[string]struct {
		timer            Rollout
		was, now         checkpoint.Entry
		settled, adopted Rollout
	}{
		"its beginning":               {after(flies, 0), entry(50, none), entry(50, at10), after(flies, 1), Rollout{Commits: 1}},
		"an advance":                  {flies, entry(50, at10), entry(50, at25), after(flies, 4), stopped},
		"a level beside it":           {flies, entry(50, at10), entry(100, at10), flies, flies},
		"a level beside an advance":   {flies, entry(50, at10), entry(100, at25), after(flies, 4), stopped},
		"another that overtakes it":   {flies, entry(50, at25), entry(50, next), after(flies, 1), Rollout{Commits: 1}},
		"the way back of it":          {flies, entry(50, at25), entry(50, rollout(0, "v2", "v1")), after(flies, 4), Rollout{Commits: 1}},
		"nothing while it flies":      {flies, entry(50, at25), entry(50, none), after(flies, 0), Rollout{}},
		"its end":                     {over, entry(50, at25), entry(50, none), after(over, 0), Rollout{}},
		"its end with its level":      {over, entry(50, at25), checkpoint.Entry{}, after(over, 0), Rollout{}},
		"a level where there is none": {flies, entry(50, none), entry(100, none), flies, flies},
	} {
		l := Latch{Declared: c.was, Rollout: c.timer}
		if got := l.Settled(c.now); !got.Equal(Latch{Declared: c.now, Rollout: c.settled}) {
			t.Errorf("%s, settled: %+v", name, got.Rollout)
		}
		if got := l.Adopted(c.now, time.Time{}); !got.Equal(Latch{Declared: c.now, Rollout: c.adopted}) {
			t.Errorf("%s, adopted: %+v", name, got.Rollout)
		}
		proposed := l.Proposing(c.now)
		if !proposed.Equal(Latch{Declared: c.was, Proposed: c.now, Rollout: c.settled}) {
			t.Errorf("%s, proposed: %+v", name, proposed.Rollout)
		}
		if c.now != (checkpoint.Entry{}) && !proposed.Settled(c.now).Equal(Latch{Declared: c.now, Rollout: c.settled}) {
			t.Errorf("%s, proposed and merged: %+v", name, proposed.Settled(c.now).Rollout)
		}
	}
	for _, says := range []Rollout{stopped, flies, {Before: noon}, {Target: "v2"}} {
		if (Latch{Rollout: says}).Blank() {
			t.Errorf("%+v says nothing", says)
		}
	}
	if !(Latch{}).Blank() {
		t.Error("the absence of all says something")
	}
	if none, some := stopped.Restarted(none), flies.Restarted(at10); !none.blank() || some.Commits != 3 || some.Target != "" {
		t.Errorf("begun anew, %+v and %+v", none, some)
	}
}

// A time that was not observed takes nothing from what was measured before it.
func TestARolloutThatIsNotSeenStandsStill(t *testing.T) {
	t.Parallel()
	flies := Rollout{Target: "v2", Stopwatch: Stopwatch{Since: noon}, Levels: []int32{10}, Served: 3, Soon: true,
		Progress: Progress{Asked: 5, Available: 3, Due: 4, Stopwatch: Stopwatch{Since: noon}}, Before: noon, Follows: 1, Commits: 3}
	later := noon.Add(time.Hour)
	still := Rollout{Target: "v2", Stopwatch: Stopwatch{Since: noon, Paused: later},
		Progress: Progress{Asked: 5, Available: 3, Due: 4, Stopwatch: Stopwatch{Since: noon, Paused: later}}, Before: noon, Follows: 1, Commits: 3}
	got := flies.Pause(later)
	if l := (Latch{Rollout: got}); !l.Equal(Latch{Rollout: still}) {
		t.Errorf("%+v, want %+v", got, still)
	}
	for name, c := range map[string]struct{ got, want time.Time }{
		"in flight":          {flies.Seen(later), later},
		"not seen since":     {got.Seen(later.Add(time.Hour)), later},
		"over":               {Rollout{Before: noon}.Seen(later), noon},
		"that was never one": {Rollout{}.Seen(later), time.Time{}},
	} {
		if !c.got.Equal(c.want) {
			t.Errorf("%s: last seen at %s, want %s", name, c.got, c.want)
		}
	}
}

// A milestone moves no timer of the level.
func TestAMilestoneMovesNoTimerOfTheLevel(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	l := Latch{Declared: checkpoint.Entry{Replicas: 50}, Up: Up{Levels: []int32{20}}, Down: Down{Level: 20, Count: 2, Stopwatch: Stopwatch{Since: now}}}
	got := l.Settled(checkpoint.Entry{Replicas: 50, Rollout: rollout(10, "v1", "v2")})
	l.Declared, l.Rollout = got.Declared, got.Rollout
	if !got.Equal(l) {
		t.Errorf("%+v, want %+v", got, l)
	}
}

// Who edits a level has not judged the rollout beside it.
func TestWhoEditsALevelLetsItsRolloutGoOn(t *testing.T) {
	t.Parallel()
	until := noon.Add(24 * time.Hour)
	begun := Latch{Declared: checkpoint.Entry{Replicas: 50, Rollout: rollout(10, "v1", "v2")}}
	level := checkpoint.Entry{Replicas: 100, Rollout: rollout(10, "v1", "v2")}
	further := checkpoint.Entry{Replicas: 100, Rollout: rollout(90, "v1", "v2")}
	for name, c := range map[string]struct {
		l    Latch
		want bool
	}{
		"a level":                        {begun.Adopted(level, until), true},
		"both":                           {begun.Adopted(further, until), false},
		"a rollout":                      {begun.Adopted(level, until).Adopted(further, until), false},
		"a level after a rollout":        {begun.Adopted(further, until).Adopted(level, until).Adopted(begun.Declared, until), false},
		"nothing: a proposal closed":     {begun.Adopted(begun.Declared, until), false},
		"a level, a day after":           {begun.Adopted(further, until).Yielded(until).Adopted(checkpoint.Entry{Replicas: 20, Rollout: further.Rollout}, until), true},
		"a level, and the yield is over": {begun.Adopted(level, until).Yielded(until), false},
	} {
		if c.l.YieldScale != c.want {
			t.Errorf("%s: the scale alone yields: %t", name, c.l.YieldScale)
		}
	}
	if l := begun.Adopted(level, until).Yielded(until.Add(-1)); l.YieldUntil != until || !l.YieldScale {
		t.Errorf("before the yield is over: %+v", l)
	}
}
