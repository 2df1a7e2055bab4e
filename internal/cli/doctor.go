package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// A checkup contains the flags of doctor.
type checkup struct {
	flags
	output output[doctor.Report]
	aws    bool
	try    bool
}

func newDoctor(env Env) *cobra.Command {
	var d checkup
	c := &cobra.Command{
		Use:   "doctor",
		Short: "List the problems that a rebuild would have",
		Long: `"gitlatch doctor" reads the live cluster and the levels in git. For each
workload, the command prints how many pods a rebuild would start. The output
compares rebuilds with and without gitlatch. The command builds no manifests and
writes nothing.

The basis of each number is "observed", "stated" or "unknown". An observed
number comes from the cluster, and a stated number from a user's policy.
"gitlatch doctor" prints a fix for each problem and for each unknown number. The
command also checks whether all pods of a rebuild fit the nodes and NodePools.
With --aws, the command also checks the quotas of the AWS account.

With --try, the command also sends a dry-run request for each live workload. The
request asks the API server to create the workload at its level. The report
lists the workloads that the API server refuses to create. A dry run creates
nothing, but requires the right to create workloads.

"gitlatch doctor" needs the permissions in infra/rbac/doctor.

Exit status:
  0  The command found no problem: a rebuild starts each workload at its level.
  1  At least one of these is true:
     - The command found a problem or an unknown number.
     - The command could not list some objects in the cluster.
     - The cluster does not have room for all pods of a rebuild.
  2  The command could not check the site.`,
		Example: `  # List the problems of the site
  gitlatch doctor -c prod-eu.yaml

  # Also list the workloads that an admission policy refuses at their level
  gitlatch doctor --try -c prod-eu.yaml`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: timed(longest, func(ctx context.Context, _ []string) error { return d.run(ctx, env) }),
	}
	d.register(c, env)
	registerAWS(c, &d.aws)
	registerTry(c, &d.try)
	d.output.register(c, doctor.Report.Table, nil)
	return c
}

func (d *checkup) run(ctx context.Context, env Env) (err error) {
	c, err := d.config()
	if err != nil {
		return err
	}
	account, err := accountOf(ctx, opener(env, c, true), d.aws)
	if err != nil {
		return err
	}
	if c.Cluster.EKS != (config.EKS{}) {
		c.Cluster = config.Cluster{} // users have their own rights
	}
	from := opener(env, c, true)
	r, _, err := from.Repository(ctx)
	if err != nil {
		return err
	}
	defer closed(&err, local.Parts{Repository: r})
	seen, err := d.look(ctx, env, from, r)
	if err != nil {
		return err
	}
	standby, err := open.Standby(ctx, from)
	if err != nil {
		return err
	}
	seen.ReadRoom(ctx, standby, account)
	report := doctor.Examine(seen)
	if err := d.output.write(env, report); err != nil {
		return err
	}
	return unless(report.Clean())
}

// registerTry adds the flag --try.
func registerTry(c *cobra.Command, try *bool) {
	c.Flags().BoolVar(try, "try", false, "also try to create each workload at its level, as a dry run")
}

// agesOf is the number of commits that doctor reads for the ages of the levels.
const agesOf = 100

// look reads the input of doctor.
func (d *checkup) look(ctx context.Context, env Env, of *wiring.Opener, r repo.Repository) (seen doctor.Case, err error) {
	c := of.Config
	sampler, err := of.Cluster(ctx)
	if err != nil {
		return seen, err
	}
	from, err := open.Objects(ctx, of)
	if err != nil {
		return seen, err
	}
	git := declaredSide{config: c, repository: r}
	if err := git.readTip(ctx); err != nil {
		return seen, err
	}
	git.tell(env)
	seen = doctor.Case{Site: c.Site, Set: git.set, Tree: git.tree, Policy: c.Repository.PolicyFile}
	if seen.Fleet, err = sampler.Sample(ctx, seen.Set.Kinds); err != nil {
		return seen, err
	}
	seen.Cluster = doctor.ReadCluster(ctx, from, seen.Kinds())
	if d.try {
		creator, err := open.Creator(ctx, of)
		if err != nil {
			return seen, err
		}
		seen.Try(ctx, from, creator)
	}
	seen.Admission, err = doctor.ReadAdmission(ctx, r, git.at)
	if err != nil {
		return seen, err
	}
	ages, err := history.Ages(ctx, r, git.at, c.Site, agesOf)
	seen.Changed = history.Changed(ages)
	return seen, err
}
