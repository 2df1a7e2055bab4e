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
		Short: "Replay a simulated day by the engine, and show what came of it",
		Long: `Replays a simulated day of a fleet in quick time against the real engine, and
shows what came of it. The state file and a bare git repository are in a
temporary folder; figures leave none behind. With --cluster real it looks once
at the cluster of the current context, which it only reads, and commits to a
scratch repository.`,
		Example: "  gitlatch demo\n  gitlatch demo --cluster real",
		Args:    arguments(cobra.NoArgs, "no arguments"),
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
	c.Flags().StringVarP(&output, "output", "o", string(demo.Text), "text or figures")
	c.Flags().StringVar(&dir, "dir", "", "empty folder to leave repository and state in, instead of a temporary one")
	c.Flags().StringVar(&cluster, "cluster", "recorded", "recorded or real: the cluster to look at")
	return c
}
