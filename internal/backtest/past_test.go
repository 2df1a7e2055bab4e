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
		pods := r.Int32N(100)
		for range 1 + r.IntN(20_000) {
			switch r.IntN(10) {
			case 0:
				pods = r.Int32N(math.MaxInt32)
			case 1:
				at = at.Add(time.Duration(r.Int64N(1e7)) * time.Second)
			}
			at = at.Add(time.Minute)
			want = append(want, backtest.Sample{At: at, Pods: pods})
		}
		p := of(t, map[workload.ID][]backtest.Sample{web: want})
		if got := slices.Collect(p.Of(web)); !slices.Equal(got, want) {
			t.Fatalf("%d samples come back as others", len(want))
		}
		if from, to := p.Span(); p.Samples() != int64(len(want)) || !from.Equal(want[0].At) || !to.Equal(at) {
			t.Errorf("%d samples from %s to %s", p.Samples(), from, to)
		}
	}
}

// Files may share the sample at which one ends and the next one starts.
func TestFilesOfAWorkloadAreJoinedInTime(t *testing.T) {
	t.Parallel()
	p := &backtest.Past{}
	add := func(source string, samples []backtest.Sample) (err error) {
		for _, s := range samples {
			if err = p.Add(web, source, s); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add("one.csv", every(time.Minute, monday, 1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	if err := add("two.csv", every(time.Minute, monday.Add(2*time.Minute), 3, 4)); err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(p.Of(web)); !slices.Equal(got, every(time.Minute, monday, 1, 2, 3, 4)) {
		t.Errorf("%v", got)
	}
	err := add("late.csv", every(time.Minute, monday, 1))
	if err == nil || !strings.Contains(err.Error(), "shop/web") || !strings.Contains(err.Error(), "of two.csv: sort the samples and the files by time") || !strings.Contains(err.Error(), "max by") {
		t.Errorf("twice the same time: %v", err)
	}
}

func TestTimeDoesNotGoBack(t *testing.T) {
	t.Parallel()
	p := &backtest.Past{}
	for i, at := range []time.Duration{0, time.Minute, time.Minute, 0} {
		if err := p.Add(web, "a file", backtest.Sample{At: monday.Add(at), Pods: 1}); (err != nil) != (i > 1) {
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
		slow: every(time.Hour, monday, 1, 1, 1, 1),
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
	if id := p.Largest(); id != api {
		t.Errorf("of two that needed as much %s, want the first", id)
	}
}
