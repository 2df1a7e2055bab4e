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

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/units"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func newAdopt(env Env) *cobra.Command {
	var a amending
	c := &cobra.Command{
		Use:   "adopt [TARGET...]",
		Short: "Accept a cluster, or resume a workload's level changes",
		Long: `Without targets, "gitlatch adopt" accepts the current cluster as the site's
cluster. After a rebuild, gitlatch lowers no levels until you run the command.
If many workloads lose half of their pods at once, gitlatch reports a mass drop.
A drop can be intended, for example when you move to another cluster. Then run
"gitlatch adopt" to accept the new replica counts.

If a user deletes a workload's entry from git, the workload gets no new level.
To let gitlatch write a level again, run "gitlatch adopt" with the workload as a
target. With a target, "gitlatch adopt" also ends the workload's edit grace
period and its pause. During an edit grace period (24 hours), gitlatch does not
overwrite a user's edit.

"gitlatch adopt" changes the state of the site, and writes nothing to git.` + targetWords,
		Example: `  # Accept the rebuilt cluster
  gitlatch adopt -c prod-eu.yaml

  # Let gitlatch write the level of a workload again
  gitlatch adopt shop/web -c prod-eu.yaml`,
		RunE: timed(longest, func(ctx context.Context, args []string) error { return a.run(ctx, env, args, a.adopt) }),
	}
	a.registerAll(c, env)
	return c
}

func newPause(env Env) *cobra.Command {
	var a amending
	var until units.Moment
	c := &cobra.Command{
		Use:   "pause [TARGET...] --until TIME",
		Short: "Pause level changes for a site or its workloads",
		Long: `"gitlatch pause" stops all level changes of the site until the given time. If
you specify targets, the command stops level changes only for these workloads.

During a pause, gitlatch stops the timers and commits no level changes. gitlatch
continues to sample the cluster, and to send reports and alerts. The time "now"
ends a pause.` + targetWords,
		Example: `  # Pause the site for 3 hours
  gitlatch pause --until 3h -c prod-eu.yaml

  # Pause one workload until a given time
  gitlatch pause shop/web --until 2026-03-02T18:00:00Z -c prod-eu.yaml

  # End the pause of the site
  gitlatch pause --until now -c prod-eu.yaml`,
		RunE: timed(longest, func(ctx context.Context, args []string) error {
			at, err := instant(until, env.Clock())
			if err != nil {
				return err
			}
			return a.run(ctx, env, args, pausing(at, env.Clock()))
		}),
	}
	a.registerAll(c, env)
	c.Flags().Var(&until, "until", "end of the pause (required), such as 2026-03-02T18:00:00Z, 3h, 2d or now")
	return c
}

// amending contains the flags of a command that changes the state of a site.
type amending struct {
	flags
	targets
	dryRun bool
	output output[amended]
}

// registerAll adds the flags that these commands share.
func (a *amending) registerAll(c *cobra.Command, env Env) {
	a.register(c, env)
	a.registerTargets(c, &a.flags)
	c.Flags().BoolVar(&a.dryRun, "dry-run", false, "print the change, but do not make it")
	a.output.register(c, amended.Table, nil)
}

// An amended is the change to the state of a site.
type amended struct {
	term.Document
	Site        string        `json:"site"`
	DryRun      bool          `json:"dryRun"`
	Cluster     string        `json:"cluster,omitempty"`    // the cluster that was adopted
	PausedUntil time.Time     `json:"pausedUntil,omitzero"` // a past time ends a pause
	Workloads   []workload.ID `json:"workloads,omitempty"`  // empty means the entire site
	// Marks counts the workloads that were created with their level. It is nil unless an
	// adoption replaces the site's cluster in git.
	Marks  *checkpoint.Marks `json:"marks,omitempty"`
	line   string            // the text for each workload
	config config.Config
}

// Table prints one line for each workload, or one for the site.
func (a amended) Table(out io.Writer, _ term.Style) error {
	of := lists.Map(a.Workloads, workload.ID.String)
	if len(of) == 0 {
		of = []string{"site " + a.Site}
	}
	for _, one := range of {
		fmt.Fprintf(out, "%s: %s\n", one, a.line)
	}
	if a.Marks != nil {
		fmt.Fprintf(out, "%s\n", a.Marks)
	}
	if a.DryRun {
		fmt.Fprintln(out, "nothing was written: this is a dry run")
	}
	return nil
}

// run opens the site, calls what for the change, and makes the change.
func (a *amending) run(ctx context.Context, env Env, args []string,
	what func(context.Context, local.Parts, *amended) (tick.Amendment, error)) (err error) {
	c, parts, err := a.open(ctx, env, a.dryRun)
	if err != nil {
		return err
	}
	defer closed(&err, parts)
	if err := kept(c.State); err != nil {
		return err
	}
	done := amended{Document: term.DocumentOf("Amendment"), Site: c.Site, DryRun: a.dryRun, config: c}
	if done.Workloads, err = a.find(ctx, c.Site, parts.Store, args); err != nil {
		return err
	}
	change, err := what(ctx, parts, &done)
	if err != nil {
		return err
	}
	change.Workloads = done.Workloads
	if !a.dryRun {
		if err := tick.Amend(ctx, parts.Store, c.Site, parts.Owner, parts.Clock(), local.Lease(c), change); err != nil {
			return err
		}
	}
	return a.output.write(env, done)
}

// adopt returns a change that latches the workloads again. Without workloads, it accepts
// the live cluster as the site's cluster and ends a mass drop.
func (a *amending) adopt(ctx context.Context, parts local.Parts, done *amended) (tick.Amendment, error) {
	if len(done.Workloads) > 0 {
		done.line = "latched from the next tick on"
		return tick.Amendment{Latch: true}, nil
	}
	git := declaredSide{config: done.config, repository: parts.Repository}
	if err := git.readTip(ctx); err != nil {
		return tick.Amendment{}, err
	}
	fleet, err := parts.Sampler.Sample(ctx, git.set.Kinds)
	if err == nil && fleet.Cluster == "" {
		err = errors.New("adopt: the UID of namespace kube-system could not be read, so gitlatch cannot identify this cluster. Give gitlatch the rights in infra/rbac")
	}
	done.Cluster, done.line = fleet.Cluster, fmt.Sprintf("cluster %s is now the site's cluster", fleet.Cluster)
	if git.tree.Site.Cluster != "" && git.tree.Site.Cluster != fleet.Cluster {
		marks := git.tree.Marks(fleet.Samples)
		done.Marks = &marks
	}
	return tick.Amendment{Cluster: fleet.Cluster, Acknowledge: true}, err
}

// pausing returns a change that pauses the site or the workloads until an instant. A past
// instant ends a pause.
func pausing(at, now time.Time) func(context.Context, local.Parts, *amended) (tick.Amendment, error) {
	return func(_ context.Context, _ local.Parts, done *amended) (tick.Amendment, error) {
		done.PausedUntil, done.line = at.UTC(), "paused until "+at.UTC().Format(time.RFC3339)
		if !at.After(now) {
			done.line = "no longer paused"
		}
		return tick.Amendment{PauseUntil: at}, nil
	}
}

// instant returns the end of the pause. It refuses a past time, so that a typing error
// does not end a pause. The word now ends it.
func instant(until units.Moment, now time.Time) (time.Time, error) {
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

// find returns the site's latches that the arguments name.
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
		return nil, fmt.Errorf("site %s: its state has no workloads yet. Wait for the first tick, or run \"gitlatch tick\"", site)
	}
	return findAll(named, slices.SortedFunc(maps.Keys(latches), workload.Compare))
}
