package cli

import (
	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/demo"
)

func newDemo(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show the effect of gitlatch on a simulated day",
		Long: `"gitlatch demo" runs the gitlatch engine on one day of simulated data, and
prints the result. The command stores its state file and a bare git repository
in a temporary folder. To predict a rebuild of your own cluster, use "gitlatch
preview".`,
		Example: `  # Replay the simulated day
  gitlatch demo`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return demo.Run(c.Context(), demo.Options{Out: env.Out, Err: env.Err, Getenv: env.Getenv})
		},
	}
}
