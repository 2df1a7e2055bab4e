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

func try(t *testing.T, c backtest.Candidate, all map[workload.ID][]backtest.Sample, o backtest.Options) backtest.Result {
	t.Helper()
	r, ok := backtest.Try(of(t, all), c, o)
	if !ok {
		t.Fatal("it stopped")
	}
	return r
}

// One hour at 40, then two hours at 80. The levels are 50 and 100, each after two
// samples.
func TestAStepIsMeasured(t *testing.T) {
	t.Parallel()
	samples := every(period, monday, slices.Concat(times(12, 40), times(25, 80))...)
	r := try(t, cope(), map[workload.ID][]backtest.Sample{web: samples}, backtest.Options{Lasting: 2 * period})
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	if r.Firsts != 1 || r.Commits != 1 || r.Updates != 1 || r.Declared != 1 || r.Workloads != 1 {
		t.Errorf("%+v", r)
	}
	near("days", r.Days, 3./24)
	near("commits a day", r.CommitsPerDay, 8)
	// The level is 50 from minute 5 to 65, then 100. The desired replicas are 40 until
	// minute 60.
	near("coverage", r.Coverage, (55+5*50./80+115)/175)
	near("waste", r.Waste, (55*10+115*20)/60.)
	near("need", r.Need, (55*40+120*80)/60.)
	near("worst", r.Worst.Share, 1)
	// If Lasting is 0, Worst includes every sample, even one that waited for a second
	// sample.
	r = try(t, cope(), map[workload.ID][]backtest.Sample{web: samples}, backtest.Options{})
	want := backtest.Worst{Share: 50. / 80, Workload: web, At: monday.Add(time.Hour), Need: 80, Declared: 50}
	if r.Worst != want {
		t.Errorf("worst %+v, want %+v", r.Worst, want)
	}
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
		r := try(t, cope(), map[workload.ID][]backtest.Sample{web: evening(hours)}, backtest.Options{})
		if r.Updates != want {
			t.Errorf("%d h after the gap: %d updates, want %d", hours, r.Updates, want)
		}
		if days := (21 + float64(hours)) / 24; math.Abs(r.Days-days) > 0.01 {
			t.Errorf("%d h: %.3f days were observed, want %.3f", hours, r.Days, days)
		}
		if most := 85 * (21 + float64(hours)); r.Waste > most {
			t.Errorf("%d h: a waste of %.0f, which counts the gap", hours, r.Waste)
		}
	}
}

// The time between samples is observed if they are three periods apart, but not if they
// are one second further apart.
func TestWhatIsAGap(t *testing.T) {
	t.Parallel()
	for step, observed := range map[time.Duration]bool{3 * period: true, 3*period + time.Second: false} {
		samples := slices.Concat(every(period, monday, 40, 40), every(step, monday.Add(period+step), times(20, 40)...))
		r := try(t, cope(), map[workload.ID][]backtest.Sample{web: samples}, backtest.Options{})
		days, waste := period.Hours()/24, 0.
		if observed {
			days, waste = (period+20*step).Hours()/24, 10*20*step.Hours()
		}
		if r.Declared != 1 || math.Abs(r.Days-days) > 1e-9 || math.Abs(r.Waste-waste) > 1e-9 {
			t.Errorf("%s apart: %d declared, %v days, a waste of %v; want %v days and %v", step, r.Declared, r.Days, r.Waste, days, waste)
		}
	}
}

// The latch of a workload without samples does not change while others are sampled.
func TestAWorkloadMayBeMissing(t *testing.T) {
	t.Parallel()
	r := try(t, cope(), map[workload.ID][]backtest.Sample{
		web: append(every(period, monday, times(12, 80)...), every(period, monday.Add(40*time.Hour), times(12, 15)...)...),
		api: every(period, monday, times(41*12, 10)...),
	}, backtest.Options{})
	if r.Updates != 0 || r.Declared != 2 {
		t.Errorf("%+v", r)
	}
}

func TestOneCommitATickHoldsWhatCrosses(t *testing.T) {
	t.Parallel()
	r := try(t, cope(), map[workload.ID][]backtest.Sample{
		web: every(period, monday, slices.Concat(times(12, 40), times(12, 80))...),
		api: every(period, monday, slices.Concat(times(12, 8), times(12, 30))...),
	}, backtest.Options{})
	if r.Firsts != 1 || r.Commits != 1 || r.Updates != 2 {
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
	bound := try(t, c, all, backtest.Options{Lasting: 2 * period})
	c.Set.Guards.CommitsPerDay = 1000
	free := try(t, c, all, backtest.Options{Lasting: 2 * period})
	if free.Commits != 59 || free.Worst.Share != 1 {
		t.Errorf("free: %+v", free)
	}
	if bound.Commits < 20 || bound.Commits > 26 || bound.Worst.Share >= 1 || bound.Worst.Share < 0.8 {
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
	if r := try(t, cope(), all, backtest.Options{}); r.Updates != 0 {
		t.Errorf("%d were lowered", r.Updates)
	}
	delete(all, workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "tier-0"})
	if r := try(t, cope(), all, backtest.Options{}); r.Updates != 2 {
		t.Errorf("%d were lowered, want the two that are no mass", r.Updates)
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
	if r := try(t, cope(), all, backtest.Options{}); r.Updates != 0 {
		t.Errorf("%d were lowered", r.Updates)
	}
}

func TestWhatIsAtZeroIsNeverDeclared(t *testing.T) {
	t.Parallel()
	r := try(t, cope(), map[workload.ID][]backtest.Sample{web: every(period, monday, times(500, 0)...)}, backtest.Options{})
	if r.Declared != 0 || r.Firsts != 0 || r.Coverage != 0 || r.Worst.Need != 0 {
		t.Errorf("%+v", r)
	}
	if best, why := backtest.DefaultWants().Recommend([]backtest.Result{r}); best != -1 || why != "no policy wrote a level" {
		t.Errorf("%d: %s", best, why)
	}
}

// If pods are not ready for a long time, the level is not the reason for a low coverage:
// a raise counts only ready pods.
func TestAnUnhealthyNeedIsNotTheWorst(t *testing.T) {
	t.Parallel()
	samples := every(period, monday, slices.Concat(times(12, 40), times(24, 400))...)
	for i := range samples[12:] {
		samples[12+i].Scale.Ready = 40
	}
	all := map[workload.ID][]backtest.Sample{web: samples}
	if r := try(t, cope(), all, backtest.Options{Lasting: period}); r.Worst.Share != 1 || r.Coverage > 0.5 {
		t.Errorf("%+v", r)
	}
}

// A workload is at zero, then needs ten times the pods. Its level rises three periods
// later. With the old level, its desired replicas have lasted for two periods, and not for
// three.
func TestANeedThatLastedJustLongEnough(t *testing.T) {
	t.Parallel()
	c := cope()
	c.Set.Default.HoldUp = 4
	all := map[workload.ID][]backtest.Sample{web: every(period, monday, slices.Concat(times(12, 40), times(12, 0), times(12, 400))...)}
	for lasting, want := range map[time.Duration]float64{2 * period: 0.125, 3 * period: 1} {
		if r := try(t, c, all, backtest.Options{Lasting: lasting}); r.Worst.Share != want {
			t.Errorf("a need that lasts %s: %+v, want %v", lasting, r.Worst, want)
		}
	}
}

func TestACrossingForReviewIsTakenForMerged(t *testing.T) {
	t.Parallel()
	c := cope()
	c.Set.Default.Review = true
	r := try(t, c, map[workload.ID][]backtest.Sample{web: every(period, monday, slices.Concat(times(12, 4), times(12, 400))...)}, backtest.Options{})
	if r.Reviews != 1 || r.Commits != 1 || r.Updates != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRunsAreTheSameHoweverManyAtOnce(t *testing.T) {
	t.Parallel()
	samples, _ := fortnight()
	past := of(t, map[workload.ID][]backtest.Sample{web: samples[:1000]})
	candidates := grid()[:20]
	calls := 0
	many, err := backtest.TryAll(t.Context(), past, candidates, backtest.Options{}, func(done int) {
		if calls++; done != calls {
			t.Errorf("call %d says %d", calls, done)
		}
	})
	if err != nil || calls != len(candidates) {
		t.Fatal(err, calls)
	}
	for i, c := range candidates {
		one, _ := backtest.Try(past, c, backtest.Options{})
		if one.Commits != many[i].Commits || one.Waste != many[i].Waste || many[i].Candidate.Name != c.Name {
			t.Errorf("%s: %+v, alone %+v", c.Name, many[i], one)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := backtest.TryAll(ctx, past, candidates, backtest.Options{}, func(int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
