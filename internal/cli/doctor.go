package cli

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// A checkup contains the flags of doctor.
type checkup struct {
	flags
	paths    []string
	url, hub string
	charts   string // the folder of packed charts
	output   output[doctor.Report]
	aws      bool
}

func newDoctor(env Env) *cobra.Command {
	var d checkup
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the rules, and predict problems of a rebuild",
		Long: `"gitlatch doctor" compares the live workloads, the levels in git, and the GitOps
objects in the cluster. For each workload, the command prints the rule that
protects the live replica count, and the replicas that a rebuild starts with.
For each problem, the command prints a fix. The command also prints whether the
pods of a rebuild fit the nodes, the NodePools and, with --aws, the AWS account.

"gitlatch doctor" builds manifests from the repository in memory. The command
builds the folders that Flux Kustomizations and Argo CD Applications apply, and
the folders in --path. The command renders Helm charts, but does not download
charts or remote bases. The command writes nothing.

"gitlatch doctor" needs the permissions in infra/rbac/doctor.

Exit status:
  0  The command found no problem.
  1  The command found a problem, could not list some objects in the cluster, or
     the pods of a rebuild do not fit.
  2  The command could not check the site.`,
		Example: `  # List the problems of the site
  gitlatch doctor -c prod-eu.yaml`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: timed(longest, func(ctx context.Context, _ []string) error { return d.run(ctx, env) }),
	}
	d.register(c, env)
	c.Flags().StringArrayVar(&d.paths, "path", nil, "additional folder in the repository to build (repeatable)")
	registerCharts(c, &d.charts)
	c.Flags().StringVar(&d.url, "url", "", "URL from which the cluster reads the repository (default: the URL in the configuration)")
	c.Flags().StringVar(&d.hub, "gitops-context", "", "kubeconfig context of the hub cluster in which Argo CD runs")
	registerAWS(c, &d.aws)
	d.output.register(c, doctor.Report.Table, nil)
	return c
}

func (d *checkup) run(ctx context.Context, env Env) (err error) {
	if d.url != "" {
		if err := wrongURL(d.url); err != nil {
			return err
		}
	}
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
	if d.hub != "" {
		c.GitOps.Context, c.GitOps.EKS = d.hub, config.EKS{}
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

// look reads the input of doctor.
func (d *checkup) look(ctx context.Context, env Env, of *wiring.Opener, r repo.Repository) (seen doctor.Case, err error) {
	c := of.Config
	sampler, err := of.Cluster(ctx)
	if err != nil {
		return seen, err
	}
	from, here, err := open.Objects(ctx, of)
	if err != nil {
		return seen, err
	}
	git := declaredSide{config: c, repository: r}
	if err := git.readTip(ctx); err != nil {
		return seen, err
	}
	git.tell(env)
	here.Repository = cmp.Or(d.url, here.Repository)
	here.Tip = git.at
	seen = doctor.Case{Site: c.Site, Set: git.set, Tree: git.tree, Policy: c.Repository.PolicyFile, Here: here}
	if seen.Fleet, err = sampler.Sample(ctx, seen.Set.Kinds); err != nil {
		return seen, err
	}
	seen.Cluster = doctor.ReadCluster(ctx, from, seen.Kinds())
	seen.Overlays, err = doctor.ReadOverlays(ctx, r, git.at, seen.Cluster.Builds(slices.Concat(c.Build.Paths, d.paths)...), chartsIn(d.charts))
	return seen, err
}
