package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/demo"
	"github.com/gitlatch/gitlatch/internal/kube/kubeconfig"
	"github.com/gitlatch/gitlatch/internal/term/tty"
)

func newDemo(env Env) *cobra.Command {
	var output, dir, cluster string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Replay a simulated day with the real engine",
		Long: `demo replays a simulated day of many workloads in a short time and prints the
commits and the result. It uses a state file and a bare git repository in a
temporary folder.

With --cluster real, demo samples the cluster of the current context once and
commits the levels to a scratch repository. It only reads the cluster.`,
		Example: `  # Replay the simulated day
  gitlatch demo

  # Sample your own cluster
  gitlatch demo --cluster real`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := interruptible(c.Context())
			defer stop()
			switch cluster {
			case "recorded":
				return demo.Run(ctx, demo.Options{
					Out: env.Out, Style: tty.StyleFor(env.Out, env.Getenv), Format: demo.Format(output),
					Progress: tty.NewProgress(env.Err), Dir: dir,
				})
			case "real":
				config, err := kubeconfig.Load(kubeconfig.Choice{})
				if err != nil {
					return err
				}
				return demo.Once(ctx, env.Out, config, dir, tty.StyleFor(env.Out, env.Getenv), env.Clock)
			}
			return fmt.Errorf("--cluster: must be recorded or real, got %q", cluster)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", string(demo.Text), "output format: text or figures")
	c.Flags().StringVar(&dir, "dir", "", "empty folder for the repository and the state (default a temporary folder)")
	c.Flags().StringVar(&cluster, "cluster", "recorded", "data to use: recorded, or real for the cluster of the current context")
	return c
}
