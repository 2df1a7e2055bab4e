package latch_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
)

var (
	noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at   = func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
)

func TestStopwatch(t *testing.T) {
	t.Parallel()
	started := latch.Stopwatch{Since: noon}
	for name, c := range map[string]struct {
		watch latch.Stopwatch
		at    int
		want  int // minutes
	}{
		"that never started":           {latch.Stopwatch{}, 60, 0},
		"at its start":                 {started, 0, 0},
		"running":                      {started, 60, 60},
		"paused":                       {started.Pause(at(10)), 60, 10},
		"paused twice":                 {started.Pause(at(10)).Pause(at(20)), 60, 10},
		"resumed":                      {started.Pause(at(10)).Resume(at(40)), 60, 30},
		"resumed twice":                {started.Pause(at(10)).Resume(at(40)).Resume(at(50)), 60, 30},
		"resumed without a pause":      {started.Resume(at(40)), 60, 60},
		"paused and resumed at once":   {started.Pause(at(10)).Resume(at(10)), 60, 60},
		"paused, resumed, paused":      {started.Pause(at(10)).Resume(at(40)).Pause(at(45)), 60, 15},
		"with a gap":                   {started.Lose(20 * time.Minute), 60, 40},
		"with a gap of less than none": {started.Lose(-20 * time.Minute), 60, 60},
		"with a gap while paused":      {started.Pause(at(30)).Lose(20 * time.Minute), 60, 10},
	} {
		if got := c.watch.Elapsed(at(c.at)); got != time.Duration(c.want)*time.Minute {
			t.Errorf("a stopwatch %s shows %s, want %d minutes", name, got, c.want)
		}
	}
	var none latch.Stopwatch
	if none.Running() || none.Pause(noon) != none || none.Resume(noon) != none || none.Lose(time.Hour) != none {
		t.Error("a stopwatch that never started is started by something else")
	}
}

// A random history of samples. Each one counts, does not count, or comes after a gap.
// The stopwatch shows the sum of the counted stretches.
func TestStopwatchShowsTheSumOfWhatWasObserved(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		watch, now := latch.Stopwatch{Since: noon}, noon
		var sum, last time.Duration
		counted := true // the previous sample counted
		for look := range 40 {
			before := now
			now = now.Add(time.Duration(1 + r.Int64N(int64(10*time.Minute))))
			counts := r.IntN(3) > 0
			switch {
			case !counts:
				watch = watch.Pause(before)
			case !counted:
				watch = watch.Resume(before)
				sum += now.Sub(before)
			case r.IntN(5) == 0:
				watch = watch.Lose(now.Sub(before))
			default:
				sum += now.Sub(before)
			}
			counted = counts
			shown := watch.Elapsed(now)
			if shown != sum || shown < last {
				t.Fatalf("seed %d, look %d: shows %s after %s, want %s", seed, look, shown, last, sum)
			}
			last = shown
			if again := watch.Elapsed(now.Add(time.Hour)); !counted && again != shown {
				t.Fatalf("seed %d, look %d: goes on while paused", seed, look)
			}
		}
	}
}
