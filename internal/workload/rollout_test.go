package workload_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestPercentIsWhatBothPodsAndTrafficSay(t *testing.T) {
	t.Parallel()
	share := func(percent int32) *int32 { return &percent }
	for name, c := range map[string]struct {
		rollout workload.Rollout
		want    int32
	}{
		"templates unknown":      {workload.Rollout{InFlight: true, Desired: 10}, 0},
		"pods share evenly":      {workload.Rollout{Desired: 10, Templates: []workload.Template{{Available: 4}}}, 40},
		"no traffic yet":         {workload.Rollout{Desired: 10, Traffic: share(0), Templates: []workload.Template{{Available: 10}}}, 0},
		"less traffic than pods": {workload.Rollout{Desired: 10, Traffic: share(25), Templates: []workload.Template{{Available: 10}}}, 25},
		"more traffic than pods": {workload.Rollout{Desired: 10, Traffic: share(50), Templates: []workload.Template{{Available: 1}}}, 10},
		"a large fleet":          {workload.Rollout{Desired: 2_000_000_000, Traffic: share(50), Templates: []workload.Template{{Available: 2_000_000_000}}}, 50},
		"half of what is odd":    {workload.Rollout{Desired: 11, Traffic: share(50), Templates: []workload.Template{{Available: 6}}}, 50},
		"nothing desired":        {workload.Rollout{Templates: []workload.Template{{Available: 6}}}, 0},
	} {
		if percent := c.rollout.Percent(); percent != c.want {
			t.Errorf("%s: %d %%, want %d %%", name, percent, c.want)
		}
	}
}

func TestMixedIsOverOnceAllPodsAreOfOneTemplate(t *testing.T) {
	t.Parallel()
	pods := func(target, before int32) []workload.Template {
		return []workload.Template{{Desired: target, Available: target}, {Desired: before, Available: before}}
	}
	for name, c := range map[string]struct {
		rollout workload.Rollout
		want    bool
	}{
		"none":               {workload.Rollout{Desired: 10}, false},
		"templates unknown":  {workload.Rollout{InFlight: true, Failure: "aborted"}, true},
		"begins":             {workload.Rollout{InFlight: true, Templates: pods(0, 10)}, true},
		"waits for its last": {workload.Rollout{InFlight: true, Templates: pods(8, 0)}, false},
		"none yet":           {workload.Rollout{InFlight: true, Templates: pods(0, 0)}, true},
		"failed at its end":  {workload.Rollout{InFlight: true, Failure: "deadline", Templates: pods(8, 0)}, false},
		"failed, with both":  {workload.Rollout{InFlight: true, Failure: "aborted", Templates: pods(2, 8)}, true},
		"failed, with one":   {workload.Rollout{InFlight: true, Failure: "aborted", Templates: pods(0, 10)}, false},
		"failed, going":      {workload.Rollout{InFlight: true, Failure: "aborted", Templates: []workload.Template{{Available: 1}, {Desired: 10}}}, true},
		"failed, with none":  {workload.Rollout{InFlight: true, Failure: "aborted", Templates: pods(0, 0)}, true},
		"failed, one listed": {workload.Rollout{InFlight: true, Failure: "aborted", Templates: pods(0, 10)[:1]}, true},
		"halted, with one":   {workload.Rollout{InFlight: true, Halted: "paused", Templates: pods(0, 10)}, false},
		"halted, with both":  {workload.Rollout{InFlight: true, Halted: "paused", Templates: pods(1, 9)}, true},
		"halted, with none":  {workload.Rollout{InFlight: true, Halted: "paused", Templates: pods(0, 0)}, true},
		"halted, between":    {workload.Rollout{InFlight: true, Halted: "paused", Templates: append(pods(0, 9), workload.Template{Desired: 1})}, true},
		"halted at its end":  {workload.Rollout{InFlight: true, Halted: "paused", Templates: pods(10, 0)}, false},
	} {
		if got := c.rollout.Mixed(); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
