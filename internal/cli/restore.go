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

// The values of --release.
const (
	allBrakes     = "all"
	expiredBrakes = "expired"
)

// restoring contains the flags of restore.
type restoring struct {
	flags
	targets
	yes     bool
	release string // "", allBrakes or expiredBrakes
	output  output[restore.Report]
	options plan.Options
	hold    time.Duration
	waitFor time.Duration
}

func newRestore(env Env) *cobra.Command {
	r := restoring{options: plan.Options{Factor: 1}, hold: restore.Hold}
	c := &cobra.Command{
		Use:   "restore [TARGET...]",
		Short: "Raise live replicas to the levels in git",
		Long: `"gitlatch restore" raises the replicas of each workload in the site to its level
in git. If you specify targets, the command raises only the replicas of these
workloads. If a rebuilt cluster started with too few pods, run "gitlatch
restore". Also run the command before you move traffic to any rebuilt cluster.
Until the traffic arrives, autoscalers can scale down the workloads.

"gitlatch restore" never lowers the replicas of a workload. The command never
exceeds the maximum replicas in git or in the cluster. The command skips
workloads that are suspended or opted out.

"gitlatch restore" first sets a brake on the autoscaler of each workload with a
level. Workloads that are already at their level also get a brake. A brake is a
setting that stops the autoscaler from scaling down until the brake expires.
Each run of "gitlatch restore" also removes the brakes that have expired.

With --release, the command removes all brakes and does not raise replicas. With
--release=expired, the command removes only the brakes that have expired. When
the command removes a brake, the autoscaler gets its previous scale-down setting
back. If a user has changed the setting since the restore, the command keeps the
change.

Without --yes, "gitlatch restore" prints the plan and writes nothing. If the
command stops early, run it again to continue. With --wait, the command runs
until every workload is ready at its level. Every autoscaler must also have a
brake. The command also waits for workloads that do not exist yet. The command
does not wait for workloads that it skips.

Exit status:
  0  The command printed the plan, or every workload reached the state in
     the plan.
  1  At least one workload or autoscaler is not in the planned state yet. Run
     "gitlatch restore" again.
  2  The command could not run.` + targetWords,
		Example: `  # Print the plan for all workloads
  gitlatch restore -c prod-eu.yaml

  # Prepare a rebuilt cluster for the traffic
  gitlatch restore --wait --yes -c prod-eu.yaml

  # Raise the namespace shop and the workload pay/ledger to half of their levels
  gitlatch restore shop pay/ledger --factor 50% --yes -c prod-eu.yaml

  # Remove all brakes
  gitlatch restore --release --yes -c prod-eu.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			targets, err := r.read(args)
			if err := errors.Join(err, r.check(len(args) > 0 || r.namespace != "")); err != nil {
				return err
			}
			return r.run(c.Context(), env, targets)
		},
	}
	r.register(c, env)
	r.registerTargets(c, &r.flags)
	r.output.register(c, restore.Report.Table, nil)
	c.Flags().BoolVar(&r.yes, "yes", false, "write to the cluster instead of printing the plan")
	c.Flags().StringVar(&r.release, "release", "", "brakes to remove, without a raise: all or expired (if you omit the value, all)")
	c.Flags().Lookup("release").NoOptDefVal = allBrakes
	offer(c, "release", []string{allBrakes, expiredBrakes})
	c.Flags().Var((*units.Share)(&r.options.Factor), "factor", "percentage of the level to which a restore raises each workload, rounded up, such as 50% or 0.5")
	c.Flags().BoolVar(&r.options.FromZero, "from-zero", false, "also scale up workloads with 0 replicas")
	c.Flags().Var((*units.Span)(&r.waitFor), "wait", "maximum time to wait until every workload exists and the pods of its level are ready (if you omit the time, 30m)")
	c.Flags().Lookup("wait").NoOptDefVal = (*units.Span)(ptr.To(restore.WaitFor)).String()
	c.Flags().Var((*units.Span)(&r.hold), "brake", "time until a brake expires, at most 7d")
	return c
}

// check returns the errors in the flags. narrowed is true if there are targets.
func (r *restoring) check(narrowed bool) error {
	var wrong wrongs
	wrong.unless(slices.Contains([]string{"", allBrakes, expiredBrakes}, r.release), "--release: must be all or expired, got %q", r.release)
	wrong.unless(r.release == "" || !narrowed, "--release covers all autoscalers of the cluster. Remove the targets, and write a value as --release=expired")
	wrong.unless(r.release == "" || r.waitFor == 0, "--wait: only a raise waits. Remove --wait or --release")
	wrong.unless(plan.ValidFactor(r.options.Factor), "--factor: must be above 0 and at most 1, got %v. For more pods, raise the level in the checkpoint file", r.options.Factor)
	wrong.unless(r.waitFor == 0 || r.yes, "--wait requires --yes")
	hold := restore.CheckHold(r.hold)
	wrong.unless(hold == nil, "--brake: %w", hold)
	return errors.Join(wrong...)
}

// run opens the site, removes the brakes or raises the targets, and prints the report.
func (r *restoring) run(ctx context.Context, env Env, targets []units.Target) error {
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
	do := r.raise
	if r.release != "" {
		do = r.unbrake
	}
	report, err := do(ctx, env, s, targets)
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

// unbrake removes the brakes of the site, or only those that have expired.
func (r *restoring) unbrake(ctx context.Context, env Env, s *open.Site, _ []units.Target) (restore.Report, error) {
	return r.restoring(env, s).Release(ctx, r.release == expiredBrakes)
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
	one.Hold, one.WaitFor = r.hold, r.waitFor
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
