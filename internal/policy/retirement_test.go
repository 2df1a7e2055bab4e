package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// incomplete marks the sample as incomplete if is is true.
func incomplete(look policy.Look, is bool) policy.Look {
	if is {
		look.Stop = policy.Stop{Reason: policy.ReasonPartial}
	}
	return look
}

func TestRetirement(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	g.RetireAfter = time.Hour
	day := func(l latch.Latch, whole []bool, intervals ...time.Duration) (latch.Latch, policy.Decision) {
		look, d := policy.Look{Now: noon, Period: 5 * time.Minute}, policy.Decision{}
		for i, w := range whole {
			l, d = policy.Retire(g, l, incomplete(look, !w))
			look.Last = look.Now
			look.Now = look.Now.Add(intervals[min(i, len(intervals)-1)])
		}
		return l, d
	}
	times := func(n int, whole bool) []bool {
		all := make([]bool, n)
		for i := range all {
			all[i] = whole
		}
		return all
	}
	then := func(parts ...[]bool) (all []bool) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	const period = 5 * time.Minute
	tests := []struct {
		name      string
		declared  int32
		whole     []bool
		intervals []time.Duration
		want      policy.Verdict
	}{
		{"absent for as long", 100, times(13, true), []time.Duration{period}, policy.Cross},
		{"absent for a look less", 100, times(12, true), []time.Duration{period}, policy.Pending},
		{"with nothing declared", 0, times(13, true), []time.Duration{period}, policy.Pending},
		{"never in a sample that counts", 100, times(100, false), []time.Duration{period}, policy.Frozen},
		{"a sample that does not count at the end", 100, then(times(13, true), times(1, false)), []time.Duration{period}, policy.Frozen},
		{"samples that do not count are not counted", 100, then(times(6, true), times(5, false), times(6, true)), []time.Duration{period}, policy.Pending},
		{"and lose nothing", 100, then(times(6, true), times(5, false), times(7, true)), []time.Duration{period}, policy.Cross},
		{"a gap is not counted", 100, times(13, true), []time.Duration{period, period, 12 * time.Hour, period}, policy.Pending},
		{"three periods are no gap", 100, times(5, true), []time.Duration{3 * period}, policy.Cross},
	}
	for _, tt := range tests {
		l, d := day(blank(tt.declared, workload.Scale{}), tt.whole, tt.intervals...)
		if d.Verdict != tt.want {
			t.Errorf("%s: %s %q, want %s", tt.name, d.Verdict, d.Text, tt.want)
		}
		if d.ID != web || l.Declared.Replicas != tt.declared || !d.To.IsZero() {
			t.Errorf("%s: %+v of %+v", tt.name, d, l)
		}
		switch tt.want {
		case policy.Cross:
			if !d.Lowers() || d.Reason != policy.ReasonNone || d.Urgent {
				t.Errorf("%s: %+v", tt.name, d)
			}
		default:
			want := map[policy.Verdict]policy.Reason{policy.Frozen: policy.ReasonUnread, policy.Pending: policy.ReasonAbsent}[d.Verdict]
			if d.Reason != want {
				t.Errorf("%s: reason %q, want %q", tt.name, d.Reason, want)
			}
		}
	}
}

// While an absence does not count, the decision shows the absence so far, if there is one.
func TestAnIncompleteSampleShowsTheAbsenceSoFar(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	g.RetireAfter = time.Hour
	const counts = "an absence counts only while the sample is complete and no guard stops lowering"
	for before, want := range map[time.Duration]string{
		0:                counts,
		20 * time.Minute: counts + ": so far absent for 20m of 1h",
	} {
		l := blank(100, workload.Scale{})
		look := policy.Look{Now: noon, Period: 20 * time.Minute}
		if before > 0 {
			l, _ = policy.Retire(g, l, look)
			look.Last, look.Now = look.Now, look.Now.Add(before)
			l, _ = policy.Retire(g, l, look)
			look.Last, look.Now = look.Now, look.Now.Add(before)
		}
		if _, d := policy.Retire(g, l, incomplete(look, true)); !strings.HasSuffix(d.Text, want) {
			t.Errorf("absent for %s: %q, want %q", before, d.Text, want)
		}
	}
}

// A workload without an entry cannot be retired. Its absence counts from the first
// sample with an entry, and the time before that does not count.
func TestAnAbsenceCountsFromTheEntryOn(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	g.RetireAfter = time.Hour
	l := latch.Latch{ID: web, Up: latch.Up{Levels: []int32{100}}}
	look := policy.Look{Now: noon, Period: 5 * time.Minute}
	for range 24 {
		l, _ = policy.Retire(g, l, look)
		look.Last, look.Now = look.Now, look.Now.Add(5*time.Minute)
	}
	if !l.Blank() {
		t.Errorf("two hours after it was last seen its latch says %+v", l)
	}
	l.Declared.Replicas = 70
	if _, d := policy.Retire(g, l, look); d.Retires() {
		t.Errorf("its entry is a look old: %s %q", d.Verdict, d.Text)
	}
}

// An absence stops the clock of a lowering.
func TestAbsenceLowersNothing(t *testing.T) {
	t.Parallel()
	p, g := policy.Presets()["cope"], policy.DefaultGuards()
	p.HoldDown = 20 * time.Minute
	l, low := blank(100, workload.Scale{}), healthy(workload.Scale{Desired: 10})
	var d policy.Decision
	look := policy.Look{Now: noon, Period: 5 * time.Minute}
	for i, present := range []bool{true, true, true, false, false, false, false, false, true, true} {
		if present {
			l, d = policy.Decide(p, l, low, look)
		} else {
			l, d = policy.Retire(g, l, incomplete(look, i%2 != 0))
		}
		if crosses := i == 9; d.Crosses() != crosses {
			t.Errorf("look %d: %s %q", i, d.Verdict, d.Text)
		}
		look.Last, look.Now = look.Now, look.Now.Add(5*time.Minute)
	}
}

func cross(name string, from, to int32, urgent bool) policy.Decision {
	d := policy.Decision{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}, Verdict: policy.Cross, Urgent: urgent, Text: "why"}
	if from > 0 {
		d.From = checkpoint.Entry{Replicas: from}
	}
	if to > 0 {
		d.To = checkpoint.Entry{Replicas: to}
	}
	return d
}

func TestWhileTooManyAreAbsentNoneRetires(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		share    float64
		entries  int
		due      int
		absent   int // and not due
		withheld bool
	}{
		{"one may always", 0.1, 2, 1, 0, false},
		{"two of ten", 0.1, 10, 2, 0, true},
		{"one of ten, and another is absent", 0.1, 10, 1, 1, true},
		{"two of twenty", 0.1, 20, 2, 0, false},
		{"one of twenty, and another is absent", 0.1, 20, 1, 1, false},
		{"two of nineteen", 0.1, 19, 2, 0, true},
		{"exactly 29 %", 0.29, 100, 9, 20, false},
		{"more than 29 %", 0.29, 100, 9, 21, true},
		{"exactly 7 %", 0.07, 100, 7, 0, false},
		{"all", 1, 5, 5, 0, false},
	}
	for _, tt := range tests {
		g := policy.DefaultGuards()
		g.RetireShare = tt.share
		blank := cross("nothing declared", 0, 0, false)
		blank.Verdict = policy.Pending
		frozen := cross("nothing looks for it", 10, 0, false)
		frozen.Verdict, frozen.Reason = policy.Frozen, policy.ReasonUnread
		absent := []policy.Decision{blank, frozen}
		for i := range tt.due {
			absent = append(absent, cross(fmt.Sprint("due", i), 10, 0, false))
		}
		for i := range tt.absent {
			d := cross(fmt.Sprint("absent", i), 10, 0, false)
			d.Verdict = policy.Pending
			absent = append(absent, d)
		}
		for i, d := range policy.LimitRetirement(g, tt.entries, absent) {
			switch was := absent[i]; {
			case !was.Crosses() && d != was:
				t.Errorf("%s: another's decision changed: %+v", tt.name, d)
			case was.Crosses() && d.Crosses() == tt.withheld:
				t.Errorf("%s: %+v", tt.name, d)
			case was.Crosses() && tt.withheld && (d.Verdict != policy.Pending || d.Reason != policy.ReasonMany || !strings.HasPrefix(d.Text, "why; ")):
				t.Errorf("%s: %+v", tt.name, d)
			}
		}
		if !absent[2].Crosses() {
			t.Errorf("%s: the decisions that were handed in changed", tt.name)
		}
	}
}

// For any pattern of absences, no more than RetireShare of the workloads retire within
// RetireAfter.
func TestRetirementIsLimitedOverTime(t *testing.T) {
	t.Parallel()
	const workloads, ticks = 200, 24 * 7
	g := policy.DefaultGuards()
	g.Period, g.RetireAfter = time.Hour, 24*time.Hour
	for _, vanish := range []int{1, 3, 18, 20, 21, workloads} { // on each tick
		latches := map[int]latch.Latch{}
		for i := range workloads {
			latches[i] = blank(100, workload.Scale{})
		}
		var retired []int // by tick
		look := policy.Look{Now: noon, Period: g.Period}
		for tick := range ticks {
			var absent []policy.Decision
			var who []int
			for i := range min(workloads, (tick+1)*vanish) {
				if l, there := latches[i]; there {
					l, d := policy.Retire(g, l, look)
					latches[i], absent, who = l, append(absent, d), append(who, i)
				}
			}
			all := len(latches)
			retired = append(retired, 0)
			for i, d := range policy.LimitRetirement(g, all, absent) {
				if d.Retires() {
					retired[tick]++
					delete(latches, who[i])
				}
			}
			within := 0
			for _, n := range retired[max(0, len(retired)-24):] {
				within += n
			}
			if within > workloads/10 {
				t.Fatalf("%d vanish each hour: %d of %d retired within %s", vanish, within, workloads, g.RetireAfter)
			}
			look.Last, look.Now = look.Now, look.Now.Add(g.Period)
		}
	}
}
