package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/term"
)

// A versionDocument is the output of version.
type versionDocument struct {
	term.Document
	build.Info
}

// Table prints the version on one line.
func (d versionDocument) Table(out io.Writer, _ term.Style) error {
	_, err := fmt.Fprintln(out, "gitlatch", d.Info)
	return err
}

func newVersion(env Env) *cobra.Command {
	var o output[versionDocument]
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version and build information",
		Long: `version prints the version of gitlatch. The formats json and yaml also contain
the commit, the Go version and the platform.`,
		Example: "  gitlatch version -o json",
		Args:    arguments(cobra.NoArgs, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			return o.write(env, versionDocument{term.DocumentOf("Version"), env.Build})
		},
	}
	o.register(c, versionDocument.Table, nil)
	return c
}
