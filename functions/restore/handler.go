package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/awslambda"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/open"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/wiring"
)

// event is the input of the function, from a schedule or a user.
type event struct {
	// Site is the name of the configured site, which is the default.
	Site   string `json:"site"`
	Action action `json:"action"` // required
	// DryRun computes the plan and writes nothing.
	DryRun bool `json:"dryRun"`
	// Factor is the part of each level to restore, above 0 and at most 1; nil is 1.
	Factor     *float64 `json:"factor"`
	Namespaces []string `json:"namespaces"` // an empty list is every namespace
	// Expired releases only the brakes that have expired.
	Expired bool `json:"expired"`
}

// An action is an action of the function.
type action string

const (
	restores action = "restore"
	releases action = "release"
)

// margin is the time before the deadline at which a run stops, to take a last sample and
// to answer. If there is little time, a quarter of the time is used instead.
const margin = 20 * time.Second

// handler is the state that warm invocations share.
type handler struct {
	config config.Config
	opener *wiring.Opener
	clock  func() time.Time
	log    zerolog.Logger
}

func newHandler(getenv func(string) string, clock func() time.Time, log zerolog.Logger) (*handler, error) {
	c, err := config.FromEnvironment(getenv)
	if err != nil {
		return nil, err
	}
	return &handler{config: c, opener: &wiring.Opener{Config: c, Getenv: getenv, Clock: clock, ReadOnly: true}, clock: clock, log: log.With().Str("site", c.Site).Logger()}, nil
}

// parse reads an event for the configured site.
func (h *handler) parse(payload json.RawMessage) (event, error) {
	e, err := awslambda.Event[event](payload, fmt.Sprintf(`{"site": %q, "action": "restore", "dryRun": true} or the like`, h.config.Site))
	switch {
	case err != nil:
		return e, err
	case e.Site != "" && e.Site != h.config.Site:
		return e, fmt.Errorf("event: site is %q, and this function is configured for %q", e.Site, h.config.Site)
	case e.Action != restores && e.Action != releases:
		return e, fmt.Errorf("event: action must be %q or %q, got %q", restores, releases, e.Action)
	case e.Factor != nil && !plan.ValidFactor(*e.Factor):
		return e, fmt.Errorf("event: factor must be above 0 and at most 1, got %v. For more pods, raise the level in the checkpoint file", *e.Factor)
	case plan.CheckNamespaces(e.Namespaces) != nil:
		return e, fmt.Errorf("event: namespaces: %w", plan.CheckNamespaces(e.Namespaces))
	case e.Action == restores && e.Expired:
		return e, errors.New("event: expired requires the action release. Each restore also releases expired brakes")
	case e.Action == releases && (e.Factor != nil || len(e.Namespaces) > 0):
		return e, errors.New("event: a release covers all workloads of the site. Remove factor and namespaces")
	}
	return e, nil
}

// handle restores or releases. If the deadline comes before every workload is at its
// level, this is not an error. The answer lists the rest, and another invocation
// continues. A lost brake is an error.
func (h *handler) handle(ctx context.Context, payload json.RawMessage) (restore.Report, error) {
	e, err := h.parse(payload)
	if err != nil {
		return restore.Report{}, err
	}
	s, err := open.Open(ctx, h.opener)
	if err != nil {
		return restore.Report{}, err
	}
	start := h.clock()
	var r restore.Report
	if e.Action == releases {
		r, err = h.run(ctx, s, e).Release(ctx, e.Expired)
	} else if tree, unread := s.Declared(ctx); unread != nil {
		err = unread
	} else {
		r, err = h.run(ctx, s, e).Run(ctx, tree)
	}
	err = errors.Join(s.Explain(ctx, err), errors.Join(r.Problems...))
	h.note(e, r, h.clock().Sub(start), err)
	return r.Brief(), err
}

// run returns a run of the site with the options of an event.
func (h *handler) run(ctx context.Context, s *open.Site, e event) *restore.Restore {
	run := s.Restore()
	run.DryRun = e.DryRun
	run.Options.Namespaces = e.Namespaces
	if e.Factor != nil {
		run.Options.Factor = *e.Factor
	}
	run.Until = h.until(ctx)
	run.Say = func(line string) { h.log.Info().Str("text", line).Msg("progress") }
	return run
}

// until returns the time at which a run must stop to answer before the deadline.
func (h *handler) until(ctx context.Context) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	left := deadline.Sub(h.clock())
	return deadline.Add(-min(margin, left/4))
}

// note logs one line for each workload that lacks pods or was skipped after the plan, and
// one line for the run.
func (h *handler) note(e event, r restore.Report, took time.Duration, err error) {
	for _, u := range r.Unfinished {
		h.log.Warn().Str("workload", u.ID.String()).Int32("replicas", u.Replicas).Int32("ready", u.Ready).Int32("to", u.To).Msg("lacking")
	}
	for _, left := range r.Since {
		h.log.Warn().Str("workload", left.ID.String()).Str("reason", string(left.Reason)).Str("text", left.Text).Msg("left since the plan")
	}
	for _, notice := range r.Notices {
		h.log.Warn().Str("text", notice).Msg("notice")
	}
	line := h.log.Info()
	if err != nil {
		line = h.log.Error().Err(err)
	}
	line.Str("action", string(e.Action)).Bool("dryRun", e.DryRun).Str("cluster", r.Cluster).
		Int("raised", len(r.Raised)).Int("braked", len(r.Brakes)).Int("released", len(r.Released)).Int("holding", r.Holding).
		Int("lacking", len(r.Unfinished)).Bool("stopped", r.Stopped).Dur("took_ms", took).Msg("restore")
}
