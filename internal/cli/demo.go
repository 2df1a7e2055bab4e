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
		Short: "Replay a simulated day and show the result",
		Long: `"gitlatch demo" runs the gitlatch engine on one day of simulated data, and
prints the result. The command stores its state file and a bare git repository
in a temporary folder.`,
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
	c.Flags().StringVar(&dir, "dir", "", "empty folder for the git repository and the state file (default a temporary folder)")
	return c
}
