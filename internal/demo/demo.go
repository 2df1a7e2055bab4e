// Package demo replays a recorded day in a short time with the real engine. Every tick
// samples the trace instead of a cluster. It uses a separate state file and a separate
// bare git repository. At the end, the demo shows the result.
//
// The clock is the clock of the trace, so two runs make the same commits.
package demo

import (
	"context"
	"errors"
	"fmt"
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

	// Dir is the folder for the repository and the state, which remain after the demo. It
	// is created, or must be empty; "" makes a temporary folder.
	Dir string
}

// Run replays the shipped day and prints the result. SIGINT and SIGTERM stop the replay.
func Run(ctx context.Context, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	t, err := traces.Day()
	if err != nil {
		return err
	}
	d, err := record(ctx, t, o.Dir, tty.NewProgress(o.Err))
	if err != nil {
		return err
	}
	return d.report(o.Out, tty.StyleFor(o.Out, o.Getenv))
}

// record replays a trace in a folder, or a temporary one for "", and returns the result.
func record(ctx context.Context, t *traces.Trace, dir string, show *tty.Progress) (*day, error) {
	dir, err := emptyDir(dir)
	if err != nil {
		return nil, err
	}
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
	d.log, err = readLog(ctx, scratch)
	return d, err
}

// emptyDir creates a directory, or returns an error if it is not empty.
func emptyDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "gitlatch-demo-")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	found, err := os.ReadDir(dir)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("directory %s: must be empty, has %s", dir, found[0].Name())
	}
	return dir, err
}
