package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newVersion(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `"gitlatch version" prints the version of gitlatch. For a build from a git
checkout, the command also prints the commit and date.`,
		Example: "  gitlatch version",
		Args:    arguments(cobra.NoArgs, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(env.Out, "gitlatch", env.Build)
			return err
		},
	}
}
