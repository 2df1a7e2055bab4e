package backtest_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestAPastGivesBackWhatWasAdded(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 0))
	for range 50 {
		at := time.Unix(r.Int64N(4_000_000_000), 0).UTC()
		var want []backtest.Sample
		scale := pods(r.Int32N(100))
		for range r.IntN(20_000) {
			switch r.IntN(10) {
			case 0:
				scale = pods(r.Int32N(math.MaxInt32))
			case 1:
				scale.Ready = max(0, scale.Desired-r.Int32N(100))
			case 2:
				scale.Min, scale.Max, scale.Target = r.Int32N(1000), r.Int32N(math.MaxInt32), float64(r.IntN(101))/100
			case 3:
				at = at.Add(time.Duration(r.Int64N(1e7)) * time.Second)
			}
			at = at.Add(time.Minute)
			want = append(want, backtest.Sample{At: at, Scale: scale})
		}
		p := of(t, map[workload.ID][]backtest.Sample{web: want})
		if got := slices.Collect(p.Of(web)); !slices.Equal(got, want) {
			t.Fatalf("%d samples come back as others", len(want))
		}
		if p.Samples() != int64(len(want)) {
			t.Errorf("%d samples, want %d", p.Samples(), len(want))
		}
		if len(want) > 0 {
			from, to := p.Span()
			if !from.Equal(want[0].At) || !to.Equal(at) {
				t.Errorf("from %s to %s", from, to)
			}
		}
	}
}

func TestRunsOfAWorkloadAreJoinedInTime(t *testing.T) {
	t.Parallel()
	first, second := every(time.Minute, monday, 1, 2, 3), every(time.Minute, monday.Add(2*time.Minute), 3, 4)
	p := &backtest.Past{}
	for _, samples := range [][]backtest.Sample{second, first} {
		run := p.Run(web, "a file")
		for _, s := range samples {
			if err := run.Add(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(p.Of(web)); !slices.Equal(got, every(time.Minute, monday, 1, 2, 3, 4)) {
		t.Errorf("%v", got)
	}
	if err := p.Run(web, "late.csv").Add(first[1]); err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "shop/web") || !strings.Contains(err.Error(), "late.csv") || !strings.Contains(err.Error(), "max by") {
		t.Errorf("twice the same time: %v", err)
	}
}

func TestTimeDoesNotGoBack(t *testing.T) {
	t.Parallel()
	run := (&backtest.Past{}).Run(web, "a file")
	for i, at := range []time.Duration{0, time.Minute, time.Minute, 0} {
		if err := run.Add(backtest.Sample{At: monday.Add(at), Scale: pods(1)}); (err != nil) != (i > 1) {
			t.Errorf("sample %d: %v", i, err)
		}
	}
}

func TestTheUsualStep(t *testing.T) {
	t.Parallel()
	slow := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "slow"}
	all := map[workload.ID][]backtest.Sample{
		web:  append(every(time.Minute, monday, 1, 1, 1, 1), every(time.Minute, monday.Add(time.Hour), 1, 1)...),
		api:  every(time.Minute, monday, 1, 1, 1),
		slow: every(time.Hour, monday, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
	}
	if got := of(t, all).Step(); got != time.Minute {
		t.Errorf("%s", got)
	}
	if got := of(t, map[workload.ID][]backtest.Sample{web: every(time.Minute, monday, 1)}).Step(); got != 0 {
		t.Errorf("of one sample: %s", got)
	}
}

func TestTies(t *testing.T) {
	t.Parallel()
	p := of(t, map[workload.ID][]backtest.Sample{web: every(time.Minute, monday, 4, 4), api: every(time.Hour, monday, 4, 4)})
	if got := p.Step(); got != time.Minute {
		t.Errorf("of two steps %s, want the shorter", got)
	}
	if id := p.ByPeak()[0]; id != api {
		t.Errorf("of two that needed as much %s, want the first", id)
	}
}
