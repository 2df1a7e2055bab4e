package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/functions/awslambda"
	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
	ticks "github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// event is the input of the function, from a schedule or a user.
type event struct {
	// Site is the name of the configured site, which is the default.
	Site string `json:"site"`
	// DryRun computes the result of the tick and writes nothing.
	DryRun bool `json:"dryRun"`
	// Time is the time at which the schedule's event was due. An event that is delivered
	// twice is one sample. It is zero if the event is not from a schedule.
	Time time.Time `json:"time"`
}

// openDeadline limits the time to open the parts before the first event. Lambda allows
// ten seconds.
const openDeadline = 9 * time.Second

var errTime = errors.New("the tick stopped before the timeout of the function: check the system that did not answer")

// handler is the state that warm invocations share: connections, and the open parts.
type handler struct {
	config config.Config
	opener *wiring.Opener
	parts  local.Parts
	stale  bool // the parts must be opened again, because the last tick failed
	log    zerolog.Logger
	// metrics receives a line for each completed tick.
	metrics io.Writer
}

func newHandler(
	c config.Config, getenv func(string) string, clock func() time.Time, log zerolog.Logger, metrics io.Writer,
) (_ *handler, err error) {
	h := &handler{config: c, opener: &wiring.Opener{Config: c, Getenv: getenv, Clock: clock}, log: log, metrics: metrics}
	// Before the first event, a function has a full CPU. An event would have to wait for
	// the parts.
	ctx, cancel := context.WithTimeout(context.Background(), openDeadline)
	defer cancel()
	h.parts, err = h.opener.Open(ctx)
	return h, err
}

// parse reads an event for the configured site.
func (h *handler) parse(payload json.RawMessage) (event, error) {
	e, err := awslambda.Event[event](payload, fmt.Sprintf(`{"site": %q, "dryRun": true} or less`, h.config.Site))
	if err == nil && e.Site != "" && e.Site != h.config.Site {
		err = fmt.Errorf("event: site is %q, and this function is configured for %q", e.Site, h.config.Site)
	}
	return e, err
}

// handle runs one tick. If the tick could not read a part, or found a problem for a user
// to fix, the invocation ends with an error, so that a metric and an alarm show it. The
// rest of the tick was done.
func (h *handler) handle(ctx context.Context, payload json.RawMessage) (report.Document, error) {
	e, err := h.parse(payload)
	if err != nil {
		return report.Document{}, err
	}
	ctx, cancel := awslambda.Ended(ctx, time.Now(), errTime)
	defer cancel()
	if err := h.reopen(ctx); err != nil {
		return report.Document{}, err
	}
	parts := h.parts
	parts.Owner = awslambda.Owner(ctx, "latch")
	t := local.Tick(h.config, parts)
	t.DryRun = e.DryRun
	t.Turn = e.Time
	r, err := run(ctx, t, h.log)
	if err == nil && r.NotRun == "" && !e.DryRun {
		err = report.WriteMetrics(h.metrics, r, parts.Clock())
	}
	h.stale = err != nil
	d := report.Brief(r)
	d.Build = build.Read().String()
	return d, hinted(errors.Join(err, r.Err()))
}

// garbage is the value for debug.SetGCPercent: the memory that a tick may allocate before
// a collection, in percent of the live memory. With Go's default of 100, a large fleet
// would take 50 % more memory. For 10,000 workloads, 20 instead of 30 saves a fifteenth
// of the memory and takes a twentieth more time.
const garbage = 20

// run runs a tick and logs it. It sets garbage here and not at the start of the program.
// At the start, a lower value would cause a collection before the first event, and so a
// slower cold start.
func run(ctx context.Context, t *ticks.Tick, log zerolog.Logger) (ticks.Report, error) {
	debug.SetGCPercent(garbage)
	start := t.Clock()
	r, err := t.Run(ctx)
	err = awslambda.Explain(ctx, err, errTime)
	report.Log(log, r, t.Clock().Sub(start), err)
	return r, err
}

// reopen opens the parts again after a failed tick. Otherwise a rotated secret or a
// changed address would make every tick of this environment fail.
func (h *handler) reopen(ctx context.Context) error {
	if !h.stale {
		return nil
	}
	if err := h.parts.Close(); err != nil {
		return err
	}
	parts, err := h.opener.Open(ctx)
	if err != nil {
		return err
	}
	h.parts, h.stale = parts, false
	return nil
}
