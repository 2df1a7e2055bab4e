package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/functions/awslambda"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/open"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
)

// event is the input of the function, from a schedule or a user.
type event struct {
	// Site is the name of the configured site, which is the default.
	Site   string      `json:"site"`
	Action open.Action `json:"action"` // required
	// DryRun computes the plan and writes nothing.
	DryRun bool `json:"dryRun"`
	// Factor is the part of each level to restore, above 0 and at most 1; nil is 1.
	Factor     *float64 `json:"factor"`
	Namespaces []string `json:"namespaces"` // an empty list is every namespace
	// Expired releases only the brakes that have expired.
	Expired bool `json:"expired"`
}

// handler is the state that warm invocations share.
type handler struct{ function *open.Function }

func newHandler(getenv func(string) string, clock func() time.Time, log zerolog.Logger) (*handler, error) {
	f, err := open.NewFunction(getenv, clock, log)
	return &handler{f}, err
}

// parse reads an event for the configured site.
func (h *handler) parse(payload json.RawMessage) (event, error) {
	site := h.function.Config.Site
	e, err := awslambda.Event[event](payload, fmt.Sprintf(`{"site": %q, "action": "restore", "dryRun": true} or the like`, site))
	switch {
	case err != nil:
		return e, err
	case e.Site != "" && e.Site != site:
		return e, fmt.Errorf("event: site is %q, and this function is configured for %q", e.Site, site)
	case !e.Action.Valid():
		return e, fmt.Errorf("event: action must be %q or %q, got %q", open.Restore, open.Release, e.Action)
	case e.Factor != nil && !plan.ValidFactor(*e.Factor):
		return e, fmt.Errorf("event: factor must be above 0 and at most 1, got %v. For more pods, raise the level in the checkpoint file", *e.Factor)
	case plan.CheckNamespaces(e.Namespaces) != nil:
		return e, fmt.Errorf("event: namespaces: %w", plan.CheckNamespaces(e.Namespaces))
	case e.Action == open.Restore && e.Expired:
		return e, errors.New("event: expired requires the action release. Each restore also releases expired brakes")
	case e.Action == open.Release && (e.Factor != nil || len(e.Namespaces) > 0):
		return e, errors.New("event: a release covers all workloads of the site. Remove factor and namespaces")
	}
	return e, nil
}

// handle restores or releases, as open.Function documents.
func (h *handler) handle(ctx context.Context, payload json.RawMessage) (restore.Report, error) {
	e, err := h.parse(payload)
	if err != nil {
		return restore.Report{}, err
	}
	r, err := h.function.Do(ctx, open.Order{
		Action: e.Action, DryRun: e.DryRun, Factor: ptr.Deref(e.Factor, 0), Namespaces: e.Namespaces, Expired: e.Expired,
	})
	return r.Brief(), errors.Join(err, errors.Join(r.Undeclared...))
}
