package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

func newRender(env Env) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "render",
		Short: "Print manifests that protect the replica counts of a site",
		Long: `"gitlatch render" prints a manifest that protects the replica counts of live
workloads. Depending on the subcommand, the manifest contains an ignore rule for
Flux, an ignore rule for Argo CD, or an admission policy. With such a manifest,
a level takes effect only when a workload is created.

"gitlatch render" writes nothing to git or to the cluster.`,
		Args: misspelt,
		RunE: func(c *cobra.Command, args []string) error {
			return fmt.Errorf("%s requires one of argocd, flux, admission, got %q. See \"%[1]s --help\"", c.CommandPath(), args)
		},
	}
	f.registerSite(c, env)
	c.AddCommand(
		newArgoCD(env, &f),
		newFlux(env, &f),
		newAdmission(env, &f),
	)
	return c
}

// declared reads the site at its branch.
func (f *flags) declared(env Env) (declaredSide, error) {
	c, err := f.config()
	if err != nil {
		return declaredSide{}, err
	}
	return f.declaredOf(env, c)
}

func (f *flags) declaredOf(env Env, c config.Config) (git declaredSide, err error) {
	git.config = c
	err = within(context.Background(), longest, func(ctx context.Context) (err error) {
		if git.repository, _, err = opener(env, c, true).Repository(ctx); err != nil {
			return err
		}
		defer closed(&err, local.Parts{Repository: git.repository})
		if err := git.readTip(ctx); err != nil {
			return err
		}
		git.tell(env)
		return f.elsewhere(ctx, git.repository, git.at, c.Site, git.tree)
	})
	return git, err
}
