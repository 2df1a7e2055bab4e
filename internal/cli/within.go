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

// longest is how long a command may take that asks a cluster, a repository or the
// state, as long as the longest Lambda.
const longest = 15 * time.Minute

// wrapUp is what a command has, once it is to end, to give back what it holds.
const wrapUp = 5 * time.Second

var errTime = errors.New("the time limit is over: check the system that did not answer")

// within runs what a command does, until it ends, its time is over or a signal
// comes. What does not end by itself then is left: the process ends with the
// command, and gives back what it holds, such as the lock of a state file.
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

// interruptible is a context that a signal ends, too.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
}

// timed is within as a command runs it.
func timed(limit time.Duration, run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return within(c.Context(), limit, func(ctx context.Context) error { return run(ctx, args) })
	}
}
