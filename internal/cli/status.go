package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// An exit is an error with an exit status of its own. Without a cause there is
// nothing more to say than the command said already.
type exit struct {
	status int
	cause  error
}

// Error is the cause's.
func (e *exit) Error() string {
	if e.cause == nil {
		return ""
	}
	return e.cause.Error()
}

// Unwrap returns the cause.
func (e *exit) Unwrap() error { return e.cause }

// trouble gives an error the status of a command that tells findings, 1, from
// not having been able to look.
func trouble(err error) error {
	var e *exit
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &exit{status: 2, cause: err}
}

// troubled gives a command that status, also for flags and arguments that it does
// not take.
func troubled(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return trouble(fmt.Errorf("%w; see %s --help", err, c.CommandPath()))
	})
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error { return trouble(run(c, args)) }
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error { return trouble(check(c, args)) }
	}
}

// statusOf returns the exit status of an error, and whether it is to be said.
func statusOf(err error) (status int, say bool) {
	var e *exit
	if errors.As(err, &e) {
		return e.status, e.cause != nil
	}
	return 1, true
}
