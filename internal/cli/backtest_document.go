package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/page"
	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func (v verdict) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v.document())
}

func (v verdict) document() backtest.Document {
	from, to := v.past.Span()
	d := backtest.Document{
		APIVersion: backtest.Version, Kind: backtest.Kind, From: from, To: to, Workloads: len(v.past.IDs()), Samples: v.past.Samples(),
		Step: v.past.Step().String(), Period: v.period.String(), Lasting: v.lasting.String(), Why: v.why,
		Wants:      backtest.Wanted{Coverage: v.wants.Coverage, CommitsPerDay: v.wants.Commits},
		Candidates: make([]backtest.Tried, len(v.results)),
	}
	for i, r := range v.results {
		p := r.Candidate.Set.Default
		c := backtest.Tried{
			Name: r.Candidate.Name, Policy: backtest.Rules{Series: p.Series.String(), Round: string(p.Round), HoldUp: p.HoldUp, HoldDown: p.HoldDown.String(), Margin: p.Margin},
			Days: r.Days, CommitsPerDay: r.CommitsPerDay(), Commits: r.Commits, Firsts: r.Firsts, Updates: r.Updates, Reviews: r.Reviews,
			Declared: r.Declared, Coverage: r.Coverage, WastePodHours: r.Waste, NeedPodHours: r.Need, Front: v.front[i], Recommended: i == v.best,
		}
		if w := r.Worst; w.Measured() {
			c.Worst = &backtest.Low{Share: w.Share, Workload: w.Workload.String(), At: w.At, Need: w.Need, Declared: w.Declared}
		}
		d.Candidates[i] = c
	}
	if v.best >= 0 {
		d.Recommended = v.results[v.best].Candidate.Name
	}
	return d
}

// A page holds so many lines at most, each of so many buckets: some 2 MB however
// long the past is and however many there were.
const (
	drawnWorkloads  = 20
	drawnCandidates = 10
	drawnBuckets    = 480
)

// html writes the verdict as a page, with the lines of the workloads that matter
// most by the candidates that do.
func (v verdict) html(ctx context.Context, out io.Writer, asked workload.ID, show *tty.Progress) error {
	d := v.document()
	pictures, err := v.pictures(ctx, asked, show)
	if err != nil {
		return err
	}
	d.Pictures = pictures
	html, err := page.Backtest(d)
	if err != nil {
		return err
	}
	_, err = out.Write(html)
	return err
}

func (v verdict) pictures(ctx context.Context, asked workload.ID, show *tty.Progress) (*backtest.Pictures, error) {
	from, to := v.past.Span()
	seconds := int64(to.Sub(from)/time.Second)/drawnBuckets + 1
	bucket := max(time.Duration(seconds)*time.Second, v.period)
	candidates := v.matter()
	drawn, otherCandidates := first(candidates, drawnCandidates)
	ids, otherWorkloads := first(v.worthDrawing(asked, drawn), drawnWorkloads)
	p := &backtest.Pictures{
		BucketSeconds: int64(bucket / time.Second), Buckets: int32(to.Sub(from)/bucket) + 1, Candidates: drawn,
		OtherWorkloads: otherWorkloads, OtherCandidates: otherCandidates,
	}
	for _, id := range ids {
		p.Workloads = append(p.Workloads, id.String())
	}
	for n, i := range drawn {
		trace, ok := backtest.Follow(v.past, v.results[i].Candidate, ids, bucket, func() bool { return ctx.Err() != nil })
		if !ok {
			return nil, fmt.Errorf("backtest: stopped: %w", ctx.Err())
		}
		var levels []backtest.Line
		for _, id := range ids {
			levels = append(levels, backtest.NewLine(trace.Level[id]))
			if n == 0 {
				p.Needs = append(p.Needs, backtest.NewLine(trace.Need[id]))
			}
		}
		p.Levels = append(p.Levels, levels)
		show.Say("drew %d of %d policies", n+1, len(drawn))
	}
	show.End()
	return p, nil
}

// matter are the results in the order in which one would look at them: what is
// recommended, the front, then the others, the quietest first.
func (v verdict) matter() []int {
	v.all = true
	all := v.shown()
	rank := func(i int) int {
		switch {
		case i == v.best:
			return 0
		case v.front[i]:
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
func (v verdict) worthDrawing(asked workload.ID, candidates []int) []workload.ID {
	ids := []workload.ID{asked}
	for _, i := range candidates {
		if w := v.results[i].Worst; w.Measured() && w.Share < 1 {
			ids = append(ids, w.Workload)
		}
	}
	var once []workload.ID
	for _, id := range append(ids, v.past.ByPeak()...) {
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
