package policy_test

import (
	"math"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// at returns a preset without stabilization windows, so one sample shows a level.
func at(s policy.Series, r policy.Rounding) policy.Policy {
	p := policy.Presets()["cope"]
	p.Series, p.Round, p.HoldUp, p.HoldDown = s, r, 1, 0
	return p
}

// asks returns the level that one sample asks for without an entry in git.
func asks(p policy.Policy, s workload.Scale) int32 {
	_, d := policy.Decide(p, blank(0, s), healthy(s), policy.Look{Now: noon})
	return d.To.Replicas
}

// lowers returns the level in git after one sample.
func lowers(p policy.Policy, declared int32, s workload.Scale) int32 {
	_, d := policy.Decide(p, blank(declared, s), healthy(s), policy.Look{Now: noon})
	if d.To.IsZero() {
		return declared
	}
	return d.To.Replicas
}

func TestRounding(t *testing.T) {
	t.Parallel()
	bounded := func(n, low, high int32) workload.Scale { return workload.Scale{Desired: n, Min: low, Max: high} }
	aims := func(n int32, target float64) workload.Scale { return workload.Scale{Desired: n, Target: target} }
	pods := func(n int32) workload.Scale { return workload.Scale{Desired: n} }
	tests := []struct {
		name string
		s    policy.Series
		r    policy.Rounding
		seen workload.Scale
		want int32
	}{
		{"up declares what was needed or more", policy.OneTwoFive, policy.RoundUp, pods(101), 200},
		{"up leaves a level alone", policy.OneTwoFive, policy.RoundUp, pods(100), 100},
		{"up ignores a target", policy.OneTwoFive, policy.RoundUp, aims(101, 0.5), 200},
		{"nearest to 14 is 10: they part at sqrt(200)", policy.OneTwoFive, policy.RoundNearest, pods(14), 10},
		{"nearest to 15 is 20", policy.OneTwoFive, policy.RoundNearest, pods(15), 20},
		{"nearest to 31 is 20: they part at sqrt(1000)", policy.OneTwoFive, policy.RoundNearest, pods(31), 20},
		{"nearest to 32 is 50", policy.OneTwoFive, policy.RoundNearest, pods(32), 50},
		{"nearest to 70 is 50: they part at sqrt(5000)", policy.OneTwoFive, policy.RoundNearest, pods(70), 50},
		{"nearest to 71 is 100", policy.OneTwoFive, policy.RoundNearest, pods(71), 100},
		{"nearest takes the geometric mean itself up", list(t, 2, 8), policy.RoundNearest, pods(4), 8},
		{"nearest of tens to 4 is never 0", policy.Tens, policy.RoundNearest, pods(4), 10},
		{"nearest of tens to 1 is the bound below the series", policy.Tens, policy.RoundNearest, pods(1), 1},
		{"nearest of tens to 3 is the bound below the series", policy.Tens, policy.RoundNearest, pods(3), 1},
		{"nearest parts from a lower bound too", policy.OneTwoFive, policy.RoundNearest, bounded(37, 30, 0), 30},
		{"nearest parts from a lower bound at the mean", policy.OneTwoFive, policy.RoundNearest, bounded(39, 30, 0), 50},
		{"nearest parts from an upper bound too", policy.OneTwoFive, policy.RoundNearest, bounded(54, 1, 60), 50},
		{"nearest parts from an upper bound at the mean", policy.OneTwoFive, policy.RoundNearest, bounded(55, 1, 60), 60},
		{"nearest beyond a list is the need", list(t, 10), policy.RoundNearest, pods(1234), 1234},
		{"headroom declares what runs at 100 %", policy.OneTwoFive, policy.RoundHeadroom, aims(200, 0.5), 100},
		{"headroom needs a level more above that", policy.OneTwoFive, policy.RoundHeadroom, aims(201, 0.5), 200},
		{"headroom of a third is no third of a pod too much", list(t, 1, 33, 34), policy.RoundHeadroom, aims(110, 0.3), 33},
		{"headroom without a target is up", policy.OneTwoFive, policy.RoundHeadroom, pods(101), 200},
		{"a lower bound is a level", policy.OneTwoFive, policy.RoundUp, bounded(3, 3, 500), 3},
		{"what is below the lower bound is the bound", policy.OneTwoFive, policy.RoundUp, bounded(2, 3, 500), 3},
		{"an upper bound is a level", policy.OneTwoFive, policy.RoundUp, bounded(280, 3, 300), 300},
		{"what is above the upper bound is the bound", policy.OneTwoFive, policy.RoundUp, bounded(400, 3, 300), 300},
		{"a level below the upper bound comes first", policy.OneTwoFive, policy.RoundUp, bounded(190, 3, 300), 200},
		{"one bound is the only level", policy.OneTwoFive, policy.RoundUp, bounded(400, 7, 7), 7},
		{"bounds that contradict each other bound nothing", policy.OneTwoFive, policy.RoundUp, bounded(400, 9, 7), 500},
		{"the largest number of pods", policy.OneTwoFive, policy.RoundUp, pods(math.MaxInt32), checkpoint.MaxReplicas},
		{"the largest number of pods, nearest", policy.OneTwoFive, policy.RoundNearest, pods(math.MaxInt32), checkpoint.MaxReplicas},
	}
	for _, tt := range tests {
		if got := asks(at(tt.s, tt.r), tt.seen); got != tt.want {
			t.Errorf("%s: %+v in %s is %d, want %d", tt.name, tt.seen, tt.s, got, tt.want)
		}
	}
}

func TestLoweringKeepsTheMargin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		r        policy.Rounding
		declared int32
		seen     workload.Scale
		want     int32
	}{
		{"more than the margin below a level", policy.RoundUp, 200, workload.Scale{Desired: 90}, 100},
		{"just within the margin", policy.RoundUp, 200, workload.Scale{Desired: 91}, 200},
		{"the margin is exact: 110 % of 10 is no more than 11", policy.RoundUp, 11, workload.Scale{Desired: 10, Max: 11}, 11},
		{"the autoscaler's greater tolerance", policy.RoundUp, 200, workload.Scale{Desired: 81, Tolerance: 0.25}, 200},
		{"and what that still allows", policy.RoundUp, 200, workload.Scale{Desired: 80, Tolerance: 0.25}, 100},
		{"the autoscaler's smaller tolerance", policy.RoundUp, 200, workload.Scale{Desired: 91, Tolerance: 0.05}, 200},
		{"two levels down, to that of the count", policy.RoundUp, 200, workload.Scale{Desired: 48}, 50},
		{"where one level down is within the margin", policy.RoundUp, 100, workload.Scale{Desired: 48}, 100},
		{"no margin at a lower bound", policy.RoundUp, 20, workload.Scale{Desired: 10, Min: 10}, 10},
		{"but one above it", policy.RoundUp, 20, workload.Scale{Desired: 11, Min: 10}, 20},
		{"no margin at one pod", policy.RoundUp, 2, workload.Scale{Desired: 1}, 1},
		{"the margin of a nearest level", policy.RoundNearest, 100, workload.Scale{Desired: 64}, 50},
		{"beyond the margin of a nearest level", policy.RoundNearest, 100, workload.Scale{Desired: 65}, 100},
		{"the margin of headroom", policy.RoundHeadroom, 200, workload.Scale{Desired: 181, Target: 0.5}, 100},
		{"beyond the margin of headroom", policy.RoundHeadroom, 200, workload.Scale{Desired: 182, Target: 0.5}, 200},
		{"the largest number of pods", policy.RoundUp, math.MaxInt32, workload.Scale{Desired: math.MaxInt32}, checkpoint.MaxReplicas},
	}
	for _, tt := range tests {
		if got := lowers(at(policy.OneTwoFive, tt.r), tt.declared, tt.seen); got != tt.want {
			t.Errorf("%s: %+v takes %d to %d, want %d", tt.name, tt.seen, tt.declared, got, tt.want)
		}
	}
}

// The test compares Thresholds with a search through every count.
func TestThresholdsAreWhereScanningFindsThem(t *testing.T) {
	t.Parallel()
	const most = 700
	tests := []struct {
		name     string
		p        policy.Policy
		declared checkpoint.Entry
		live     workload.Scale
	}{
		{"up", at(policy.OneTwoFive, policy.RoundUp), checkpoint.Entry{Replicas: 200}, workload.Scale{}},
		{"nearest", at(policy.OneTwoFive, policy.RoundNearest), checkpoint.Entry{Replicas: 200}, workload.Scale{}},
		{"headroom", at(policy.Steps, policy.RoundHeadroom), checkpoint.Entry{Replicas: 200}, workload.Scale{Target: 0.75}},
		{"tolerance", at(policy.Steps, policy.RoundUp), checkpoint.Entry{Replicas: 250}, workload.Scale{Tolerance: 0.3}},
		{"at the floor", at(policy.Steps, policy.RoundUp), checkpoint.Entry{Replicas: 12, Min: 12}, workload.Scale{}},
		{"just above the floor", at(policy.Steps, policy.RoundUp), checkpoint.Entry{Replicas: 16, Min: 12}, workload.Scale{}},
		{"one pod", at(policy.Steps, policy.RoundUp), checkpoint.Entry{Replicas: 1}, workload.Scale{}},
		{"a person's number", at(policy.OneTwoFive, policy.RoundUp), checkpoint.Entry{Replicas: 137, Min: 3, Max: 500}, workload.Scale{Max: 20}},
		{"below the accepted bounds", at(policy.OneTwoFive, policy.RoundUp), checkpoint.Entry{Replicas: 3, Min: 10, Max: 500}, workload.Scale{}},
		{"above the accepted bounds", at(policy.OneTwoFive, policy.RoundUp), checkpoint.Entry{Replicas: 600, Max: 500}, workload.Scale{}},
		{"tens", at(policy.Tens, policy.RoundNearest), checkpoint.Entry{Replicas: 90}, workload.Scale{}},
		{"beyond a list", at(list(t, 4, 9), policy.RoundUp), checkpoint.Entry{Replicas: 30}, workload.Scale{}},
	}
	for _, tt := range tests {
		if problems := tt.p.Problems(); problems != nil {
			t.Fatalf("%s: %v", tt.name, problems)
		}
		var wantUp, wantDown int32
		for n := int32(1); n <= most; n++ {
			s := tt.live
			s.Desired = n
			l := blank(0, s)
			l.Declared = tt.declared
			_, d := policy.Decide(tt.p, l, healthy(s), policy.Look{Now: noon})
			if d.To.IsZero() || d.To.Replicas <= tt.declared.Replicas {
				wantUp = n
			}
			if d.Crosses() && d.Lowers() {
				wantDown = n
			}
		}
		up, down := policy.Thresholds(tt.p, tt.declared, tt.live)
		if min(up, most) != wantUp || min(down, most) != wantDown {
			t.Errorf("%s: above %d and at %d, scanning finds %d and %d", tt.name, up, down, wantUp, wantDown)
		}
	}

	up, down := policy.Thresholds(at(policy.OneTwoFive, policy.RoundUp), checkpoint.Entry{Replicas: 300, Min: 300, Max: 300}, workload.Scale{})
	if up != math.MaxInt32 || down != 0 {
		t.Errorf("with one level left: above %d and at %d", up, down)
	}
}
