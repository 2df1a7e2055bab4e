package cli

import (
	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/demo"
	"github.com/gitlatch/gitlatch/internal/term/tty"
)

func newDemo(env Env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Replay a simulated day by the engine, and show what came of it",
		Long: `Replays a simulated day of a fleet in quick time against the real engine, and
shows what came of it. The state file and a bare git repository are in a
temporary folder.`,
		Example: "  gitlatch demo",
		Args:    arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := interruptible(c.Context())
			defer stop()
			return demo.Run(ctx, demo.Options{
				Out: env.Out, Style: tty.StyleFor(env.Out, env.Getenv), Progress: tty.NewProgress(env.Err), Dir: dir,
			})
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "empty folder to leave repository and state in, instead of a temporary one")
	return c
}
