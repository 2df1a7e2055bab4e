package latch

import (
	"slices"
	"testing"
	"time"
)

// A scale of one pod is a step, and none starts at zero.
func TestTheFirstStepOfAScale(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	for pods, want := range map[int32]Recent{-1: nil, 0: nil, 1: {{Pods: 1}}, 7: {{Pods: 7}}} {
		if got := (Recent)(nil).Next(pods, time.Time{}, now, time.Hour); !slices.Equal(got, want) {
			t.Errorf("after %d pods it is %v, want %v", pods, got, want)
		}
	}
}
