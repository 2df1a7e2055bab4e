package backtest

import (
	"context"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The limits of a page: some 2 MB for ten candidates, for any length of the past and any
// number of workloads.
const (
	drawnWorkloads = 20
	drawnBuckets   = 480
)

// Pictures returns lines of the workloads that matter most, of the workload that was
// asked for in any case. say takes lines of progress. The error is that of the context.
func (v Verdict) Pictures(ctx context.Context, asked workload.ID, say func(format string, args ...any)) (*Pictures, error) {
	from, to := v.Past.Span()
	bucket := v.bucket(drawnBuckets)
	all := v.worthDrawing(asked)
	ids := all[:min(len(all), drawnWorkloads)]
	p := &Pictures{
		BucketSeconds: int64(bucket / time.Second), Buckets: int32(to.Sub(from)/bucket) + 1,
		Workloads: each.Of(ids, workload.ID.String), OtherWorkloads: len(all) - len(ids),
	}
	for n, r := range v.Results {
		trace, ok := Follow(v.Past, r.Candidate, ids, bucket, func() bool { return ctx.Err() != nil })
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
		say("drew %d of %d policies", n+1, len(v.Results))
	}
	return p, nil
}

// bucket is the time of one, in whole seconds, where so many are to hold the past.
// It is at least a period.
func (v Verdict) bucket(buckets int64) time.Duration {
	from, to := v.Past.Span()
	return max(time.Duration(int64(to.Sub(from)/time.Second)/buckets+1)*time.Second, v.Period)
}

// worthDrawing are the workloads in the order in which one would look at them: the
// one that was asked for, those that some candidate covered worst, then those that
// needed most.
func (v Verdict) worthDrawing(asked workload.ID) []workload.ID {
	ids := []workload.ID{asked}
	for _, r := range v.Results {
		if w := r.Worst; w.Measured() && w.Share < 1 {
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

// Pictures are what some workloads needed, and what some candidates declared of
// them, in buckets of time.
type Pictures struct {
	BucketSeconds int64 `json:"bucketSeconds"`
	Buckets       int32 `json:"buckets"`
	// Workloads are names, as "shop/deployment/web".
	Workloads []string `json:"workloads"`
	// Needs has a line for each workload, and Levels for each candidate of the document
	// a line for each workload.
	Needs  []Line   `json:"needs"`
	Levels [][]Line `json:"levels"`
	// OtherWorkloads is the number of workloads that were left out, to limit the page.
	OtherWorkloads int `json:"otherWorkloads"`
}

// A Line is stretches of time, each as [bucket, lowest, highest]: it lasts until
// the next begins. -1 is unobserved; a level of 0 is none.
type Line [][3]int32

// NewLine writes stretches as a line.
func NewLine(of []Stretch) Line {
	return each.Of(of, func(s Stretch) [3]int32 { return [3]int32{s.Bucket, s.Low, s.High} })
}
