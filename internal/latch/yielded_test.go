package latch_test

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
)

// A pause, an edit grace period and a mass removal end at their instant. A latch without
// other state is then blank, and not stored.
func TestYieldedAtItsInstant(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, l := range map[string]latch.Latch{
		"pause":             {PausedUntil: until},
		"edit grace period": {GraceUntil: until, GraceScale: true},
		"mass removal":      {RemovedUntil: until},
	} {
		if got := l.Yielded(until.Add(-1)); !got.Equal(l) {
			t.Errorf("%s: before its end, it is %+v", name, got)
		}
		if got := l.Yielded(until); !got.Equal(latch.Latch{}) || !got.Blank() {
			t.Errorf("%s: at its end, it is %+v", name, got)
		}
	}
}
