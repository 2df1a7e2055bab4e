package latch

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func rollout(milestone int32, from, to string) checkpoint.Rollout {
	return checkpoint.Rollout{Milestone: milestone, From: checkpoint.Template{Hash: from}, To: checkpoint.Template{Hash: to}}
}

// flies returns the memory of a rollout in flight since noon.
func flies() Rollout {
	at := Stopwatch{Since: noon}
	return Rollout{Target: "v2", Flight: at, Stalled: at, Healthy: at, Peak: 3, Percent: 30, WasAtCut: true, Failed: true}
}

// The memory of an unseen rollout pauses: the measurements stay, and the samples before
// and after it are not in a row.
func TestARolloutThatIsNotSeenStandsStill(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Hour)
	at := Stopwatch{Since: noon, Paused: later}
	want := Rollout{Target: "v2", Flight: at, Stalled: at, Healthy: at, Peak: 3, Failed: true}
	if got := flies().Pause(later); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := flies().Pause(later).Pause(later.Add(time.Hour)); got != want {
		t.Errorf("paused again, %+v, want %+v", got, want)
	}
	if got := (Rollout{}).Pause(later); got != (Rollout{}) {
		t.Errorf("of none is left %+v", got)
	}
}

// A change to a rollout entry in git, by gitlatch or a user, moves no timer of the
// rollout or of the level.
func TestARecordMovesNoTimer(t *testing.T) {
	t.Parallel()
	l := Latch{Declared: checkpoint.Entry{Replicas: 50}, Flight: new(flies()), Up: Up{Levels: []int32{200}}, Down: Down{Level: 20, Count: 2, Stopwatch: Stopwatch{Since: noon}}}
	to := checkpoint.Entry{Replicas: 50, Rollout: rollout(30, "v1", "v2")}
	for name, got := range map[string]Latch{"settled": l.Settled(to), "proposed": l.Proposing(to, false), "merged": l.Proposing(to, false).Settled(to)} {
		want := l
		want.Declared, want.Proposal = got.Declared, got.Proposal
		if !got.Equal(want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := l.Adopted(to, noon.Add(time.Hour)); got.Rollout() != flies() || got.GraceScale {
		t.Errorf("adopted: %+v", got)
	}
	if (Latch{Flight: new(flies())}).Blank() || !(Latch{}).Blank() {
		t.Error("a rollout in flight says nothing, or the absence of all something")
	}
}

// The state of a rollout is small on purpose: each field adds special cases.
func TestARolloutHasAtMost14Fields(t *testing.T) {
	t.Parallel()
	if n := leaves(reflect.TypeFor[Rollout]()); n > 14 {
		t.Errorf("%d fields", n)
	}
}

func leaves(of reflect.Type) (n int) {
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
		return 1
	}
	for i := range of.NumField() {
		n += leaves(of.Field(i).Type)
	}
	return n
}

// A stored rollout is read back without loss of a field.
func TestARolloutIsStoredWhole(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(flies())
	var back Rollout
	if err := json.Unmarshal(data, &back); err != nil || back != flies() {
		t.Errorf("%v: %s", err, data)
	}
	if err != nil {
		t.Error(err)
	}
}

// A user who edits a level has made no decision about the rollout of that workload.
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
		if c.l.GraceScale != c.want {
			t.Errorf("%s: the scale alone yields: %t", name, c.l.GraceScale)
		}
	}
	if l := begun.Adopted(level, until).Yielded(until.Add(-1)); l.GraceUntil != until || !l.GraceScale {
		t.Errorf("before the yield is over: %+v", l)
	}
}

// Timers run for a proposed level. For a mere question to a user, a review or a
// retirement, they continue with the level in git.
func TestTimersRunOnWhilePeopleAreAsked(t *testing.T) {
	t.Parallel()
	l := Latch{Declared: checkpoint.Entry{Replicas: 50}, Up: Up{Levels: []int32{200}}, Down: Down{Level: 20, Count: 2}}
	more := checkpoint.Entry{Replicas: 200}
	if asked := l.Proposing(more, true); asked.Base() != l.Declared || len(asked.Up.Levels) != 1 || asked.Down != l.Down {
		t.Errorf("asked: %+v", asked)
	} else if merged := asked.Settled(more); merged.Proposal != nil || merged.Declared != more || merged.Down.Level != 0 {
		t.Errorf("asked and merged: %+v", merged)
	}
	recorded := checkpoint.Entry{Replicas: 50, Rollout: rollout(30, "v1", "v2")}
	if open := l.Proposing(more, true).Settled(recorded); !open.Proposal.Asked || open.Declared != recorded || open.Proposed() != more.WithRollout(recorded.Rollout) {
		t.Errorf("a review, and a record beside it: %+v", open)
	}
	if proposed := l.Proposing(more, false); proposed.Base() != more || len(proposed.Up.Levels) != 0 {
		t.Errorf("proposed: %+v", proposed)
	}
	retires := Latch{}.Proposing(checkpoint.Entry{}, true)
	if _, proposes := retires.Change(); !proposes || retires.Blank() || !retires.Unproposed().Blank() {
		t.Errorf("a retirement: %+v", retires)
	}
	if adopted := retires.Adopted(more, time.Time{}); adopted.Proposal != nil {
		t.Errorf("adopted: %+v", adopted)
	}
}

// A new level that the samples do not exceed leaves no timer of a raise, also in the stored
// form.
func TestALevelEndsTheTimerOfARaise(t *testing.T) {
	t.Parallel()
	l := Latch{Up: Up{Levels: []int32{200, 100}}}
	if got := l.Settled(checkpoint.Entry{Replicas: 200}); got.Up.Levels != nil {
		t.Errorf("at the level: %#v", got.Up)
	}
	if got := l.Settled(checkpoint.Entry{Replicas: 50}); len(got.Up.Levels) != 2 {
		t.Errorf("below the levels: %#v", got.Up)
	}
}
