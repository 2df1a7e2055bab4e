package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/grammar"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/page"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/term"
)

// A drilling is what a drill is asked for.
type drilling struct {
	flags
	minCoverage   float64
	flush, dryRun bool
	exact, tag    bool // of a flush
	all           bool
	paths         []string
	url           string
	wait          time.Duration
	output        output[drill.Document]
	metrics       string
}

func newDrill(env Env) *cobra.Command {
	d := drilling{minCoverage: open.MinCoverage, wait: 2 * time.Minute}
	c := &cobra.Command{
		Use:   "drill",
		Short: "Say what a rebuild would give",
		Long: `Looks at the cluster once and builds what the repository holds, as the GitOps
tools of the cluster would. It says how much of what runs a rebuild would start
with, what is in the way, and how long the rest would take. Nothing is written.

With --flush it first commits the present need of each healthy workload,
without a hold and without a margin: it raises only, or with --exact lowers
too. What a tick would freeze, yield or withhold stays. With drills in the
configuration the report is kept, and the next one says what changed since. A
site that observes is scored as git is.

It takes the rights in infra/rbac/doctor.

It exits with 0 if the coverage of the fleet is at least --min-coverage and all
could be read, and with 1 if not. It exits with 2 if there is nothing to say:
nothing is asked of any workload, or what they need is not known. While the
fleet is in a mass drop it exits with 1, since an outage proves nothing.`,
		Example: `  gitlatch drill -c prod-eu.yaml
  gitlatch drill --flush --min-coverage 98% -c prod-eu.yaml`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return within(c.Context(), longest+d.wait, func(ctx context.Context) error { return d.run(ctx, env) })
		},
	}
	d.register(c, env)
	c.Flags().Var((*grammar.Share)(&d.minCoverage), "min-coverage", "the share of the pods needed that a rebuild has to start with, as 98% or 0.98")
	c.Flags().BoolVar(&d.flush, "flush", false, "declare the present need first")
	c.Flags().BoolVar(&d.exact, "exact", false, "with --flush: lower what is declared to the present need, too")
	c.Flags().BoolVar(&d.dryRun, "dry-run", false, "with --flush: write nothing, and say what would be declared")
	c.Flags().BoolVar(&d.tag, "tag", false, "with --flush: name the commit that was scored drill/<date>; not with CodeCommit, whose API knows no tags")
	c.Flags().BoolVar(&d.all, "all", false, "in the table: list what starts with all that it needs, too")
	c.Flags().StringArrayVar(&d.paths, "path", nil, "folder of the repository to build besides those that the cluster names; may be given again")
	c.Flags().StringVar(&d.url, "url", "", "URL of the repository as the cluster reaches it; without it that of --config")
	c.Flags().Var((*grammar.Span)(&d.wait), "lock-timeout", "maximum time to wait for a tick that is running")
	c.Flags().StringVar(&d.metrics, "metrics-file", "", "file for a Prometheus textfile collector, such as gitlatch-drill.prom in its folder; not that of tick")
	table := func(document drill.Document, out io.Writer, s term.Style) error { return document.Table(out, s, d.all) }
	d.output.register(c, table, map[string]form[drill.Document]{"html": inHTML(page.Drill)})
	return c
}

// reads reports whether nothing is written.
func (d *drilling) reads() bool { return d.dryRun || !d.flush }

// check says all that is wrong with the flags.
func (d *drilling) check() error {
	var wrong wrongs
	wrong.unless(d.flush || !d.exact && !d.tag, "--exact and --tag are of what is declared: add --flush")
	if d.url != "" {
		wrong = append(wrong, wrongURL(d.url))
	}
	return errors.Join(wrong...)
}

func (d *drilling) run(ctx context.Context, env Env) (err error) {
	if err := d.check(); err != nil {
		return err
	}
	c, err := d.config()
	if err != nil {
		return err
	}
	from := opener(env, c, d.reads())
	from.Group, from.Rights = open.Group, open.Rights
	parts, err := d.openWaiting(ctx, env, from)
	if err != nil {
		return err
	}
	defer closed(&err, parts)
	r, err := open.Open(ctx, from, parts)
	if err != nil {
		return err
	}
	r.Here.Repository = cmp.Or(d.url, r.Here.Repository)
	r.Tick.DryRun = d.reads()
	r.Paths = d.paths
	r.Tag = d.tag
	r.Exact = d.exact
	r.MinCoverage = d.minCoverage
	r.LeaseWithin = d.wait
	document, err := r.Drill(ctx)
	if err != nil {
		return err
	}
	err = d.output.write(env, document)
	if d.metrics != "" {
		err = errors.Join(err, report.WriteDrillTextfile(d.metrics, document, env.Clock()))
	}
	if err != nil {
		return err
	}
	if nothing := document.Fleet.Nothing; nothing != "" {
		return fmt.Errorf("score the drill: %s", nothing)
	}
	return unless(document.Passed)
}

// openWaiting opens the parts of the site, and waits while another process has
// the state file open.
func (d *drilling) openWaiting(ctx context.Context, env Env, from *site.Opener) (site.Parts, error) {
	for start := env.Clock(); ; {
		parts, err := openBy(ctx, env, from)
		var busy *bolt.BusyError
		if !errors.As(err, &busy) || env.Clock().Sub(start) >= d.wait {
			return parts, err
		}
		if err := backoff.Sleep(ctx, time.Second); err != nil {
			return parts, err
		}
	}
}
