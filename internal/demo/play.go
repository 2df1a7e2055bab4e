package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// A day is the result of a replay.
type day struct {
	trace      *traces.Trace
	repository string

	history History
	commits []time.Duration // times of the ticks that committed, since the start
}

// play runs all ticks of a trace.
func play(ctx context.Context, e *engine, show *tty.Progress) (*day, error) {
	t := e.sampler.trace
	d := &day{trace: t, history: make(History, len(t.Workloads))}
	for at := time.Duration(0); at < t.Length; at += period {
		r, err := e.look(ctx, at)
		if err != nil {
			return nil, fmt.Errorf("tick of %s: %w", t.Start.Add(at).Format(time.RFC3339), err)
		}
		d.note(at, r)
		show.Say("replaying %s, %d %%, %s", t.Start.Add(at).Format("Mon 15:04"), 100*at/t.Length, term.Count(len(d.commits), "commit"))
	}
	show.End()
	return d, nil
}

func (d *day) note(at time.Duration, r tick.Report) {
	if r.Commit != nil {
		d.commits = append(d.commits, at)
	}
	for i, w := range d.trace.Workloads {
		if level := r.Latches.Get(w.ID).Declared.Replicas; level != d.history.At(i, at) {
			d.history[i] = append(d.history[i], Step{at, level})
		}
	}
}
