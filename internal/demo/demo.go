// Package demo replays a recorded day in a short time with the real engine. Every tick
// samples the trace instead of a cluster. It uses a separate state file and a separate
// bare git repository. At the end, the demo
// shows the result, and writes it as a page.
//
// The clock is the clock of the trace, so two runs make the same commits.
package demo

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// The site of the demo, and the time between ticks.
const (
	siteName = "prod-eu"
	period   = 5 * time.Minute
)

// Options control how a demo runs.
type Options struct {
	Out    io.Writer // may be a terminal
	Err    io.Writer // shows the progress if it is a terminal
	Getenv func(string) string
}

// Run replays the shipped day and prints the result. The repository and the state remain in
// a temporary folder after the demo. SIGINT and SIGTERM stop the replay.
func Run(ctx context.Context, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	t, err := traces.Day()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gitlatch-demo-")
	if err != nil {
		return err
	}
	d, err := record(ctx, t, dir, tty.NewProgress(o.Err))
	if err != nil {
		return err
	}
	return d.report(o.Out, tty.StyleFor(o.Out, o.Getenv))
}

// record replays a trace in an empty folder, and returns the result.
func record(ctx context.Context, t *traces.Trace, dir string, show *tty.Progress) (*day, error) {
	scratch := filepath.Join(dir, "fleet.git")
	c, repository, err := create(ctx, scratch, teamFiles(t), t.Start.Add(-time.Hour))
	if err != nil {
		return nil, err
	}
	c.Period = period
	e, err := openEngine(t, c, repository)
	if err != nil {
		return nil, err
	}
	d, err := play(ctx, e, show)
	if err := errors.Join(err, e.close()); err != nil {
		return nil, err
	}
	d.repository = scratch
	return d, nil
}
