package backtest

import (
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A plot has the peak of each bucket, and falls to zero in a bucket without samples.
func TestThePlotOfAWorkload(t *testing.T) {
	t.Parallel()
	var past Past
	web, begin := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}, time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	run := past.Run(web, "here")
	for minutes, pods := range []int32{0: 40, 5: 40, 10: 90, 15: 70, 200: 70, 205: 70} {
		if pods == 0 {
			continue
		}
		if err := run.Add(Sample{begin.Add(time.Duration(minutes) * time.Minute), workload.Scale{Desired: pods, Ready: pods}}); err != nil {
			t.Fatal(err)
		}
	}
	set := policy.DefaultSet()
	set.Guards.Period = 5 * time.Minute
	set.Default.HoldUp = 1
	v := Verdict{Past: &past, Results: []Result{{Candidate: Candidate{"cope", set}}}, Period: 10 * time.Minute}
	p := v.plot(web)
	at := func(minutes int, pods float64) term.Point {
		return term.Point{At: time.Duration(minutes) * time.Minute, Value: pods}
	}
	if want := []term.Point{at(0, 40), at(10, 90), at(20, 70), at(40, 0), at(200, 70)}; !slices.Equal(p.Scale, want) {
		t.Errorf("pods asked for: %v, want %v", p.Scale, want)
	}
	if want := []term.Point{at(0, 50), at(10, 100)}; !slices.Equal(p.Level, want) {
		t.Errorf("levels: %v, want %v", p.Level, want)
	}
}
