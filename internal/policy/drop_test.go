package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const unknown = latch.Unknown

// scales are those of n workloads, as far as a count is given; those after the
// last have the last.
func scales(n int, counts ...int32) map[workload.ID]int32 {
	all := map[workload.ID]int32{}
	for i := range n {
		all[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("w%d", i)}] = counts[min(i, len(counts)-1)]
	}
	return all
}

// few are n workloads the first k of which have low, the others high.
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
		g := policy.DefaultGuards()
		if tt.guards != nil {
			tt.guards(&g)
		}
		var h latch.Head
		var stop policy.Stop
		for _, look := range tt.looks {
			h, stop = policy.Assess(g, h, fleetAt(look.minute), look.scales)
		}
		if got := stop.Reason == policy.ReasonMassDrop; got != tt.drop || got != (h.Drop != nil) || stop.All {
			t.Errorf("%s: %+v, drop %+v", tt.name, stop, h.Drop)
		}
	}
}

// A mass drop lasts until the fleet has recovered: longer than the guard looks
// back, and however it wavers. It is told as it was first seen.
func TestMassDropLastsUntilTheFleetRecovers(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	h, _ := policy.Assess(g, latch.Head{}, fleetAt(0), scales(10, 100))
	for minute := 5; minute <= 600; minute += 5 {
		var stop policy.Stop
		h, stop = policy.Assess(g, h, fleetAt(minute), few(10, 4+minute%2, 20, 100))
		if stop.Reason != policy.ReasonMassDrop || !h.Drop.Since.Equal(fleetAt(5).At) {
			t.Fatalf("after %d minutes: %+v %+v", minute, stop, h.Drop)
		}
		if !strings.Contains(stop.Text, "5 workloads") && !strings.Contains(stop.Text, "4 workloads") {
			t.Fatalf("does not say how many: %s", stop.Text)
		}
	}
	if h, stop := policy.Assess(g, h, fleetAt(605), few(10, 4, 50, 100)); h.Drop == nil || stop.Reason != policy.ReasonMassDrop {
		t.Errorf("half of what it was is no recovery: %+v", stop)
	}
	h, stop := policy.Assess(g, h, fleetAt(605), few(10, 4, 51, 100))
	if h.Drop != nil || stop.Reason != policy.ReasonNone {
		t.Errorf("recovered: %+v", stop)
	}
	if h, stop = policy.Assess(g, h, fleetAt(610), few(10, 4, 51, 100)); h.Drop != nil || stop.Reason != policy.ReasonNone {
		t.Errorf("the look after: %+v", stop)
	}
}

// What is unknown has not recovered. What is gone, or not latched any more, is no
// part of the fleet.
func TestMassDropLastsWhileItIsUnknown(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
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
		{"those that dropped are seen, and not latched", without(4), func(f *workload.Fleet) {
			for id := range few(4, 0, 0, 0) {
				f.Samples = append(f.Samples, workload.Sample{ID: id})
			}
		}, false},
		{"another cluster is well", down(100), func(f *workload.Fleet) { f.Cluster = "uid-green" }, true},
		{"a cluster that is not known is well", down(100), func(f *workload.Fleet) { f.Cluster = "" }, true},
	}
	for _, tt := range tests {
		h, _ := policy.Assess(g, latch.Head{}, fleetAt(0), scales(10, 100))
		h, _ = policy.Assess(g, h, fleetAt(5), few(10, 4, 20, 100))
		fleet := fleetAt(60) // after more than three periods another cluster is not a second one
		if tt.fleet != nil {
			tt.fleet(&fleet)
		}
		h, _ = policy.Assess(g, h, fleet, tt.scales)
		if (h.Drop != nil) != tt.lasts {
			t.Errorf("%s: drop %+v", tt.name, h.Drop)
		}
		if h, _ = policy.Assess(g, h, fleetAt(65), few(10, 4, 20, 100)); tt.lasts && (h.Drop == nil || !h.Drop.Since.Equal(fleetAt(5).At)) {
			t.Errorf("%s: it lasts on as %+v", tt.name, h.Drop)
		}
	}
}

// A rebuilt cluster is not compared with the one before: that is raise only in
// any case.
func TestAnotherClusterIsNoMassDrop(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	h, _ := policy.Assess(g, latch.Head{}, fleetAt(0), scales(10, 100))
	green := fleetAt(60)
	green.Cluster = "uid-green"
	h, stop := policy.Assess(g, h, green, scales(10, 1))
	if stop.Reason != policy.ReasonOther || h.Drop != nil || len(h.Recent.At) != 1 {
		t.Errorf("%+v %+v %+v", stop, h.Drop, h.Recent.At)
	}
}

// What the guards remember is bounded, whatever the period.
func TestGuardsRememberLittle(t *testing.T) {
	t.Parallel()
	g, h := policy.DefaultGuards(), latch.Head{}
	neverKnown := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "new"}
	for minute := range 300 {
		seen := scales(3, 20)
		if minute >= 5 {
			seen[web] = 7
		}
		seen[neverKnown] = unknown
		h, _ = policy.Assess(g, h, fleetAt(minute), seen)
		if n := len(h.Recent.At); n > 7 || h.Recent.At[0].Before(fleetAt(minute-35).At) {
			t.Fatalf("minute %d: remembers %d instants since %s", minute, n, h.Recent.At[0])
		}
		if past := h.Recent.Counts[web]; minute == 5 && (len(past) != 2 || past[0] != -1 || past[1] != 7) {
			t.Errorf("what was new at the second instant is remembered as %v", past)
		}
		if past, ok := h.Recent.Counts[neverKnown]; ok {
			t.Fatalf("what was never known is remembered as %v", past)
		}
		for id, counts := range h.Recent.Counts {
			if len(counts) != len(h.Recent.At) {
				t.Fatalf("%s has %d counts at %d instants", id, len(counts), len(h.Recent.At))
			}
		}
	}
}

// A second live cluster says nothing of the scales of the site's own.
func TestASecondClusterIsNoMassDrop(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	h, _ := policy.Assess(g, latch.Head{}, fleetAt(0), scales(10, 100))
	green := fleetAt(5)
	green.Cluster = "uid-green"
	h, stop := policy.Assess(g, h, green, scales(10, 1))
	if stop.Reason != policy.ReasonSecond || h.Drop != nil || len(h.Recent.At) != 1 {
		t.Errorf("%+v %+v %+v", stop, h.Drop, h.Recent.At)
	}
}
