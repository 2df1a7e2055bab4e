package backtest

import (
	"context"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The limits of a page: about 2 MB for ten candidates, for any length of the past and any
// number of workloads.
const (
	drawnWorkloads = 20
	drawnBuckets   = 480
)

// Pictures returns the lines of the most important workloads, always including the
// workload asked. say prints progress. The error is the error of the context.
func (v Verdict) Pictures(ctx context.Context, asked workload.ID, say func(format string, args ...any)) (*Pictures, error) {
	from, to := v.Past.Span()
	bucket := v.bucket(drawnBuckets)
	all := v.worthDrawing(asked)
	ids := all[:min(len(all), drawnWorkloads)]
	p := &Pictures{
		BucketSeconds: int64(bucket / time.Second), Buckets: int32(to.Sub(from)/bucket) + 1,
		Workloads: lists.Map(ids, workload.ID.String), OtherWorkloads: len(all) - len(ids),
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

// bucket returns the length of a bucket in whole seconds, if the past has the given
// number of buckets. It is at least a period.
func (v Verdict) bucket(buckets int64) time.Duration {
	from, to := v.Past.Span()
	return max(time.Duration(int64(to.Sub(from)/time.Second)/buckets+1)*time.Second, v.Period)
}

// worthDrawing returns the workloads in order of importance: the workload asked, then the
// workloads with the worst coverage of a candidate, then the others by their highest
// desired replicas.
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

// Pictures are the desired replicas of some workloads, and their levels with each
// candidate, in buckets of time.
type Pictures struct {
	BucketSeconds int64 `json:"bucketSeconds"`
	Buckets       int32 `json:"buckets"`
	// Workloads are names, as "shop/deployment/web".
	Workloads []string `json:"workloads"`
	// Needs has a line for each workload. Levels has, for each candidate of the document,
	// a line for each workload.
	Needs  []Line   `json:"needs"`
	Levels [][]Line `json:"levels"`
	// OtherWorkloads is the number of workloads that were left out to limit the page.
	OtherWorkloads int `json:"otherWorkloads"`
}

// A Line is a list of stretches of time, each as [bucket, lowest, highest]. A stretch
// ends where the next one starts. -1 is unobserved; 0 means without a level.
type Line [][3]int32

// NewLine returns stretches as a line.
func NewLine(of []Stretch) Line {
	return lists.Map(of, func(s Stretch) [3]int32 { return [3]int32{s.Bucket, s.Low, s.High} })
}
