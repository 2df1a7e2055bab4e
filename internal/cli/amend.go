package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/grammar"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func newAdopt(env Env) *cobra.Command {
	var a amending
	c := &cobra.Command{
		Use:   "adopt [TARGET...]",
		Short: "Accept the cluster as the site's own, or ask workloads back in",
		Long: `Without targets: accepts the cluster that the context leads to as the site's
own, after a rebuild, so that levels may be lowered again. It also acknowledges
a mass drop that the fleet will not recover from.

With targets: latches those workloads again after their entry was deleted, and
ends the time for which gitlatch leaves their entry alone.` + targetWords,
		Example: `  gitlatch adopt -c prod-eu.yaml
  gitlatch adopt shop/web -c prod-eu.yaml`,
		RunE: timed(longest, func(ctx context.Context, args []string) error { return a.run(ctx, env, args, a.adopt) }),
	}
	a.registerAll(c, env)
	return c
}

func newPause(env Env) *cobra.Command {
	var a amending
	var until grammar.Moment
	c := &cobra.Command{
		Use:   "pause [TARGET...] --until TIME",
		Short: "Pause a site or some of its workloads",
		Long: `Pauses the site, or only the given workloads, until a time. During a pause,
gitlatch stops their timers and commits nothing for them. It continues to sample
and to alert. "--until now" ends a pause.` + targetWords,
		Example: `  gitlatch pause --until 3h -c prod-eu.yaml
  gitlatch pause shop/web --until 2026-03-02T18:00:00Z -c prod-eu.yaml`,
		RunE: timed(longest, func(ctx context.Context, args []string) error {
			at, err := instant(until, env.Clock())
			if err != nil {
				return err
			}
			return a.run(ctx, env, args, pausing(at, env.Clock()))
		}),
	}
	a.registerAll(c, env)
	c.Flags().Var(&until, "until", "end of the pause: a time such as 2026-03-02T18:00:00Z, a duration from now such as 3h or 2d, or now")
	return c
}

// amending is what a person asks to change in the state.
type amending struct {
	flags
	targets
	dryRun bool
	output output[amended]
}

// registerAll adds the flags that all such commands share.
func (a *amending) registerAll(c *cobra.Command, env Env) {
	a.register(c, env)
	a.registerTargets(c, &a.flags)
	c.Flags().BoolVar(&a.dryRun, "dry-run", false, "say what would be changed, and change nothing")
	a.output.register(c, amended.Table, nil)
}

// An amended is what was changed in the state of a site.
type amended struct {
	term.Document
	Site        string        `json:"site"`
	DryRun      bool          `json:"dryRun"`
	Cluster     string        `json:"cluster,omitempty"`    // the one that was adopted
	PausedUntil time.Time     `json:"pausedUntil,omitzero"` // a time that has passed ends a pause
	Workloads   []workload.ID `json:"workloads,omitempty"`  // none is the site as a whole
	line        string        // what is said of each
}

// Table is a line for each that was changed.
func (a amended) Table(out io.Writer, _ term.Style) error {
	of := each.Of(a.Workloads, workload.ID.String)
	if len(of) == 0 {
		of = []string{"site " + a.Site}
	}
	for _, one := range of {
		fmt.Fprintf(out, "%s: %s\n", one, a.line)
	}
	if a.DryRun {
		fmt.Fprintln(out, "nothing was written: this is a dry run")
	}
	return nil
}

// run asks what is to change, once the site is open, and changes it.
func (a *amending) run(ctx context.Context, env Env, args []string,
	what func(context.Context, site.Parts, *amended) (tick.Amendment, error)) (err error) {
	c, parts, err := a.open(ctx, env, a.dryRun)
	if err != nil {
		return err
	}
	defer closed(&err, parts)
	done := amended{Document: term.DocumentOf("Amendment"), Site: c.Site, DryRun: a.dryRun}
	if done.Workloads, err = a.find(ctx, c.Site, parts.Store, args); err != nil {
		return err
	}
	change, err := what(ctx, parts, &done)
	if err != nil {
		return err
	}
	change.Workloads = done.Workloads
	if !a.dryRun {
		if err := tick.Amend(ctx, parts.Store, c.Site, parts.Owner, parts.Clock(), site.Lease(c), change); err != nil {
			return err
		}
	}
	return a.output.write(env, done)
}

// adopt asks workloads back in, or takes the cluster for the site's own.
func (a *amending) adopt(ctx context.Context, parts site.Parts, done *amended) (tick.Amendment, error) {
	if len(done.Workloads) > 0 {
		done.line = "latched from the next tick on"
		return tick.Amendment{Latch: true}, nil
	}
	fleet, err := parts.Sampler.Sample(ctx, nil)
	if err == nil && fleet.Cluster == "" {
		err = errors.New("adopt: the UID of namespace kube-system could not be read, so there is nothing to tell this cluster by")
	}
	done.Cluster, done.line = fleet.Cluster, fmt.Sprintf("cluster %s is now its own", fleet.Cluster)
	return tick.Amendment{Cluster: fleet.Cluster, Acknowledge: true}, err
}

// pausing pauses the site or the workloads until an instant. An instant that has passed
// ends a pause.
func pausing(at, now time.Time) func(context.Context, site.Parts, *amended) (tick.Amendment, error) {
	return func(_ context.Context, _ site.Parts, done *amended) (tick.Amendment, error) {
		done.PausedUntil, done.line = at.UTC(), "paused until "+at.UTC().Format(time.RFC3339)
		if !at.After(now) {
			done.line = "no longer paused"
		}
		return tick.Amendment{PauseUntil: at}, nil
	}
}

// instant returns the end of the pause. It refuses a time that has passed, so that a
// typing error does not end a pause. The word now ends it.
func instant(until grammar.Moment, now time.Time) (time.Time, error) {
	const want = "a future time such as 2026-03-02T18:00:00Z, a duration from now such as 3h, or now to end a pause"
	at := until.After(now)
	switch {
	case until.String() == "":
		return at, errors.New("--until is required: " + want)
	case !until.Now() && !at.After(now):
		return at, fmt.Errorf("--until: must be %s; got %s", want, until.String())
	}
	return at, nil
}

// find returns the workloads that a person names among the site's latches.
func (a *amending) find(ctx context.Context, site string, store latch.Store, args []string) ([]workload.ID, error) {
	named, err := a.read(args)
	if err != nil || len(named) == 0 {
		return nil, err
	}
	latches, err := store.Latches(ctx, site)
	if err != nil {
		return nil, err
	}
	if len(latches) == 0 {
		return nil, fmt.Errorf("site %s: its state knows no workloads yet; run gitlatch tick first", site)
	}
	return findAll(named, slices.SortedFunc(maps.Keys(latches), workload.Compare))
}
