package latch

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

func rollout(milestone int32, from, to string) checkpoint.Rollout {
	return checkpoint.Rollout{Milestone: milestone, From: checkpoint.Template{Hash: from}, To: checkpoint.Template{Hash: to}}
}

// What a rollout has spent is counted from its beginning to its end, whatever
// happens to the level beside it.
func TestARolloutsCommitsAreCounted(t *testing.T) {
	t.Parallel()
	none, at10, at25, next := checkpoint.Rollout{}, rollout(10, "v1", "v2"), rollout(25, "v1", "v2"), rollout(0, "v2", "v3")
	running := Rollout{Target: "v2", Levels: []int32{10, 25}, Asked: 7, Commits: 3}
	stopped := Rollout{Commits: 3}
	after := func(commits int) Rollout {
		r := running
		r.Commits = commits
		return r
	}
	entry := func(level int32, r checkpoint.Rollout) checkpoint.Entry {
		return checkpoint.Entry{Replicas: level, Rollout: r}
	}
	for name, c := range map[string]struct {
		was, now         checkpoint.Entry
		settled, adopted Rollout
	}{
		"its beginning":               {entry(50, none), entry(50, at10), after(1), Rollout{Commits: 1}},
		"an advance":                  {entry(50, at10), entry(50, at25), after(4), stopped},
		"a level beside it":           {entry(50, at10), entry(100, at10), after(3), stopped},
		"a level beside an advance":   {entry(50, at10), entry(100, at25), after(4), stopped},
		"another that overtakes it":   {entry(50, at25), entry(50, next), after(1), Rollout{Commits: 1}},
		"its end":                     {entry(50, at25), entry(50, none), Rollout{}, Rollout{}},
		"its end with its level":      {entry(50, at25), checkpoint.Entry{}, Rollout{}, Rollout{}},
		"a level where there is none": {entry(50, none), entry(100, none), after(3), Rollout{}},
	} {
		l := Latch{Declared: c.was, Rollout: running}
		if got := l.Settled(c.now); !got.Equal(Latch{Declared: c.now, Rollout: c.settled}) {
			t.Errorf("%s, settled: %+v", name, got)
		}
		if got := l.Adopted(c.now, time.Time{}); !got.Equal(Latch{Declared: c.now, Rollout: c.adopted}) {
			t.Errorf("%s, adopted: %+v", name, got)
		}
		proposed := l.Proposing(c.now)
		if !proposed.Equal(Latch{Declared: c.was, Proposed: c.now, Rollout: c.settled}) {
			t.Errorf("%s, proposed: %+v", name, proposed)
		}
		if c.now != (checkpoint.Entry{}) && !proposed.Settled(c.now).Equal(Latch{Declared: c.now, Rollout: c.settled}) {
			t.Errorf("%s, proposed and merged: %+v", name, proposed.Settled(c.now))
		}
	}
	if (Latch{Rollout: stopped}).Blank() || !(Latch{}).Blank() {
		t.Error("commits say something, and their absence nothing")
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
