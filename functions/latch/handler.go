package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/rs/zerolog"

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
}

// openDeadline bounds what is opened before the first event, which Lambda gives
// ten seconds.
const openDeadline = 9 * time.Second

// wrapUp is what a tick leaves of the function's time: to end what must not stay
// half done, to give the lease back, to log and to answer. Lambda kills a
// function at its timeout without a word.
const wrapUp = 10 * time.Second

var errTime = errors.New("the tick was ended before Lambda would end the function: see who did not answer in time")

// ended returns a context that ends before the function does: by wrapUp, or a
// quarter of a time that is short.
func ended(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := time.Until(deadline)
	return context.WithDeadlineCause(ctx, deadline.Add(-min(wrapUp, left/4)), errTime)
}

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

func newHandler(c config.Config, getenv func(string) string, clock func() time.Time, log zerolog.Logger, metrics io.Writer) (_ *handler, err error) {
	h := &handler{config: c, opener: &site.Opener{Config: c, Getenv: getenv, Clock: clock}, log: log, metrics: metrics}
	// Before the first event a function has a whole CPU, which what is opened by
	// an event would have to wait for.
	ctx, cancel := context.WithTimeout(context.Background(), openDeadline)
	defer cancel()
	h.parts, err = h.opener.Open(ctx)
	return h, err
}

// parse reads an event for the configured site. What it does not know it
// refuses: who misspells dryRun must not find a commit.
func (h *handler) parse(payload json.RawMessage) (e event, err error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil && !errors.Is(err, io.EOF) {
		return e, fmt.Errorf(`event: %w; want {"site": %q, "dryRun": true} or less`, err, h.config.Site)
	}
	if e.Site != "" && e.Site != h.config.Site {
		return e, fmt.Errorf("event: site is %q, and this function is configured for %q", e.Site, h.config.Site)
	}
	return e, nil
}

// handle makes one tick. What could not be read, or needs a person, is an error
// of the invocation, so that it is counted and alarmed; all else was done.
func (h *handler) handle(ctx context.Context, payload json.RawMessage) (report.Document, error) {
	e, err := h.parse(payload)
	if err != nil {
		return report.Document{}, err
	}
	ctx, cancel := ended(ctx)
	defer cancel()
	if err := h.reopen(ctx); err != nil {
		return report.Document{}, err
	}
	parts := h.parts
	parts.Owner = owner(ctx)
	t := site.Tick(h.config, parts)
	t.DryRun = e.DryRun
	r, err := run(ctx, t, h.log)
	if err == nil && r.NotRun == "" && !e.DryRun {
		err = report.WriteMetrics(h.metrics, r, parts.Clock())
	}
	h.stale = err != nil
	return report.New(r).Brief(), hinted(errors.Join(err, r.Err()))
}

// owner is who takes the lease: one run. Lambda may give a request twice, and a
// retry has the id of what it repeats.
func owner(ctx context.Context) string {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		return site.Owner("latch/" + invocation.AwsRequestID)
	}
	return site.Owner("latch")
}

// run makes a tick, and logs it.
func run(ctx context.Context, t *ticks.Tick, log zerolog.Logger) (ticks.Report, error) {
	start := t.Clock()
	r, err := t.Run(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errTime) && !errors.Is(err, errTime) {
		err = fmt.Errorf("%w (%w)", err, errTime)
	}
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
