package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/functions/awslambda"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/wiring"
)

// event is the input of the function, from a user or a pipeline.
type event struct {
	// Site is the name of the configured site, which is the default.
	Site string `json:"site"`
	// MinCoverage is the coverage that the drill requires to pass; the default is 0.95.
	MinCoverage *float64 `json:"minCoverage"`
	// Flush writes the present need before the score; the default is true. With false,
	// the drill scores git unchanged. DryRun also does that, and writes no metrics.
	Flush  *bool `json:"flush"`
	DryRun bool  `json:"dryRun"`
}

// flushes reports whether the drill writes the present need before the score.
func (e event) flushes() bool { return !e.DryRun && (e.Flush == nil || *e.Flush) }

// leasePart is the divisor for the longest wait for a tick's lease: a third of the time.
const leasePart = 3

// answerMost is the highest number of workloads in an answer. Lambda limits it to 6 MB.
const answerMost = 1000

var errTime = errors.New("the drill stopped before the timeout of the function: check the system that did not answer")

// handler is the state that warm invocations share.
type handler struct {
	config  config.Config
	opener  *wiring.Opener
	clock   func() time.Time
	log     zerolog.Logger
	metrics io.Writer // receives a line for each scored drill
}

func newHandler(getenv func(string) string, clock func() time.Time, log zerolog.Logger, metrics io.Writer) (*handler, error) {
	c, err := config.FromEnvironment(getenv)
	if err != nil {
		return nil, err
	}
	o := &wiring.Opener{Config: c, Getenv: getenv, Clock: clock, Group: open.Group, Rights: open.Rights}
	return &handler{config: c, opener: o, clock: clock, log: log.With().Str("site", c.Site).Logger(), metrics: metrics}, nil
}

// parse reads an event for the configured site.
func (h *handler) parse(payload json.RawMessage) (event, error) {
	e, err := awslambda.Event[event](payload, fmt.Sprintf(`{"site": %q, "minCoverage": 0.95} or less`, h.config.Site))
	switch {
	case err != nil:
		return e, err
	case e.Site != "" && e.Site != h.config.Site:
		return e, fmt.Errorf("event: site is %q, and this function is configured for %q", e.Site, h.config.Site)
	case e.MinCoverage != nil && !(*e.MinCoverage >= 0 && *e.MinCoverage <= 1):
		return e, fmt.Errorf("event: minCoverage must be from 0 to 1, got %v", *e.MinCoverage)
	}
	return e, nil
}

// handle runs a drill. A drill that does not pass is not an error of the invocation. The
// answer and a metric show it.
func (h *handler) handle(ctx context.Context, payload json.RawMessage) (drill.Document, error) {
	e, err := h.parse(payload)
	if err != nil {
		return drill.Document{}, err
	}
	ctx, cancel := awslambda.Ended(ctx, time.Now(), errTime)
	defer cancel()
	start := h.clock()
	d, err := h.drill(ctx, e)
	err = awslambda.Explain(ctx, err, errTime)
	h.note(e, d, h.clock().Sub(start), err)
	if err != nil {
		return drill.Document{}, err
	}
	if !e.DryRun {
		err = report.WriteDrillMetrics(h.metrics, d, h.clock())
	}
	return d.Shortened(answerMost), err
}

func (h *handler) drill(ctx context.Context, e event) (d drill.Document, err error) {
	parts, err := h.opener.Open(ctx)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, parts.Close()) }()
	parts.Owner = awslambda.Owner(ctx, "drill")
	r, err := open.Open(ctx, h.opener, parts)
	if err != nil {
		return d, err
	}
	if r.Account, err = open.Account(ctx, h.opener); err != nil {
		return d, err
	}
	r.Tick.DryRun = !e.flushes()
	if end, ok := ctx.Deadline(); ok {
		r.LeaseWithin = time.Until(end) / leasePart
	}
	if e.MinCoverage != nil {
		r.MinCoverage = *e.MinCoverage
	}
	return r.Drill(ctx)
}

// note logs one line for each workload that lacks pods, for each problem, and for the
// drill.
func (h *handler) note(e event, d drill.Document, took time.Duration, err error) {
	for _, w := range d.Shortened(answerMost).Workloads {
		if w.Missing > 0 {
			h.log.Warn().Str("workload", w.Namespace+"/"+w.Kind+"/"+w.Name).Int32("missing", w.Missing).Float64("coverage", *w.Coverage).Str("cause", w.Causes[0].Name).Msg("lacking")
		}
	}
	for _, problem := range d.Problems {
		h.log.Warn().Str("text", problem).Msg("problem")
	}
	for _, part := range d.Unread {
		h.log.Warn().Str("text", part).Msg("unread")
	}
	for _, notice := range d.Notices {
		h.log.Warn().Str("text", notice).Msg("notice")
	}
	line := h.log.Info()
	if err != nil {
		line = h.log.Error().Err(err)
	}
	if d.Fleet.Coverage != nil {
		line.Float64("coverage", *d.Fleet.Coverage)
	} else {
		line.Str("nothing", d.Fleet.Nothing)
	}
	line.Bool("dryRun", !e.flushes()).Bool("passed", d.Passed).
		Int64("need", d.Fleet.Need).Int64("covered", d.Fleet.Covered).Str("commit", d.Commit).Int("levels", len(d.Flush.Levels)).
		Dur("took_ms", took).Msg("drill")
}
