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

	"github.com/gitlatch/gitlatch/internal/awslambda"
	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/site"
	ticks "github.com/gitlatch/gitlatch/internal/tick"
)

// event is what a schedule, or a person, invokes the function with.
type event struct {
	// Site must be the configured one; "" is it.
	Site string `json:"site"`
	// DryRun computes all and writes nothing.
	DryRun bool `json:"dryRun"`
	// Time is when the schedule's event was due: an event that is delivered twice is one
	// sample. Zero is an event that no schedule sent.
	Time time.Time `json:"time"`
}

// openDeadline bounds what is opened before the first event, which Lambda gives
// ten seconds.
const openDeadline = 9 * time.Second

var errTime = errors.New("the tick stopped before the timeout of the function: check the system that did not answer")

// handler is what warm invocations share: connections, and what they opened.
type handler struct {
	config config.Config
	opener *site.Opener
	parts  site.Parts
	stale  bool // parts are closed, since the last tick failed
	log    zerolog.Logger
	// metrics takes a line of metrics for each tick that came to its end.
	metrics io.Writer
}

func newHandler(
	c config.Config, getenv func(string) string, clock func() time.Time, log zerolog.Logger, metrics io.Writer,
) (_ *handler, err error) {
	h := &handler{config: c, opener: &site.Opener{Config: c, Getenv: getenv, Clock: clock}, log: log, metrics: metrics}
	// Before the first event a function has a whole CPU, which what is opened by
	// an event would have to wait for.
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

// handle makes one tick. What could not be read, or needs a person, is an error
// of the invocation, so that it is counted and alarmed; all else was done.
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
	t := site.Tick(h.config, parts)
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

// garbage is how much a tick may leave behind before it is collected, in percent of what
// it holds. With Go's own 100 a large fleet would take half as much memory again. At
// 10,000 workloads 20 instead of 30 took a fifteenth off its memory, for a twentieth more time.
const garbage = 20

// run makes a tick, and logs it. It sets garbage, and not the start of the program,
// which takes less than a collection.
func run(ctx context.Context, t *ticks.Tick, log zerolog.Logger) (ticks.Report, error) {
	debug.SetGCPercent(garbage)
	start := t.Clock()
	r, err := t.Run(ctx)
	err = awslambda.Explain(ctx, err, errTime)
	report.Log(log, r, t.Clock().Sub(start), err)
	return r, err
}

// reopen opens the parts anew after a tick that failed: a secret that was
// rotated, or an address that moved, is not to fail every tick of this
// environment.
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
