package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
)

func newSchema(env Env) *cobra.Command {
	kinds := []string{config.KindConfig, config.KindPolicy, config.KindFleet}
	return &cobra.Command{
		Use:   "schema " + strings.Join(kinds, "|"),
		Short: "Print the JSON schema of a file kind",
		Long: `"gitlatch schema" prints the JSON schema for files of the given kind. Editors
and validators can use the schema to check and complete these files.`,
		Example:   "  gitlatch schema Policy > policy.json",
		Args:      arguments(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), "one of "+strings.Join(kinds, ", ")),
		ValidArgs: kinds,
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := fmt.Fprintf(env.Out, "%s", config.Schema(args[0]))
			return err
		},
	}
}
