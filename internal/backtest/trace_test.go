package backtest_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A count is a number of pods from a time on; it may be backtest.Unobserved.
type count struct {
	at   time.Time
	pods int32
}

// spelt computes the stretches of counts again for each bucket.
func spelt(counts []count, from, until time.Time, bucket time.Duration) (all []backtest.Stretch) {
	for b := int32(0); ; b++ {
		begin := from.Add(time.Duration(b) * bucket)
		end := begin.Add(bucket)
		if begin.After(until) {
			return all
		}
		s := backtest.Stretch{Bucket: b, Low: backtest.Unobserved, High: backtest.Unobserved}
		for i, c := range counts {
			last := until
			if i+1 < len(counts) {
				last = counts[i+1].at.Add(-time.Second)
			}
			if c.pods == backtest.Unobserved || !c.at.Before(end) || last.Before(begin) {
				continue
			}
			if s.High == backtest.Unobserved {
				s.Low, s.High = c.pods, c.pods
			}
			s.Low, s.High = min(s.Low, c.pods), max(s.High, c.pods)
		}
		if n := len(all); n > 0 && all[n-1].Low == s.Low && all[n-1].High == s.High || n == 0 && s.High == backtest.Unobserved {
			continue
		}
		all = append(all, s)
	}
}

// A bucket may have any number of samples. The drawn range contains all of them, and both
// of its ends are samples.
func TestNoPeakIsLostInABucket(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2018, 5))
	for range 200 {
		all := map[workload.ID][]backtest.Sample{web: nil, api: nil}
		for _, id := range []workload.ID{web, api} {
			at := monday
			if id == web {
				at = at.Add(time.Duration(random.IntN(40)) * period)
			}
			pods := int32(40)
			for range 20 + random.IntN(300) {
				if random.IntN(25) == 0 {
					at = at.Add(time.Duration(random.IntN(30)) * period)
				}
				if random.IntN(4) == 0 {
					pods = 1 + random.Int32N(400)
				}
				all[id] = append(all[id], every(period, at, pods)...)
				at = at.Add(period)
			}
		}
		past := of(t, all)
		from, _ := past.Span()
		bucket := time.Duration(1+random.IntN(40)) * period / 2
		gap := 3 * period

		// Watch and Follow report the same values.
		needs, levels := map[workload.ID][]count{}, map[workload.ID][]count{}
		last := map[workload.ID]time.Time{}
		backtest.Try(past, cope(), backtest.Options{Watch: func(id workload.ID, at time.Time, need, level int32) {
			if before, ok := last[id]; ok && at.Sub(before) > gap {
				needs[id] = append(needs[id], count{before.Add(gap + time.Second), backtest.Unobserved})
			}
			last[id] = at
			needs[id] = append(needs[id], count{at, need})
			levels[id] = append(levels[id], count{at, level})
		}})
		got, ok := backtest.Follow(past, cope(), []workload.ID{web, api}, bucket, nil)
		if !ok {
			t.Fatal("it stopped")
		}
		for _, id := range []workload.ID{web, api} {
			if want := spelt(needs[id], from, last[id], bucket); !slices.Equal(got.Need[id], want) {
				t.Fatalf("needs of %s by %s:\n%v, want\n%v", id, bucket, got.Need[id], want)
			}
			if want := spelt(levels[id], from, last[id], bucket); !slices.Equal(got.Level[id], want) {
				t.Fatalf("levels of %s by %s:\n%v, want\n%v", id, bucket, got.Level[id], want)
			}
		}
	}
}

func TestOnlyWhatIsAskedForIsFollowed(t *testing.T) {
	t.Parallel()
	past := of(t, map[workload.ID][]backtest.Sample{
		web: every(period, monday, times(100, 40)...), api: every(period, monday, times(100, 90)...),
	})
	got, _ := backtest.Follow(past, cope(), []workload.ID{web}, time.Hour, nil)
	want := []backtest.Stretch{{Bucket: 0, Low: 0, High: 50}, {Bucket: 1, Low: 50, High: 50}}
	if len(got.Need) != 1 || !slices.Equal(got.Level[web], want) || !slices.Equal(got.Need[web], []backtest.Stretch{{Bucket: 0, Low: 40, High: 40}}) {
		t.Errorf("%+v", got)
	}
	if _, ok := backtest.Follow(past, cope(), nil, time.Hour, func() bool { return true }); ok {
		t.Error("it was not stopped")
	}
	if ids := past.ByPeak(); !slices.Equal(ids, []workload.ID{api, web}) {
		t.Errorf("%v", ids)
	}
}
