package backtest

import (
	"context"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A page holds so many lines at most, each of so many buckets: some 2 MB however
// long the past is and however many there were.
const (
	drawnWorkloads  = 20
	drawnCandidates = 10
	drawnBuckets    = 480
)

// Pictures returns lines of the workloads that matter most by the candidates that
// do, of the workload that was asked for in any case. say takes lines of progress.
// The error is that of a context which ended.
func (v Verdict) Pictures(ctx context.Context, asked workload.ID, say func(format string, args ...any)) (*Pictures, error) {
	from, to := v.Past.Span()
	bucket := v.bucket(drawnBuckets)
	candidates := v.matter()
	drawn, otherCandidates := first(candidates, drawnCandidates)
	ids, otherWorkloads := first(v.worthDrawing(asked, drawn), drawnWorkloads)
	p := &Pictures{
		BucketSeconds: int64(bucket / time.Second), Buckets: int32(to.Sub(from)/bucket) + 1, Workloads: each.Of(ids, workload.ID.String), Candidates: drawn,
		OtherWorkloads: otherWorkloads, OtherCandidates: otherCandidates,
	}
	for n, i := range drawn {
		trace, ok := Follow(v.Past, v.Results[i].Candidate, ids, bucket, func() bool { return ctx.Err() != nil })
		if !ok {
			return nil, ctx.Err()
		}
		var levels []Line
		for _, id := range ids {
			levels = append(levels, NewLine(trace.Level[id]))
			if n == 0 {
				p.Needs = append(p.Needs, NewLine(trace.Need[id]))
			}
		}
		p.Levels = append(p.Levels, levels)
		say("drew %d of %d policies", n+1, len(drawn))
	}
	return p, nil
}

// bucket is the time of one, in whole seconds, where so many are to hold the past.
// It is at least a period.
func (v Verdict) bucket(buckets int64) time.Duration {
	from, to := v.Past.Span()
	return max(time.Duration(int64(to.Sub(from)/time.Second)/buckets+1)*time.Second, v.Period)
}

// matter are the results in the order in which one would look at them: what is
// recommended, the front, then the others, the quietest first.
func (v Verdict) matter() []int {
	v.All = true
	all := v.shown()
	rank := func(i int) int {
		switch {
		case i == v.Best:
			return 0
		case v.Front[i]:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b int) int { return rank(a) - rank(b) })
	return all
}

// worthDrawing are the workloads in the order in which one would look at them: the
// one that was asked for, those that some candidate covered worst, then those that
// needed most.
func (v Verdict) worthDrawing(asked workload.ID, candidates []int) []workload.ID {
	ids := []workload.ID{asked}
	for _, i := range candidates {
		if w := v.Results[i].Worst; w.Measured() && w.Share < 1 {
			ids = append(ids, w.Workload)
		}
	}
	var once []workload.ID
	for _, id := range append(ids, v.Past.ByPeak()...) {
		if !slices.Contains(once, id) {
			once = append(once, id)
		}
	}
	return once
}

// first are the first of all, and how many are left.
func first[T any](all []T, most int) ([]T, int) {
	n := min(len(all), most)
	return all[:n], len(all) - n
}

// Pictures are what some workloads needed, and what some candidates declared of
// them, in buckets of time.
type Pictures struct {
	BucketSeconds int64 `json:"bucketSeconds"`
	Buckets       int32 `json:"buckets"`
	// Workloads are drawn by name ("shop/deployment/web"), and Candidates by their place in
	// the document's.
	Workloads  []string `json:"workloads"`
	Candidates []int    `json:"candidates"`
	// Needs has a line for each workload, and Levels for each candidate one for
	// each workload.
	Needs  []Line   `json:"needs"`
	Levels [][]Line `json:"levels"`
	// What was left out, so that the page stays small.
	OtherWorkloads  int `json:"otherWorkloads"`
	OtherCandidates int `json:"otherCandidates"`
}

// A Line is stretches of time, each as [bucket, lowest, highest]: it lasts until
// the next begins. -1 is unobserved; a level of 0 is none.
type Line [][3]int32

// NewLine writes stretches as a line.
func NewLine(of []Stretch) Line {
	return each.Of(of, func(s Stretch) [3]int32 { return [3]int32{s.Bucket, s.Low, s.High} })
}
