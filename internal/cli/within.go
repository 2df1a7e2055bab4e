package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// longest is the time limit of a command that reads a cluster, a repository or the state.
// It equals the maximum run time of a Lambda function.
const longest = 15 * time.Minute

// wrapUp is the time that a command has to release its resources after its end is
// requested.
const wrapUp = 5 * time.Second

var errTime = errors.New("the time limit is over: check the system that did not answer")

// within runs a function until it returns, the limit has passed or a signal arrives.
// After the limit or a signal, it waits for wrapUp, and then returns although the
// function may still run. The process then ends and releases resources such as the lock
// of a state file.
func within(ctx context.Context, limit time.Duration, run func(context.Context) error) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTime)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(wrapUp):
			return fmt.Errorf("stopped after %s: %w", limit+wrapUp, context.Cause(ctx))
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), errTime) && !errors.Is(err, errTime) {
		err = fmt.Errorf("%w (%w)", err, errTime)
	}
	return err
}

// interruptible returns a context that SIGINT and SIGTERM cancel.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
}

// timed returns the RunE function of a command with a time limit. See within.
func timed(limit time.Duration, run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return within(c.Context(), limit, func(ctx context.Context) error { return run(ctx, args) })
	}
}
