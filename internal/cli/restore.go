package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/open"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/units"
)

// restoring contains the flags of restore and release.
type restoring struct {
	flags
	targets
	yes     bool
	output  output[restore.Report]
	options plan.Options
	pace    plan.Pace
	hold    time.Duration
	waitFor time.Duration
}

func newRestore(env Env) *cobra.Command {
	r := restoring{options: plan.Options{Factor: 1}, pace: plan.Pace{Patience: restore.Patience}, hold: restore.Hold}
	c := &cobra.Command{
		Use:   "restore [TARGET...]",
		Short: "Raise live workloads to their levels in git",
		Long: `"gitlatch restore" raises the workloads of the site to their levels in git. With
targets, the command raises only the given workloads. Run "gitlatch restore" if
a rebuilt cluster started with too few pods. Also run "gitlatch restore" before
you move traffic to any rebuilt cluster. Without traffic, autoscalers scale down
the workloads of the cluster.

"gitlatch restore" never lowers the replicas of a workload, and never exceeds
the maximum replicas in git or in the cluster. The command skips workloads that
are suspended or opted out.

First, "gitlatch restore" sets a brake on the autoscaler of each workload that
has a level, even if the workload is already at its level. The autoscaler does
not scale down until the brake expires. To remove the brakes, run "gitlatch
restore release". Each run of "gitlatch restore" also removes expired brakes.

Without --yes, "gitlatch restore" prints the plan and writes nothing. If the
command stops early, run it again to continue. With --wait, the command
continues until the pods of every level are ready, and every autoscaler has a
brake. The command also waits for workloads that do not exist yet. The command
does not wait for workloads that it skips, such as suspended or opted-out
workloads.

Exit status:
  0  The command printed the plan, or every workload reached the state in
     the plan.
  1  A workload or an autoscaler has not reached the state in the plan yet. Run
     "gitlatch restore" again.
  2  The command could not run.` + targetWords,
		Example: `  # Print the plan for all workloads
  gitlatch restore -c prod-eu.yaml

  # Prepare a rebuilt cluster for the traffic
  gitlatch restore --wait --yes -c prod-eu.yaml

  # Raise the namespace shop and the workload pay/ledger to half of their levels
  gitlatch restore shop pay/ledger --factor 50% --yes -c prod-eu.yaml`,
		Args: misspelt,
		RunE: func(c *cobra.Command, args []string) error {
			targets, err := r.read(args)
			if err := errors.Join(err, r.check()); err != nil {
				return err
			}
			return r.run(c.Context(), env, func(ctx context.Context, s *open.Site) (restore.Report, error) {
				return r.raise(ctx, env, s, targets)
			})
		},
	}
	r.every(c, env)
	r.registerTargets(c, &r.flags)
	c.Flags().Var((*units.Share)(&r.options.Factor), "factor", "percentage of the level to which a restore raises each workload, rounded up, such as 50% or 0.5")
	c.Flags().StringSliceVar(&r.options.Order, "order", nil, "order in which to restore namespaces (default: by PriorityClass)")
	c.Flags().BoolVar(&r.options.FromZero, "from-zero", false, "also scale up workloads with 0 replicas")
	c.Flags().Int32Var(&r.pace.PerMinute, "pods-per-minute", restore.PerMinute, "maximum number of pods to request per minute")
	c.Flags().Int32Var(&r.pace.Unready, "max-unready", restore.Unready, "maximum number of requested pods that are not ready at the same time")
	c.Flags().Var((*units.Span)(&r.pace.Patience), "wave-timeout", "maximum time that a wave may make no progress before the next wave starts")
	c.Flags().Var((*units.Span)(&r.waitFor), "wait", "maximum time to wait until every workload exists and the pods of its level are ready (if you omit the time, 30m)")
	c.Flags().Lookup("wait").NoOptDefVal = (*units.Span)(ptr.To(restore.WaitFor)).String()
	c.Flags().Var((*units.Span)(&r.hold), "brake", "time until a brake expires, at most 7d")
	c.AddCommand(newRelease(env))
	return c
}

func newRelease(env Env) *cobra.Command {
	var r restoring
	var expired bool
	c := &cobra.Command{
		Use:   "release",
		Short: "Remove brakes and let autoscalers scale down again",
		Long: `"gitlatch restore release" removes the brakes that "gitlatch restore" set on
autoscalers. The command also restores the previous scale-down setting of each
autoscaler. If a user changed this setting after the restore, the command keeps
the user's setting. Without --yes, the command prints the plan and writes
nothing.

Exit status:
  0  The command printed the plan, or every autoscaler reached the state in
     the plan.
  1  An autoscaler has not reached the state in the plan yet. Run "gitlatch
     restore release" again.
  2  The command could not run.`,
		Example: `  # Print the plan
  gitlatch restore release -c prod-eu.yaml

  # Remove only the expired brakes
  gitlatch restore release --expired --yes -c prod-eu.yaml`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return r.run(c.Context(), env, func(ctx context.Context, s *open.Site) (restore.Report, error) {
				return r.restoring(env, s).Release(ctx, expired)
			})
		},
	}
	r.every(c, env)
	c.Flags().BoolVar(&expired, "expired", false, "remove only expired brakes")
	return c
}

// every adds the flags that restore and release share.
func (r *restoring) every(c *cobra.Command, env Env) {
	r.register(c, env)
	c.Flags().BoolVar(&r.yes, "yes", false, "write to the cluster instead of printing the plan")
	r.output.register(c, restore.Report.Table, nil)
}

// check returns the errors in the flags.
func (r *restoring) check() error {
	var wrong wrongs
	wrong.unless(plan.ValidFactor(r.options.Factor), "--factor: must be above 0 and at most 1, got %v. For more pods, raise the level in the checkpoint file", r.options.Factor)
	wrong.unless(r.pace.PerMinute >= 1, "--pods-per-minute: must be at least 1 pod a minute, got %d", r.pace.PerMinute)
	wrong.unless(r.pace.Unready >= 1, "--max-unready: must be at least 1 pod, got %d", r.pace.Unready)
	wrong.unless(r.pace.Patience > 0, "--wave-timeout: must be a duration such as 10m, got %s", r.pace.Patience)
	wrong.unless(r.waitFor == 0 || r.yes, "--wait requires --yes")
	hold := restore.CheckHold(r.hold)
	wrong.unless(hold == nil, "--brake: %w", hold)
	order := plan.CheckNamespaces(r.options.Order)
	wrong.unless(order == nil, "--order: %w", order)
	return errors.Join(wrong...)
}

// run opens the site, calls do, and prints its report.
func (r *restoring) run(ctx context.Context, env Env, do func(context.Context, *open.Site) (restore.Report, error)) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	c, err := r.config()
	if err != nil {
		return err
	}
	s, err := open.Open(ctx, opener(env, c, true))
	if err != nil {
		return err
	}
	report, err := do(ctx, s)
	err = s.Explain(ctx, err)
	if report.Cluster == "" {
		return err
	}
	r.which(env, s, report)
	return found(errors.Join(r.output.write(env, report), err), report.Err())
}

// raise restores the levels in git of the targets, or of all workloads without targets.
func (r *restoring) raise(ctx context.Context, env Env, s *open.Site, targets []units.Target) (report restore.Report, err error) {
	tree, err := s.Declared(ctx)
	if err != nil {
		return report, err
	}
	if err := r.narrow(targets, tree); err != nil {
		return report, err
	}
	return r.restoring(env, s).Run(ctx, tree)
}

// narrow limits the options to the targets. If every target is a namespace, it selects
// namespaces, and otherwise workloads.
func (r *restoring) narrow(targets []units.Target, tree checkpoint.Tree) (err error) {
	if slices.ContainsFunc(targets, func(t units.Target) bool { return !t.All() }) {
		r.options.Workloads, err = findAll(targets, declares(tree))
		return err
	}
	r.options.Namespaces = lists.Map(targets, units.Target.String)
	return nil
}

// restoring returns a Restore with the options from the flags.
func (r *restoring) restoring(env Env, s *open.Site) *restore.Restore {
	one := s.Restore()
	one.Options = r.options
	one.DryRun = !r.yes
	one.Say = func(line string) { fmt.Fprintln(env.Err, line) }
	if r.pace != (plan.Pace{}) {
		one.Pace, one.Hold = r.pace, r.hold
		one.WaitFor = r.waitFor
	}
	return one
}

// which prints the cluster, the context of the flags, and whether the cluster is the
// site's cluster in git.
func (r *restoring) which(env Env, s *open.Site, of restore.Report) {
	text := ""
	if r.context != "" {
		text = ", context " + r.context
	}
	switch of.Declared {
	case "":
	case of.Cluster:
		text += ", the site's cluster"
	default:
		text += ", not the site's cluster in git until the first commit after \"gitlatch adopt\""
	}
	fmt.Fprintf(env.Err, "cluster %s at %s%s\n", of.Cluster, s.Server, text)
}
