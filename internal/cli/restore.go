package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/open"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
)

// restoring is what a restore is asked for.
type restoring struct {
	flags
	yes     bool
	output  output[answer]
	options plan.Options
	pace    plan.Pace
	hold    time.Duration
	seeding
}

func newRestore(env Env) *cobra.Command {
	var r restoring
	c := &cobra.Command{
		Use:   "restore [namespace/name ...]",
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
then.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.check(args); err != nil {
				return err
			}
			if err := r.checkSplit(c); err != nil {
				return err
			}
			if r.split {
				return r.run(c.Context(), env, (*open.Site).ExplainSplit, func(ctx context.Context, s *open.Site, c config.Config) (answer, error) {
					return r.seed(ctx, env, s, c, args)
				})
			}
			return r.run(c.Context(), env, (*open.Site).Explain, func(ctx context.Context, s *open.Site, _ config.Config) (answer, error) {
				return r.raise(ctx, env, s, args)
			})
		},
	}
	r.every(c)
	c.Flags().Float64Var(&r.options.Factor, "factor", 1, "part of each level, rounded up, for a smaller site: 0.5")
	c.Flags().StringSliceVarP(&r.options.Namespaces, "namespace", "n", nil, "only these namespaces")
	c.Flags().StringSliceVar(&r.options.Order, "order", nil, "namespaces in the order of their waves, instead of by priority class")
	c.Flags().BoolVar(&r.options.FromZero, "from-zero", false, "raise what is at zero, too")
	c.Flags().Int32Var(&r.pace.PerMinute, "pace", restore.PerMinute, "pods asked for in a minute")
	c.Flags().Int32Var(&r.pace.Unready, "unready", restore.Unready, "pods asked for and not ready at any time")
	c.Flags().DurationVar(&r.pace.Patience, "patience", restore.Patience, "how long a wave that stands still is waited for")
	c.Flags().DurationVar(&r.hold, "brake", restore.Hold, "how long autoscalers do not scale down, at most 168h")
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
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := r.output.check(); err != nil {
				return err
			}
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
	r.every(c)
	c.Flags().BoolVar(&split, "split", false, "take back seeds that no Deployment adopted, instead of brakes")
	c.Flags().BoolVar(&expired, "expired", false, "only those that expired")
	return c
}

// every adds the flags that a restore and a release share.
func (r *restoring) every(c *cobra.Command) {
	r.register(c)
	c.Flags().BoolVar(&r.yes, "yes", false, "write to the cluster; without it the plan is printed")
	r.output.register(c, forms[answer]{"table": answer.Table, "json": inJSON[answer]}, "table", "json")
}

// check says all that is wrong with the flags.
func (r *restoring) check(args []string) error {
	var wrong wrongs
	wrong.unless(plan.ValidFactor(r.options.Factor), "--factor: must be above 0 and at most 1, got %v: it is for a smaller site; for more pods edit the record", r.options.Factor)
	wrong.unless(r.pace.PerMinute >= 1, "--pace: must be at least 1 pod a minute, got %d", r.pace.PerMinute)
	wrong.unless(r.pace.Unready >= 1, "--unready: must be at least 1 pod, got %d", r.pace.Unready)
	wrong.unless(r.pace.Patience > 0, "--patience: must be a time as 10m, got %s", r.pace.Patience)
	hold := restore.CheckHold(r.hold)
	wrong.unless(hold == nil, "--brake: %w", hold)
	namespaces, order := plan.CheckNamespaces(r.options.Namespaces), plan.CheckNamespaces(r.options.Order)
	wrong.unless(namespaces == nil, "--namespace: %w", namespaces)
	wrong.unless(order == nil, "--order: %w", order)
	wrong.unless(len(args) == 0 || len(r.options.Namespaces) == 0, "--namespace: workloads are named with theirs; give one of the two")
	return errors.Join(append(wrong, r.output.check())...)
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
	r.found(env, s, report.Of())
	return errors.Join(r.output.write(env, report), err, report.Err())
}

// raise restores what git declares of the workloads that a person names, or all.
func (r *restoring) raise(ctx context.Context, env Env, s *open.Site, args []string) (report restore.Report, err error) {
	tree, err := s.Declared(ctx)
	if err != nil {
		return report, err
	}
	one := r.restoring(env, s)
	if one.Options.Workloads, err = findAll(args, declares(tree)); err != nil {
		return report, err
	}
	return one.Run(ctx, tree)
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
	one.Options.Namespaces, one.DryRun, one.Say = r.options.Namespaces, !r.yes, saying(env)
	return one
}

// saying takes lines of progress.
func saying(env Env) func(string) { return func(line string) { fmt.Fprintln(env.Err, line) } }

// found says which cluster it is, how it was chosen, and whether it is the one
// that the record is of.
func (r *restoring) found(env Env, s *open.Site, of restore.Head) {
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
