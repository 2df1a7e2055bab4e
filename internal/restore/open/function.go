package open

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/wiring"
)

// margin is the time before the deadline at which a run stops, to take a last sample and
// to answer. If there is little time, a quarter of the time is used instead.
const margin = 20 * time.Second

// An Action is an action of a Function.
type Action string

// The actions.
const (
	Restore Action = "restore"
	Release Action = "release"
)

// Valid reports whether the action exists.
func (a Action) Valid() bool { return a == Restore || a == Release }

// An Order is the work of one invocation of a Function.
type Order struct {
	Action     Action
	DryRun     bool     // compute the plan, and write nothing
	Factor     float64  // part of each level to restore, as in plan.Options; for a restore
	Namespaces []string // an empty list is every namespace; for a restore
	Expired    bool     // release only the brakes that have expired; for a release
	// WaitFor is the maximum time to wait for the workloads, as in restore.Restore; for a
	// restore. The deadline of the invocation also ends the wait.
	WaitFor time.Duration
}

// A Function is the part that the Lambda functions for restores share. Warm invocations
// use the same one.
type Function struct {
	Config config.Config

	opener *wiring.Opener
	log    zerolog.Logger
}

// NewFunction returns a function for the site of the configuration in the environment. It
// returns an error if the configuration is invalid.
func NewFunction(getenv func(string) string, clock func() time.Time, log zerolog.Logger) (*Function, error) {
	c, err := config.FromEnvironment(getenv)
	if err != nil {
		return nil, err
	}
	opener := &wiring.Opener{Config: c, Getenv: getenv, Clock: clock, ReadOnly: true}
	return &Function{Config: c, opener: opener, log: log.With().Str("site", c.Site).Logger()}, nil
}

// Do restores or releases, and logs the result. If the deadline comes before every
// workload is at its level, this is not an error: the report lists the rest, and another
// invocation continues. A lost brake is an error. The caller decides about the undeclared
// namespaces of the report.
func (f *Function) Do(ctx context.Context, o Order) (restore.Report, error) {
	s, err := Open(ctx, f.opener)
	if err != nil {
		return restore.Report{}, err
	}
	start := f.opener.Clock()
	var r restore.Report
	if o.Action == Release {
		r, err = f.run(ctx, s, o).Release(ctx, o.Expired)
	} else if tree, unread := s.Declared(ctx); unread != nil {
		err = unread
	} else {
		r, err = f.run(ctx, s, o).Run(ctx, tree)
	}
	err = errors.Join(s.Explain(ctx, err), errors.Join(r.Problems...))
	f.note(o, r, f.opener.Clock().Sub(start), err)
	return r, err
}

// run returns a run of the site with the options of an order.
func (f *Function) run(ctx context.Context, s *Site, o Order) *restore.Restore {
	run := s.Restore()
	run.DryRun = o.DryRun
	run.Options.Factor = o.Factor
	run.Options.Namespaces = o.Namespaces
	run.WaitFor = o.WaitFor
	run.Until = f.until(ctx)
	run.Say = func(line string) { f.log.Info().Str("text", line).Msg("progress") }
	return run
}

// until returns the time at which a run must stop to answer before the deadline.
func (f *Function) until(ctx context.Context) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	left := deadline.Sub(f.opener.Clock())
	return deadline.Add(-min(margin, left/4))
}

// note logs one line for each workload that lacks pods or was skipped after the plan, and
// one line for the run.
func (f *Function) note(o Order, r restore.Report, took time.Duration, err error) {
	for _, u := range r.Unfinished {
		f.log.Warn().Str("workload", u.ID.String()).Int32("replicas", u.Replicas).Int32("ready", u.Ready).Int32("to", u.To).Msg("lacking")
	}
	for _, left := range r.Since {
		f.log.Warn().Str("workload", left.ID.String()).Str("reason", string(left.Reason)).Str("text", left.Text).Msg("left since the plan")
	}
	for _, notice := range slices.Concat(r.Notices, lists.Map(r.Undeclared, error.Error)) {
		f.log.Warn().Str("text", notice).Msg("notice")
	}
	line := f.log.Info()
	if err != nil {
		line = f.log.Error().Err(err)
	}
	line.Str("action", string(o.Action)).Bool("dryRun", o.DryRun).Str("cluster", r.Cluster).
		Int("raised", len(r.Raised)).Int("braked", len(r.Brakes)).Int("released", len(r.Released)).Int("holding", r.Holding).
		Int("lacking", len(r.Unfinished)).Bool("stopped", r.Stopped).Dur("took_ms", took).Msg("restore")
}
