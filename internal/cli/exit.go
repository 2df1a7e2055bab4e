package cli

import (
	"errors"
	"fmt"
)

// The exit statuses of all commands. 0 means success.
const (
	statusFound = 1 // the command succeeded and found something that a user should check
	statusNot   = 2 // the command could not do its work
)

// A finding is the error of a command that succeeded and found something. Its cause is
// nil if the output already contains everything.
type finding struct{ cause error }

// Error returns the text of the cause.
func (f finding) Error() string {
	if f.cause == nil {
		return ""
	}
	return f.cause.Error()
}

// Unwrap returns the cause.
func (f finding) Unwrap() error { return f.cause }

// found returns what as a finding if the command did not fail. If it failed, found
// returns both errors joined.
func found(failed, what error) error {
	if failed != nil || what == nil {
		return errors.Join(failed, what)
	}
	return finding{what}
}

// unless returns nil if well is true, and otherwise a finding without a cause.
func unless(well bool) error {
	if well {
		return nil
	}
	return finding{}
}

// end prints the error of a command with its hints, and returns the exit status.
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
	for _, text := range hintsOf(err) {
		fmt.Fprintln(env.Err, "hint:", text)
	}
	return status
}
