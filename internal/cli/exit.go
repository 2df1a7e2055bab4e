package cli

import (
	"errors"
	"fmt"
)

// The exit statuses of all commands; 0 is that all is as it should be.
const (
	statusFound = 1 // the command gave its answer, and found something for a person
	statusNot   = 2 // the command could not do what it was asked for
)

// A finding is what a command found, beside the answer that it gave. Without a
// cause there is nothing more to say than the answer did.
type finding struct{ cause error }

// Error is the cause's.
func (f finding) Error() string {
	if f.cause == nil {
		return ""
	}
	return f.cause.Error()
}

// Unwrap returns the cause.
func (f finding) Unwrap() error { return f.cause }

// found returns what was found as a finding, unless the command failed; then both
// are one failure.
func found(failed, what error) error {
	if failed != nil || what == nil {
		return errors.Join(failed, what)
	}
	return finding{what}
}

// unless is a finding of which the answer says all, unless all is well.
func unless(well bool) error {
	if well {
		return nil
	}
	return finding{}
}

// end says what a command ended in, and returns its exit status.
func end(env Env, err error) int {
	var f finding
	status := statusNot
	switch {
	case err == nil:
		return 0
	case errors.As(err, &f):
		status = statusFound
		if f.cause == nil {
			return status
		}
	}
	fmt.Fprintln(env.Err, "gitlatch:", err)
	for _, hint := range hintsFor(err) {
		fmt.Fprintln(env.Err, "hint:", hint)
	}
	return status
}
