package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/drill/score"
)

// A previewing contains the flags of preview.
type previewing struct {
	kubeconfig, context string
	output              output[drill.Preview]
}

func newPreview(env Env) *cobra.Command {
	var p previewing
	c := &cobra.Command{
		Use:   "preview",
		Short: "Predict a rebuild of your current cluster",
		Long: `"gitlatch preview" reads the cluster of your current kube context once. The
command predicts the result of a rebuild with and without gitlatch. The command
needs no repository and no configuration, and changes nothing.

The prediction uses the levels that gitlatch would write with the default
policy. The prediction assumes that the rebuild applies these levels before it
creates the workloads. If the number of pods of a workload is unknown, the
command prints the possible range, the cause and a fix.

"gitlatch preview" needs the permissions in infra/rbac/doctor.`,
		Example: `  # Predict a rebuild of the cluster of another kube context
  gitlatch preview --context prod-eu`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: timed(longest, func(ctx context.Context, _ []string) error { return p.run(ctx, env) }),
	}
	common := c.PersistentFlags()
	common.StringVar(&p.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default $KUBECONFIG)")
	common.StringVar(&p.context, "context", "", "kubeconfig context `name` (default current context)")
	p.output.register(c, drill.Preview.Table, nil)
	return c
}

func (p *previewing) run(ctx context.Context, env Env) error {
	c := config.Config{Site: "preview", Cluster: config.Cluster{Kubeconfig: p.kubeconfig, Context: p.context}}
	from := opener(env, c, true)
	sampler, err := from.Cluster(ctx)
	if err != nil {
		return err
	}
	objects, err := open.Objects(ctx, from)
	if err != nil {
		return err
	}
	seen := doctor.Case{Set: config.DefaultPolicy(defaultPeriod)}
	seen.Fleet, err = sampler.Sample(ctx, nil)
	if err != nil {
		return err
	}
	seen.Cluster = doctor.ReadCluster(ctx, objects, nil)
	seen.ReadRoom(ctx, nil, nil)
	preview := score.Preview(seen)
	if err := p.output.write(env, preview); err != nil {
		return err
	}
	if preview.Nothing != "" {
		return fmt.Errorf("predict a rebuild: %s", preview.Nothing)
	}
	return nil
}
