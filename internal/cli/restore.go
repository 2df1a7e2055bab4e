package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/grammar"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/open"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
)

// restoring is what a restore is asked for.
type restoring struct {
	flags
	targets
	yes     bool
	output  output[answer]
	options plan.Options
	pace    plan.Pace
	hold    time.Duration
	seeding
}

func newRestore(env Env) *cobra.Command {
	r := restoring{options: plan.Options{Factor: 1}, pace: plan.Pace{Patience: restore.Patience}, hold: restore.Hold}
	c := &cobra.Command{
		Use:   "restore [TARGET...]",
		Short: "Raise a cluster that came up small to what git declares",
		Long: `Raises workloads to the level that git declares of them, or only those named. It
lowers nothing, and never goes above an accepted or live max. What is suspended
or opted out is left, also where a person does so while the restore runs. Git
alone is enough for a rebuild whose manifests include the Components. Restore is
for a cluster that came up small.

Before a raise its autoscaler gets a brake: it does not scale down for some
hours, since it would otherwise undo the raise within seconds. What the brake
replaced comes back with "restore release", or with any run after the brake
expired.

Without --yes nothing is written: the plan is printed. A run that was stopped or
killed is finished by the next; it exits with 1 while anything is not where the
plan wants it.

With --split it raises nothing: before Deployments are created again, it seeds
those that were lost in a rollout with a ReplicaSet of the template before.
Each then adopts its own and goes on from there. Hold what creates them till
then.` + targetWords,
		Example: `  gitlatch restore -c prod-eu.yaml
  gitlatch restore shop pay/ledger --factor 50% --yes -c prod-eu.yaml
  gitlatch restore release --yes -c prod-eu.yaml`,
		Args: misspelt,
		RunE: func(c *cobra.Command, args []string) error {
			targets, err := r.read(args)
			if err := errors.Join(err, r.check(), r.checkSplit(c)); err != nil {
				return err
			}
			if r.split {
				return r.run(c.Context(), env, (*open.Site).ExplainSplit, func(ctx context.Context, s *open.Site, c config.Config) (answer, error) {
					return r.seed(ctx, env, s, c, targets)
				})
			}
			return r.run(c.Context(), env, (*open.Site).Explain, func(ctx context.Context, s *open.Site, _ config.Config) (answer, error) {
				return r.raise(ctx, env, s, targets)
			})
		},
	}
	r.every(c, env)
	r.registerTargets(c, &r.flags)
	c.Flags().Var((*grammar.Share)(&r.options.Factor), "factor", "share of each level, rounded up, for a smaller site: 50% or 0.5")
	c.Flags().StringSliceVar(&r.options.Order, "order", nil, "namespaces in the order of their waves, instead of by priority class")
	c.Flags().BoolVar(&r.options.FromZero, "from-zero", false, "raise what is at zero, too")
	c.Flags().Int32Var(&r.pace.PerMinute, "pace", restore.PerMinute, "pods asked for in a minute")
	c.Flags().Int32Var(&r.pace.Unready, "unready", restore.Unready, "pods asked for and not ready at any time")
	c.Flags().Var((*grammar.Span)(&r.pace.Patience), "patience", "how long a wave that stands still is waited for")
	c.Flags().Var((*grammar.Span)(&r.hold), "brake", "how long autoscalers do not scale down, at most 7d")
	r.registerSplit(c)
	c.AddCommand(newRelease(env))
	return c
}

func newRelease(env Env) *cobra.Command {
	var r restoring
	var expired, split bool
	c := &cobra.Command{
		Use:   "release",
		Short: "Let autoscalers scale down again, as before the restore",
		Long: `Undoes the brakes that restores set, all of them or those that expired: what
each replaced comes back. Where somebody changed it meanwhile it stays as they
have it. Without --yes nothing is written. With --split it takes back the seeds
that no Deployment adopted, with their pods, and leaves brakes alone.`,
		Example: "  gitlatch restore release -c prod-eu.yaml\n  gitlatch restore release --expired --yes -c prod-eu.yaml",
		Args:    arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if split && expired {
				return errors.New("--expired: it is of brakes, and seeds have no time; leave it out")
			}
			if split {
				return r.run(c.Context(), env, (*open.Site).ExplainSplit, func(ctx context.Context, s *open.Site, _ config.Config) (answer, error) {
					return r.splitting(env, s).Release(ctx)
				})
			}
			return r.run(c.Context(), env, (*open.Site).Explain, func(ctx context.Context, s *open.Site, _ config.Config) (answer, error) {
				return r.restoring(env, s).Release(ctx, expired)
			})
		},
	}
	r.every(c, env)
	c.Flags().BoolVar(&split, "split", false, "take back seeds that no Deployment adopted, instead of brakes")
	c.Flags().BoolVar(&expired, "expired", false, "only those that expired")
	return c
}

// every adds the flags that a restore and a release share.
func (r *restoring) every(c *cobra.Command, env Env) {
	r.register(c, env)
	c.Flags().BoolVar(&r.yes, "yes", false, "write to the cluster; without it the plan is printed")
	c.Flags().Bool("dry-run", false, "print the plan, as without --yes")
	c.MarkFlagsMutuallyExclusive("yes", "dry-run")
	r.output.register(c, answer.Table, nil)
}

// check says all that is wrong with the flags.
func (r *restoring) check() error {
	var wrong wrongs
	wrong.unless(plan.ValidFactor(r.options.Factor), "--factor: must be above 0 and at most 1, got %v: it is for a smaller site; for more pods edit the record", r.options.Factor)
	wrong.unless(r.pace.PerMinute >= 1, "--pace: must be at least 1 pod a minute, got %d", r.pace.PerMinute)
	wrong.unless(r.pace.Unready >= 1, "--unready: must be at least 1 pod, got %d", r.pace.Unready)
	wrong.unless(r.pace.Patience > 0, "--patience: must be a time as 10m, got %s", r.pace.Patience)
	hold := restore.CheckHold(r.hold)
	wrong.unless(hold == nil, "--brake: %w", hold)
	order := plan.CheckNamespaces(r.options.Order)
	wrong.unless(order == nil, "--order: %w", order)
	return errors.Join(wrong...)
}

// An answer is the report of a run, whatever the run was about.
type answer interface {
	Of() restore.Head
	Table(out io.Writer, s term.Style) error
	Err() error
}

// run opens the site, has something done, and says what came of it. How an error
// of the cluster is explained depends on the rights that it takes.
func (r *restoring) run(ctx context.Context, env Env, explain func(*open.Site, context.Context, error) error, do func(context.Context, *open.Site, config.Config) (answer, error)) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	c, err := r.config()
	if err != nil {
		return err
	}
	s, err := open.Open(ctx, opener(env, c, true))
	if err != nil {
		return chooseCluster(c, err)
	}
	report, err := do(ctx, s, c)
	err = explain(s, ctx, err)
	if report.Of().Cluster == "" {
		return err
	}
	r.which(env, s, report.Of())
	return found(errors.Join(r.output.write(env, report), err), report.Err())
}

// raise restores what git declares of what a person names, or all.
func (r *restoring) raise(ctx context.Context, env Env, s *open.Site, targets []grammar.Target) (report restore.Report, err error) {
	tree, err := s.Declared(ctx)
	if err != nil {
		return report, err
	}
	if err := r.narrow(targets, tree); err != nil {
		return report, err
	}
	return r.restoring(env, s).Run(ctx, tree)
}

// narrow has the options name what a person does: namespaces, or where a workload is
// among them, workloads.
func (r *restoring) narrow(targets []grammar.Target, tree checkpoint.Tree) (err error) {
	if slices.ContainsFunc(targets, func(t grammar.Target) bool { return !t.All() }) {
		r.options.Workloads, err = findAll(targets, declares(tree))
		return err
	}
	r.options.Namespaces = each.Of(targets, grammar.Target.String)
	return nil
}

// restoring is a run as the flags have it.
func (r *restoring) restoring(env Env, s *open.Site) *restore.Restore {
	one := s.Restore()
	one.Options, one.DryRun, one.Say = r.options, !r.yes, saying(env)
	if r.pace != (plan.Pace{}) {
		one.Pace, one.Hold = r.pace, r.hold
	}
	return one
}

// splitting is a run about seeds as the flags have it.
func (r *restoring) splitting(env Env, s *open.Site) *restore.Splitting {
	one := s.Splitting()
	one.Options.Namespaces, one.Options.Workloads, one.DryRun, one.Say = r.options.Namespaces, r.options.Workloads, !r.yes, saying(env)
	return one
}

// saying takes lines of progress.
func saying(env Env) func(string) { return func(line string) { fmt.Fprintln(env.Err, line) } }

// which says which cluster it is, how it was chosen, and whether it is the one
// that the record is of.
func (r *restoring) which(env Env, s *open.Site, of restore.Head) {
	text := ""
	if r.context != "" {
		text = ", context " + r.context
	}
	switch of.Declared {
	case "":
	case of.Cluster:
		text += ", the one that the record is of"
	default:
		text += ", another than the record is of"
	}
	fmt.Fprintf(env.Err, "cluster %s at %s%s\n", of.Cluster, s.Server, text)
}
