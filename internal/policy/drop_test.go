package policy_test

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const unknown = latch.Unknown

// scales returns the scales of n workloads. Workloads after the last given count have
// the last count.
func scales(n int, counts ...int32) map[workload.ID]int32 {
	all := map[workload.ID]int32{}
	for i := range n {
		all[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("w%d", i)}] = counts[min(i, len(counts)-1)]
	}
	return all
}

// few returns n workloads: the first k have low replicas, the others high.
func few(n, k int, low, high int32) map[workload.ID]int32 {
	counts := make([]int32, 0, n)
	for i := range n {
		if i < k {
			counts = append(counts, low)
		} else {
			counts = append(counts, high)
		}
	}
	return scales(n, counts...)
}

func fleetAt(minutes int) workload.Fleet {
	return workload.Fleet{Site: "prod-eu", Cluster: "uid-blue", At: noon.Add(time.Duration(minutes) * time.Minute)}
}

// watched is a site with the guards.
type watched struct {
	guards policy.Guards
	head   latch.Head
	past   map[workload.ID]latch.Recent
}

func watching() *watched {
	return &watched{guards: policy.DefaultGuards(), past: map[workload.ID]latch.Recent{}}
}

// look takes one sample, and returns the stop.
func (w *watched) look(fleet workload.Fleet, scales map[workload.ID]int32) policy.Stop {
	latches := map[workload.ID]latch.Latch{}
	for id, r := range w.past {
		latches[id] = latch.Latch{ID: id, Recent: r}
	}
	state, stop := policy.Assess(w.guards, latch.State{Head: w.head, Latches: latch.LatchesOf(latches)}, fleet, scales)
	w.head = state.Head
	w.head.At = fleet.At
	for l := range state.Latches.All() {
		if w.past[l.ID] = l.Recent; len(l.Recent) == 0 {
			delete(w.past, l.ID)
		}
	}
	return stop
}

func TestMassDrop(t *testing.T) {
	t.Parallel()
	type seen struct {
		minute int
		scales map[workload.ID]int32
	}
	tests := []struct {
		name   string
		guards func(*policy.Guards)
		looks  []seen
		drop   bool
	}{
		{"3 of 10 halve", nil, []seen{{0, few(10, 0, 0, 20)}, {5, few(10, 3, 10, 20)}}, true},
		{"3 of 10 not quite", nil, []seen{{0, few(10, 0, 0, 20)}, {5, few(10, 3, 11, 20)}}, false},
		{"2 of 10", nil, []seen{{0, few(10, 0, 0, 20)}, {5, few(10, 2, 1, 20)}}, false},
		{"2 of 2 are too few to tell", nil, []seen{{0, few(2, 0, 0, 20)}, {5, few(2, 2, 1, 20)}}, false},
		{"3 of 3", nil, []seen{{0, few(3, 0, 0, 20)}, {5, few(3, 3, 1, 20)}}, true},
		{"29 of 100", nil, []seen{{0, few(100, 0, 0, 20)}, {5, few(100, 29, 1, 20)}}, false},
		{"30 of 100", nil, []seen{{0, few(100, 0, 0, 20)}, {5, few(100, 30, 1, 20)}}, true},
		{"exactly 7 %", func(g *policy.Guards) { g.DropShare = 0.07 }, []seen{{0, few(100, 0, 0, 20)}, {5, few(100, 7, 1, 20)}}, true},
		{"exactly 55 %", func(g *policy.Guards) { g.DropShare = 0.55 }, []seen{{0, few(100, 0, 0, 20)}, {5, few(100, 55, 1, 20)}}, true},
		{"less than 55 %", func(g *policy.Guards) { g.DropShare = 0.55 }, []seen{{0, few(100, 0, 0, 20)}, {5, few(100, 54, 1, 20)}}, false},
		{"down to zero", nil, []seen{{0, few(10, 0, 0, 20)}, {5, few(10, 3, 0, 20)}}, true},
		{"single pods cannot halve, and are no part of the whole", nil, []seen{{0, few(20, 10, 1, 20)}, {5, few(20, 10, 0, 20)}}, false},
		{"single pods do not hide those that halve", nil, []seen{{0, few(20, 9, 20, 1)}, {5, scales(20, 10, 10, 10, 20, 20, 20, 20, 20, 20, 1)}}, true},
		{"2 to 1 is half", nil, []seen{{0, few(3, 0, 0, 2)}, {5, few(3, 3, 1, 2)}}, true},
		{"step by step within half an hour", nil, []seen{{0, scales(5, 20)}, {10, scales(5, 17)}, {20, scales(5, 13)}, {30, scales(5, 10)}}, true},
		{"step by step over more than half an hour", nil, []seen{{0, scales(5, 20)}, {10, scales(5, 17)}, {20, scales(5, 13)}, {31, scales(5, 10)}}, false},
		{"from a peak that was short", nil, []seen{{0, scales(5, 12)}, {10, scales(5, 24)}, {20, scales(5, 12)}}, true},
		{"the night falls slowly", nil, []seen{{0, scales(5, 100)}, {30, scales(5, 60)}, {60, scales(5, 35)}, {90, scales(5, 20)}}, false},
		{"of what was new a moment ago", nil, []seen{{0, scales(1, 20)}, {5, scales(5, 20)}, {10, scales(5, 10)}}, true},
		{"what is absent has not halved", nil, []seen{{0, scales(10, 20)}, {5, scales(6, 20)}}, false},
		{"what is made anew half as large", nil, []seen{{0, scales(5, 20)}, {5, scales(0, 0)}, {10, scales(5, 10)}}, true},
		{"what is made anew after more than half an hour", nil, []seen{{0, scales(5, 20)}, {5, scales(0, 0)}, {40, scales(0, 0)}, {75, scales(5, 10)}}, false},
		{"the first look", nil, []seen{{0, scales(5, 1)}}, false},
		{"over a night without looks", nil, []seen{{0, scales(5, 20)}, {600, scales(5, 1)}}, true},
		{"not quite over a night without looks", nil, []seen{{0, scales(5, 20)}, {600, scales(5, 11)}}, false},
		{"from the last look before the night, not from the peak before that", nil, []seen{{0, scales(5, 40)}, {20, scales(5, 21)}, {600, scales(5, 11)}}, false},
		{"what was seen before a look after the night is no measure", nil, []seen{{0, scales(5, 20)}, {600, scales(5, 11)}, {605, scales(5, 6)}}, false},
		{"while unknown for a moment", nil, []seen{{0, scales(5, 20)}, {5, scales(5, unknown)}, {10, scales(5, 10)}}, true},
		{"while unknown for a night", nil, []seen{{0, scales(5, 20)}, {5, scales(5, unknown)}, {300, scales(5, unknown)}, {600, scales(5, 10)}}, true},
		{"a part of which is known, and halved", nil, []seen{{0, scales(100, 20)}, {5, scales(100, 10, 10, 10, unknown)}}, true},
		{"what was always unknown", nil, []seen{{0, scales(5, unknown)}, {5, scales(5, 1)}}, false},
		{"what is unknown has not halved", nil, []seen{{0, scales(5, 20)}, {5, scales(5, unknown)}}, false},
	}
	for _, tt := range tests {
		w := watching()
		if tt.guards != nil {
			tt.guards(&w.guards)
		}
		var stop policy.Stop
		for _, look := range tt.looks {
			stop = w.look(fleetAt(look.minute), look.scales)
		}
		if got := stop.Reason == policy.ReasonMassDrop; got != tt.drop || got != (w.head.Drop != nil) || stop.All {
			t.Errorf("%s: %+v, drop %+v", tt.name, stop, w.head.Drop)
		}
	}
}

// A mass drop lasts until the workloads have recovered, even if they waver, and even if
// that takes longer than the guard remembers. Its report does not change in that time.
func TestMassDropLastsUntilTheFleetRecovers(t *testing.T) {
	t.Parallel()
	w := watching()
	w.look(fleetAt(0), scales(10, 100))
	for minute := 5; minute <= 600; minute += 5 {
		stop := w.look(fleetAt(minute), few(10, 4+minute%2, 20, 100))
		if stop.Reason != policy.ReasonMassDrop || !w.head.Drop.Since.Equal(fleetAt(5).At) {
			t.Fatalf("after %d minutes: %+v %+v", minute, stop, w.head.Drop)
		}
		if !strings.Contains(stop.Text, "5 workloads") && !strings.Contains(stop.Text, "4 workloads") {
			t.Fatalf("does not say how many: %s", stop.Text)
		}
		if !strings.Contains(stop.Fix, "gitlatch adopt") {
			t.Fatalf("has the fix %q", stop.Fix)
		}
	}
	if stop := w.look(fleetAt(605), few(10, 4, 50, 100)); w.head.Drop == nil || stop.Reason != policy.ReasonMassDrop {
		t.Errorf("half of what it was is no recovery: %+v", stop)
	}
	if stop := w.look(fleetAt(610), few(10, 4, 51, 100)); w.head.Drop != nil || stop.Reason != policy.ReasonNone {
		t.Errorf("recovered: %+v", stop)
	}
	if stop := w.look(fleetAt(615), few(10, 4, 51, 100)); w.head.Drop != nil || stop.Reason != policy.ReasonNone {
		t.Errorf("the look after: %+v", stop)
	}
	if stop := w.look(fleetAt(620), few(10, 4, 26, 100)); w.head.Drop != nil || stop.Reason != policy.ReasonNone {
		t.Errorf("what it was before the drop is no measure any more: %+v", stop)
	}
}

// If a policy latches a workload again, its scales from before do not count.
func TestAWorkloadWithoutAPolicyHasNoRecentScales(t *testing.T) {
	t.Parallel()
	w := watching()
	w.look(fleetAt(0), scales(10, 100))
	w.look(fleetAt(5), few(10, 4, policy.Unlatched, 100))
	w.look(fleetAt(10), few(10, 4, 20, 100))
	if w.head.Drop != nil {
		t.Errorf("drop %+v", w.head.Drop)
	}
}

// A workload with an unknown scale has not recovered. A workload that was removed, or
// is no longer latched, does not count.
func TestMassDropLastsWhileItIsUnknown(t *testing.T) {
	t.Parallel()
	down := func(counts ...int32) map[workload.ID]int32 { return scales(10, append(counts, 100)...) }
	without := func(n int) map[workload.ID]int32 {
		rest := down(100)
		for id := range few(n, 0, 0, 0) {
			delete(rest, id)
		}
		return rest
	}
	part := func(f *workload.Fleet) { f.Unread = []workload.Unread{{Part: "deployments", Why: "timeout"}} }
	tests := []struct {
		name   string
		scales map[workload.ID]int32
		fleet  func(*workload.Fleet)
		lasts  bool
	}{
		{"it recovers", down(100), nil, false},
		{"nothing is known", down(unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown), nil, true},
		{"nothing is read", nil, part, true},
		{"none that dropped is known", down(unknown, unknown, unknown, unknown), nil, true},
		{"none that dropped is read", without(4), part, true},
		{"three are not known", down(100, unknown, unknown, unknown), nil, true},
		{"three others are not known", down(100, 100, 100, 100, unknown, unknown, unknown), nil, true},
		{"two are down and one is not known", down(20, 20, unknown), nil, true},
		{"one is down and one is not known", down(20, unknown), nil, false},
		{"two are not read", without(2), part, true},
		{"all that are read are well", down(100), part, true},
		{"those that dropped are gone", without(4), nil, true},
		{"two that dropped are gone", without(2), nil, false},
		{"those that dropped are seen, and not latched", down(policy.Unlatched, policy.Unlatched, policy.Unlatched, policy.Unlatched), nil, false},
		{"another cluster is well", down(100), func(f *workload.Fleet) { f.Cluster = "uid-green" }, true},
		{"a cluster that is not known is well", down(100), func(f *workload.Fleet) { f.Cluster = "" }, true},
	}
	for _, tt := range tests {
		w := watching()
		w.look(fleetAt(0), scales(10, 100))
		w.look(fleetAt(5), few(10, 4, 20, 100))
		fleet := fleetAt(60) // after more than three periods another cluster is not a second one
		if tt.fleet != nil {
			tt.fleet(&fleet)
		}
		w.look(fleet, tt.scales)
		if (w.head.Drop != nil) != tt.lasts {
			t.Errorf("%s: drop %+v", tt.name, w.head.Drop)
		}
		if w.look(fleetAt(65), few(10, 4, 20, 100)); tt.lasts && (w.head.Drop == nil || !w.head.Drop.Since.Equal(fleetAt(5).At)) {
			t.Errorf("%s: it lasts on as %+v", tt.name, w.head.Drop)
		}
	}
}

// A drop stored by an older gitlatch has no remembered scales, so the guard cannot
// recognize its end.
func TestMassDropOfWhichNothingIsRememberedLasts(t *testing.T) {
	t.Parallel()
	w := watching()
	w.head.Drop = &latch.Drop{Since: noon, Workloads: 4}
	for minute := 5; minute < 60; minute += 5 {
		if stop := w.look(fleetAt(minute), scales(10, 100)); stop.Reason != policy.ReasonMassDrop {
			t.Fatalf("after %d minutes: %+v", minute, stop)
		}
	}
}

// A rebuilt cluster is not compared with the previous one, because it is raise-only in
// any case. A second live cluster gives no information about the scales of the site's
// own cluster.
func TestAnotherClusterIsNoMassDrop(t *testing.T) {
	t.Parallel()
	for minute, why := range map[int]policy.Reason{5: policy.ReasonSecond, 60: policy.ReasonOther} {
		w := watching()
		w.look(fleetAt(0), scales(10, 100))
		before := maps.Clone(w.past)
		green := fleetAt(minute)
		green.Cluster = "uid-green"
		if stop := w.look(green, scales(10, 1)); stop.Reason != why || w.head.Drop != nil || !reflect.DeepEqual(w.past, before) {
			t.Errorf("%+v %+v %+v", stop, w.head.Drop, w.past)
		}
	}
}

// The guards' memory has a limit for every period and every movement of the scale.
func TestGuardsRememberLittle(t *testing.T) {
	t.Parallel()
	neverKnown := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "new"}
	for _, period := range []int{1, 5, 15} {
		w := watching()
		for minute := 0; minute < 600; minute += period {
			seen := scales(3, 20, 5, int32(100+minute%41*5))
			seen[neverKnown] = unknown
			w.look(fleetAt(minute), seen)
			for id, r := range w.past {
				if len(r) > 8 || id == neverKnown {
					t.Fatalf("minute %d: of %s it remembers %+v", minute, id, r)
				}
			}
		}
		for range 3 {
			w.look(workload.Fleet{Site: "prod-eu", Cluster: "uid-blue", At: w.head.At.Add(20 * time.Minute)}, nil)
		}
		if len(w.past) > 0 {
			t.Errorf("of what is gone it remembers %+v", w.past)
		}
	}
}

// A load that wavers by less than a tenth writes nothing.
func TestGuardsRememberNoNoise(t *testing.T) {
	t.Parallel()
	w := watching()
	w.look(fleetAt(0), scales(10, 100))
	for minute := 5; minute < 600; minute += 5 {
		before := maps.Clone(w.past)
		if w.look(fleetAt(minute), scales(10, int32(91+minute%19))); !reflect.DeepEqual(w.past, before) {
			t.Fatalf("minute %d: remembers %+v", minute, w.past)
		}
	}
}

// After a clock that was ahead, old samples do not become recent.
func TestAClockThatWasAheadIsNoMassDrop(t *testing.T) {
	t.Parallel()
	w := watching()
	for _, look := range []struct {
		minute int
		pods   int32
	}{{0, 40}, {605, 40}, {610, 30}, {15, 30}, {20, 24}, {25, 24}, {60, 18}} {
		if stop := w.look(fleetAt(look.minute), scales(10, look.pods)); stop.Reason != policy.ReasonNone {
			t.Errorf("minute %d: %+v", look.minute, stop)
		}
	}
}
