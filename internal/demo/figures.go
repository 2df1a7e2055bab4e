package demo

import (
	"slices"
	"sort"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// A Step is the start of a level in git.
type Step struct {
	At    time.Duration // since the start of the trace
	Level int32         // in pods; 0 without a level
}

// History has the levels in git of each workload of a trace, in the order of the trace.
// The steps of a workload ascend in time. Without steps, a rebuild uses only the manifests.
type History [][]Step

// At returns the level of the i-th workload at a time, including the tick at that time. It
// returns 0 without a level.
func (h History) At(i int, at time.Duration) int32 {
	j := sort.Search(len(h[i]), func(j int) bool { return h[i][j].At > at })
	if j == 0 {
		return 0
	}
	return h[i][j-1].Level
}

// grain is the time between two samples of the figures, which is the step of the trace.
const grain = 15 * time.Second

// past returns the desired replicas of a trace, from two hours before its day.
func past(t *traces.Trace) (*backtest.Past, error) {
	p := &backtest.Past{}
	for i, w := range t.Workloads {
		for at := max(0, t.WarmUp-2*time.Hour); at <= t.Length; at += grain {
			if err := p.Add(w.ID, "trace", backtest.Sample{At: t.Start.Add(at), Pods: t.At(i, at).Desired}); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// rebuilds returns the figures of the day of a trace, from a history.
func rebuilds(t *traces.Trace, p *backtest.Past, name string, h History) backtest.Row {
	index := map[workload.ID]int{}
	for i, w := range t.Workloads {
		index[w.ID] = i
	}
	return backtest.Measure(p, name, period, grain, t.Start.Add(t.WarmUp), func(id workload.ID, at time.Time, _ int32) (int32, bool) {
		level := h.At(index[id], at.Sub(t.Start))
		if level == 0 {
			level = t.Workloads[index[id]].Manifest
		}
		return level, true
	})
}

// compare returns the figures of the manifests alone, of a job that commits all replica
// counts every hour, and of gitlatch. It draws one workload.
func (d *day) compare() (backtest.Report, error) {
	p, err := past(d.trace)
	if err != nil {
		return backtest.Report{}, err
	}
	ours := rebuilds(d.trace, p, "with gitlatch", d.history)
	ours.Commits = lists.Count(d.commits, func(at time.Duration) bool { return at >= d.trace.WarmUp }) // also of rollouts
	ours.CommitsPerDay = float64(ours.Commits) / ours.Days
	from := d.clock(d.trace.WarmUp)
	i := slices.IndexFunc(d.trace.Workloads, func(w traces.Workload) bool { return w.ID.Short() == shown })
	return backtest.Report{
		Document: term.DocumentOf("Backtest"), From: from, To: d.clock(d.trace.Length),
		Workloads: len(d.history), Samples: int64(len(d.history)) * int64(1+(d.trace.Length-d.trace.WarmUp)/grain),
		Step: grain.String(), Period: period.String(),
		Policies: []backtest.Row{
			rebuilds(d.trace, p, "only manifests", make(History, len(d.history))),
			backtest.Hourly(p, grain, from),
			ours,
		},
		Plot: d.plot(i, shown+": a sale starts at 18:30"),
	}, nil
}
