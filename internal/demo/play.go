package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// A day is what came of a replay.
type day struct {
	trace      *traces.Trace
	repository string
	log        []logLine

	history History
	commits []time.Duration                 // instants of ticks that committed, since the start
	frozen  map[policy.Reason]stillness     // by reason, within the day itself
	waits   []map[workload.ID]policy.Reason // by tick: what crossings waited for
	flights []*flight                       // in the order in which they began
	open    map[workload.ID]*flight         // of these, those that still fly
}

// waited is what a crossing of a workload waited for at an instant, as of the
// last tick by then.
func (d *day) waited(id workload.ID, at time.Duration) policy.Reason {
	return d.waits[min(int(at/period), len(d.waits)-1)][id]
}

// stillness is how often, and for how many workloads at most, a reason kept
// timers from running.
type stillness struct{ ticks, most int }

// play takes all ticks of a trace.
func play(ctx context.Context, e *engine, show *tty.Progress) (*day, error) {
	t := e.sampler.trace
	d := &day{trace: t, history: make(History, len(t.Workloads)), frozen: map[policy.Reason]stillness{}, open: map[workload.ID]*flight{}}
	for at := time.Duration(0); at < t.Length; at += period {
		o, err := e.look(ctx, at)
		if err != nil {
			return nil, fmt.Errorf("tick of %s: %w", t.Start.Add(at).Format(time.RFC3339), err)
		}
		d.note(at, o)
		show.Say("replaying %s, %d %%, %s", t.Start.Add(at).Format("Mon 15:04"), 100*at/t.Length, term.Count(len(d.commits), "commit"))
	}
	show.End()
	return d, nil
}

func (d *day) note(at time.Duration, o outcome) {
	d.waits = append(d.waits, o.waiting)
	d.fly(at, o.inFlight)
	if o.committed {
		d.commits = append(d.commits, at)
	}
	for i, w := range d.trace.Workloads {
		if level := o.declared[w.ID]; level != d.history.At(i, at) {
			d.history[i] = append(d.history[i], Step{at, level})
		}
	}
	if at < d.trace.WarmUp {
		return
	}
	for reason, n := range o.frozen {
		s := d.frozen[reason]
		d.frozen[reason] = stillness{s.ticks + 1, max(s.most, n)}
	}
}
