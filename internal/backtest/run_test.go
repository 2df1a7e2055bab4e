package backtest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const period = 5 * time.Minute

func try(t *testing.T, c backtest.Candidate, all map[workload.ID][]backtest.Sample) backtest.Row {
	t.Helper()
	r, err := backtest.Try(t.Context(), of(t, all), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// One hour at 40, then two hours at 80. The levels are 50 and 100, each after two
// samples.
func TestAStepIsMeasured(t *testing.T) {
	t.Parallel()
	samples := every(period, monday, slices.Concat(times(12, 40), times(25, 80))...)
	r := try(t, cope(), map[workload.ID][]backtest.Sample{web: samples})
	if r.Commits != 1 || r.Levels != 1 || r.Name != "cope" {
		t.Errorf("%+v", r)
	}
	near(t, "days", r.Days, 3./24)
	near(t, "commits a day", r.CommitsPerDay, 8)
	// The level is 50 from minute 5 to 65, then 100. The desired replicas are 40 until
	// minute 60.
	near(t, "mean", r.Coverage.Mean, (55+5*50./80+115)/175)
	near(t, "below", r.Coverage.Below, 5)
	near(t, "surplus", r.Coverage.Surplus, (55*10+115*20)/(55*40+120*80.))
	want := backtest.Rebuild{At: monday.Add(time.Hour), Needed: 80, Created: 50, Met: 50}
	if r.Coverage.Worst != want {
		t.Errorf("worst %+v, want %+v", r.Coverage.Worst, want)
	}
}

// The surplus of one workload does not offset the missing pods of another.
func TestARebuildSumsWorkloads(t *testing.T) {
	t.Parallel()
	all := map[workload.ID][]backtest.Sample{web: every(period, monday, times(12, 40)...), api: every(period, monday, times(12, 10)...)}
	r := backtest.Measure(of(t, all), "levels", period, period, monday, func(id workload.ID, _ time.Time, _ int32) (int32, bool) {
		return map[workload.ID]int32{web: 20, api: 40}[id], true
	})
	near(t, "mean", r.Coverage.Mean, 30./50)
	near(t, "surplus", r.Coverage.Surplus, 30./50)
	if r.Commits != 0 || r.Levels != 2 {
		t.Errorf("%+v", r)
	}
}

// The job commits at each full hour if a count changed, whenever the samples start.
func TestTheHourlyJobCommitsEachFullHour(t *testing.T) {
	t.Parallel()
	from := monday.Add(25 * time.Minute)
	all := map[workload.ID][]backtest.Sample{web: every(period, from, slices.Concat(times(12, 40), times(12, 80), times(25, 160))...)}
	r := backtest.Hourly(of(t, all), 3*period, from)
	near(t, "days", r.Days, 4./24)
	if r.Commits != 2 || r.Name != "hourly job" { // at 2:00 and 3:00; at 1:00 is the first
		t.Errorf("%+v", r)
	}
	// From 1:25 to 2:00 and from 2:25 to 3:00, git has half of the pods.
	near(t, "below", r.Coverage.Below, 70)
	near(t, "worst", r.Coverage.Worst.Share(), 0.5)
}

// The replicas are below the threshold for 20 hours, and after a gap of a day for 33 hours.
// The 53 hours together lower the level. With 31 hours after the gap, the level stays,
// because the gap does not count.
func TestAGapIsNotObserved(t *testing.T) {
	t.Parallel()
	evening := func(hours int) []backtest.Sample {
		head := every(period, monday, slices.Concat(times(12, 80), times(20*12, 15))...)
		again := head[len(head)-1].At.Add(24 * time.Hour)
		return append(head, every(period, again, times(hours*12, 15)...)...)
	}
	for hours, want := range map[int]int{31: 0, 33: 1} {
		r := try(t, cope(), map[workload.ID][]backtest.Sample{web: evening(hours)})
		if r.Commits != want {
			t.Errorf("%d h after the gap: %d commits, want %d", hours, r.Commits, want)
		}
		if days := (21 + float64(hours)) / 24; math.Abs(r.Days-days) > 0.01 {
			t.Errorf("%d h: %.3f days were observed, want %.3f", hours, r.Days, days)
		}
	}
}

// The time between samples is observed if they are three periods apart, but not if they
// are one second further apart.
func TestWhatIsAGap(t *testing.T) {
	t.Parallel()
	for step, observed := range map[time.Duration]bool{3 * period: true, 3*period + time.Second: false} {
		samples := slices.Concat(every(period, monday, 40, 40), every(step, monday.Add(period+step), times(20, 40)...))
		r := try(t, cope(), map[workload.ID][]backtest.Sample{web: samples})
		days := period.Hours() / 24
		if observed {
			days = (period + 20*step).Hours() / 24
		}
		if math.Abs(r.Days-days) > 1e-9 || (r.Coverage != nil) != observed {
			t.Errorf("%s apart: %v days, want %v, and %+v", step, r.Days, days, r.Coverage)
		}
	}
}

// The latch of a workload without samples does not change while others are sampled.
func TestAWorkloadMayBeMissing(t *testing.T) {
	t.Parallel()
	r := try(t, cope(), map[workload.ID][]backtest.Sample{
		web: append(every(period, monday, times(12, 80)...), every(period, monday.Add(40*time.Hour), times(12, 15)...)...),
		api: every(period, monday, times(41*12, 10)...),
	})
	if r.Commits != 0 || r.Levels != 2 {
		t.Errorf("%+v", r)
	}
}

func TestOneCommitATickHoldsWhatCrosses(t *testing.T) {
	t.Parallel()
	r := try(t, cope(), map[workload.ID][]backtest.Sample{
		web: every(period, monday, slices.Concat(times(12, 40), times(12, 80))...),
		api: every(period, monday, slices.Concat(times(12, 8), times(12, 30))...),
	})
	if r.Commits != 1 || r.Levels != 2 {
		t.Errorf("%+v", r)
	}
}

// The replicas are one above a level of the series tens, and rise by 10 every 20 minutes.
// Each raise is less than a quarter, so it waits for the budget.
func TestTheBudgetHoldsCommitsBack(t *testing.T) {
	t.Parallel()
	var counts []int32
	for i := range int32(60) {
		counts = append(counts, times(4, 401+10*i)...)
	}
	c := cope()
	c.Set.Default.Series = policy.Tens
	all := map[workload.ID][]backtest.Sample{web: every(period, monday, counts...)}
	bound := try(t, c, all)
	c.Set.Guards.CommitsPerDay = 1000
	free := try(t, c, all)
	if free.Commits != 59 {
		t.Errorf("free: %+v", free)
	}
	if bound.Commits < 20 || bound.Commits > 26 || bound.Coverage.Mean >= free.Coverage.Mean || bound.Coverage.Worst.Share() < 0.8 {
		t.Errorf("bound: %+v", bound)
	}
}

// Half of the workloads drop at once, and do not recover. No level is lowered.
func TestAMassDropStopsLowering(t *testing.T) {
	t.Parallel()
	all := map[workload.ID][]backtest.Sample{}
	for i := range 6 {
		id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("tier-%d", i)}
		counts := times(60*12, 80)
		if i < 3 {
			counts = slices.Concat(times(12, 80), times(59*12, 8))
		}
		all[id] = every(period, monday, counts...)
	}
	if r := try(t, cope(), all); r.Commits != 0 {
		t.Errorf("%d commits lower", r.Commits)
	}
	delete(all, workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "tier-0"})
	if r := try(t, cope(), all); r.Commits != 1 {
		t.Errorf("%d commits lower, want one for the two that are no mass", r.Commits)
	}
}

// Half of the workloads drop and then disappear. That is not a recovery, and a user who
// deleted them would accept the drop. No level is lowered.
func TestWhatIsGoneHasNotRecovered(t *testing.T) {
	t.Parallel()
	all := map[workload.ID][]backtest.Sample{}
	for i, counts := range [][]int32{
		slices.Concat(times(12, 80), times(2, 8)), slices.Concat(times(12, 80), times(2, 8)), slices.Concat(times(12, 80), times(2, 8)),
		slices.Concat(times(24, 80), times(28*12, 8)), times(30*12, 80), times(30*12, 80),
	} {
		all[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("tier-%d", i)}] = every(period, monday, counts...)
	}
	if r := try(t, cope(), all); r.Commits != 0 {
		t.Errorf("%d commits lower", r.Commits)
	}
}

func TestWhatIsAtZeroIsNeverDeclared(t *testing.T) {
	t.Parallel()
	r := try(t, cope(), map[workload.ID][]backtest.Sample{web: every(period, monday, times(500, 0)...)})
	if r.Levels != 0 || r.Commits != 0 || r.Coverage != nil {
		t.Errorf("%+v", r)
	}
}

func TestACrossingForReviewIsTakenForMerged(t *testing.T) {
	t.Parallel()
	c := cope()
	c.Set.Default.Review = true
	r := try(t, c, map[workload.ID][]backtest.Sample{web: every(period, monday, slices.Concat(times(12, 4), times(12, 400))...)})
	if r.Commits != 1 || r.Coverage.Mean < 0.9 {
		t.Errorf("%+v %+v", r, r.Coverage)
	}
}

func TestACancelledRunStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	past := of(t, map[workload.ID][]backtest.Sample{web: every(period, monday, 1, 2)})
	if _, err := backtest.Compare(ctx, past, []backtest.Candidate{cope()}, web, func(string, ...any) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
