package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/functions/awslambda"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/open"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
)

// The environment variables with the work of the function. An event cannot change it: ARC
// sends the same fields for every step.
const (
	actionVariable     = "GITLATCH_ACTION"     // restore or release
	namespacesVariable = "GITLATCH_NAMESPACES" // separated by commas; empty is every namespace
)

// event is the execution metadata that ARC sends. AWS documents these four fields, and no
// others, for a step without a payload: API reference of ARC Region switch, data type
// Lambdas, field payload. AWS documents no value of InvokedBy, so any value is accepted.
type event struct {
	InvokedBy   any    `json:"InvokedBy"`
	PlanArn     string `json:"PlanArn"`     // required
	ExecutionID string `json:"ExecutionId"` // required
	StepName    string `json:"StepName"`
}

// want is an example of an event, for errors.
const want = `the fields InvokedBy, PlanArn, ExecutionId and StepName of an ARC Region switch plan. Remove the payload from the step of the plan`

// handler is the state that warm invocations share.
type handler struct {
	function *open.Function
	order    open.Order
}

func newHandler(getenv func(string) string, clock func() time.Time, log zerolog.Logger) (*handler, error) {
	action := open.Action(getenv(actionVariable))
	namespaces := strings.FieldsFunc(getenv(namespacesVariable), func(r rune) bool { return r == ',' })
	switch {
	case !action.Valid():
		return nil, fmt.Errorf("environment variable %s must be %q or %q, got %q", actionVariable, open.Restore, open.Release, action)
	case plan.CheckNamespaces(namespaces) != nil:
		return nil, fmt.Errorf("environment variable %s: %w", namespacesVariable, plan.CheckNamespaces(namespaces))
	case action == open.Release && len(namespaces) > 0:
		return nil, fmt.Errorf("environment variable %s: a release covers all workloads of the site. Remove the namespaces", namespacesVariable)
	}
	f, err := open.NewFunction(getenv, clock, log)
	// A wait longer than any invocation: only the deadline ends it.
	return &handler{f, open.Order{Action: action, Namespaces: namespaces, WaitFor: restore.WaitFor}}, err
}

// handle restores or releases. It returns an error if another invocation must continue:
// AWS documents that ARC invokes the function again after the retry interval of the step
// until the function succeeds or the timeout of the step is over. A report without an
// error lists the workloads that the run skipped, with the reasons, and the namespaces of
// the environment without a level in git.
func (h *handler) handle(ctx context.Context, payload json.RawMessage) (restore.Report, error) {
	e, err := awslambda.Event[event](payload, want)
	switch {
	case err != nil:
		return restore.Report{}, err
	case e.PlanArn == "" || e.ExecutionID == "":
		return restore.Report{}, fmt.Errorf("event: PlanArn and ExecutionId are required; want %s", want)
	}
	r, err := h.function.Do(ctx, h.order)
	return r.Brief(), errors.Join(err, h.unmatched(r), incomplete(r))
}

// unmatched returns an error if git has no level in any namespace of the environment. An
// old name beside others must not fail each step.
func (h *handler) unmatched(r restore.Report) error {
	if len(r.Undeclared) == 0 || len(r.Undeclared) < len(h.order.Namespaces) {
		return nil
	}
	return fmt.Errorf("git has no level in any of the namespaces of the step. Correct RegionSwitchNamespaces of the stack, and deploy the stack again: %w",
		errors.Join(r.Undeclared...))
}

// incomplete returns an error if the run stopped before its end, or if waiting may still
// change a workload.
func incomplete(r restore.Report) error {
	var names []string
	for _, u := range r.Unfinished {
		names = append(names, fmt.Sprintf("%s (%d of %d pods ready)", u.ID.Short(), u.Ready, u.To))
	}
	for _, left := range slices.Concat(r.Left, r.Since) {
		if left.Reason.Passes() {
			names = append(names, left.ID.Short()+" ("+left.Text+")")
		}
	}
	switch {
	case len(names) > 0:
		return fmt.Errorf("not complete: %s. ARC invokes the function again, and it continues. To go on without these workloads, skip the step", term.Among(names))
	case r.Stopped:
		return errors.New("stopped before the time limit of the function. ARC invokes the function again, and it continues")
	}
	return nil
}
