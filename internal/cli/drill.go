package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/drill/page"
	"github.com/gitlatch/gitlatch/internal/drill/run"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/units"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// drillWait is the longest time that a drill waits for a running tick. It is longer than any
// tick: see longest.
const drillWait = 2 * time.Minute

// A drilling contains the flags of drill.
type drilling struct {
	flags
	minCoverage   float64
	flush, dryRun bool
	try           bool
	aws           bool
	output        output[drill.Document]
	gateway       report.Pushgateway
}

func newDrill(env Env) *cobra.Command {
	d := drilling{minCoverage: open.MinCoverage}
	c := &cobra.Command{
		Use:   "drill",
		Short: "Predict how many pods a rebuild would start",
		Long: `"gitlatch drill" samples the cluster once, like "gitlatch doctor". For each
workload, the command determines how many pods a rebuild would start. The
command prints the coverage. The coverage is the percentage of the needed pods
that start in a rebuild. If the number of pods of a workload is unknown, the
command prints the coverage as a range. The report also lists the causes of
missing pods. The command also estimates the time until all pods run.

Without --flush, the command writes nothing to git. With --flush, the command
first raises the levels of healthy workloads and commits them. Each raised level
covers the number of pods that the workload needs now. A flush ignores
stabilization windows and margins.

A flush skips workloads that are frozen, paused, blocked or waiting for a
review. A flush also skips entries in git that a user edited in the last 24
hours. If the policy sets "mode: observe", a flush writes no levels to git.

With --try, the command also sends a dry-run request for each live workload. The
request asks the API server to create the workload at its level.

"gitlatch drill" needs the permissions in infra/rbac/doctor.

Exit status:
  0  The coverage is at least --min-coverage, and the command could read all
     objects.
  1  At least one of these is true:
     - The coverage, or the lower end of its range, is below --min-coverage.
     - The command could not read some objects of the cluster.
     - The pods of a rebuild do not fit the cluster.
     - Many workloads lost half of their pods at the same time (a mass drop).
  2  The command could not compute a coverage, for example because no workload
     needs pods.`,
		Example: `  # Print the coverage of the levels in git
  gitlatch drill -c prod-eu.yaml

  # Commit the current replica counts before you take a cluster down
  gitlatch drill --flush --min-coverage 98% -c prod-eu.yaml`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return within(c.Context(), longest+drillWait, func(ctx context.Context) error { return d.run(ctx, env) })
		},
	}
	d.register(c, env)
	c.Flags().Var((*units.Share)(&d.minCoverage), "min-coverage", "minimum coverage for exit status 0, such as 98% or 0.98")
	c.Flags().BoolVar(&d.flush, "flush", false, "before the drill, raise the level of each workload to the number of pods that it needs now")
	c.Flags().BoolVar(&d.dryRun, "dry-run", false, "with --flush, print the new levels and write nothing")
	registerTry(c, &d.try)
	registerAWS(c, &d.aws)
	c.Flags().Var(&d.gateway, "pushgateway", "URL of the Prometheus Pushgateway that receives the metrics, such as http://pushgateway:9091")
	d.output.register(c, drill.Document.Table, map[string]form[drill.Document]{"html": inHTML(page.Drill)})
	return c
}

// reads reports whether the drill writes no levels.
func (d *drilling) reads() bool { return d.dryRun || !d.flush }

func (d *drilling) run(ctx context.Context, env Env) (err error) {
	r, parts, err := d.prepare(ctx, env)
	if err != nil {
		return err
	}
	defer closed(&err, parts)
	document, err := r.Drill(ctx)
	if err != nil {
		return err
	}
	err = d.output.write(env, document)
	if d.gateway != "" {
		err = errors.Join(err, d.gateway.PushDrill(ctx, document, env.Clock()))
	}
	if err != nil {
		return err
	}
	if nothing := document.Fleet.Nothing; nothing != "" {
		return fmt.Errorf("score the drill: %s", nothing)
	}
	return unless(document.Passed)
}

// prepare opens a drill by the flags, and its parts, which the caller closes.
func (d *drilling) prepare(ctx context.Context, env Env) (r *run.Run, parts local.Parts, err error) {
	c, err := d.config()
	if err != nil {
		return nil, parts, err
	}
	from := opener(env, c, d.reads())
	from.Group, from.Rights = open.Group, open.Rights
	parts, err = d.openWaiting(ctx, env, from)
	if err != nil {
		return nil, parts, err
	}
	r, err = open.Open(ctx, from, parts)
	if err == nil {
		r.Account, err = accountOf(ctx, from, d.aws)
	}
	if err == nil && d.try {
		r.Creator, err = open.Creator(ctx, from)
	}
	if err != nil {
		return nil, parts, errors.Join(err, parts.Close())
	}
	r.Tick.DryRun = d.reads()
	r.MinCoverage = d.minCoverage
	r.LeaseWithin = drillWait
	return r, parts, nil
}

// openWaiting opens the parts of the site. It waits up to drillWait if another process has
// the state file open.
func (d *drilling) openWaiting(ctx context.Context, env Env, from *wiring.Opener) (local.Parts, error) {
	for start := env.Clock(); ; {
		parts, err := openBy(ctx, env, from)
		var busy *bolt.BusyError
		if !errors.As(err, &busy) || env.Clock().Sub(start) >= drillWait {
			return parts, err
		}
		if err := backoff.Sleep(ctx, time.Second); err != nil {
			return parts, err
		}
	}
}
