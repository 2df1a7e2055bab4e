package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/site"
)

func newRender(env Env) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "render",
		Short: "Print checkpoint files, protection rules and RBAC rights",
		Long: `render prints manifests for one site. component and record print the levels in
git. argocd, flux and admission print rules that protect live replica counts.
rights prints RBAC rights for custom kinds.

render only reads git.`,
		Args: misspelt,
		RunE: func(c *cobra.Command, args []string) error {
			return fmt.Errorf("%s: wants one of component, record, argocd, flux, admission, rights, got %q; see %[1]s --help", c.CommandPath(), args)
		},
	}
	f.registerSite(c, env)
	c.PersistentFlags().AddFlagSet(c.Flags()) // each below it works on a site
	c.AddCommand(
		newDeclared(env, &f, "component", "Print the kustomize Components of a site", checkpoint.Tree.Component),
		newDeclared(env, &f, "record", "Print the checkpoint files of a site", func(t checkpoint.Tree, namespace string) []byte { return t.Records[namespace].Format() }),
		newArgoCD(env, &f),
		newFlux(env, &f),
		newAdmission(env, &f),
		newRights(env, &f),
	)
	return c
}

// newDeclared is the command that prints what git declares in one form.
func newDeclared(env Env, f *flags, form, short string, print func(t checkpoint.Tree, namespace string) []byte) *cobra.Command {
	var t targets
	c := &cobra.Command{
		Use:     form + " [NAMESPACE...]",
		Short:   short,
		Long:    short + ", or only of the given namespaces.\nThe command only reads git, and prints each file in its canonical form.",
		Example: "  gitlatch render " + form + " shop -c prod-eu.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			named, err := t.namespaces(args)
			if err != nil {
				return err
			}
			git, err := f.declared(env)
			if err != nil {
				return err
			}
			tree := git.tree
			namespaces := slices.Sorted(maps.Keys(tree.Records))
			for _, namespace := range named {
				if _, ok := tree.Records[namespace]; !ok {
					return cmp.Or(tree.Broken[namespace], undeclared(namespace, namespaces))
				}
			}
			if len(named) > 0 {
				namespaces = named
			}
			if len(namespaces)+len(tree.Broken) == 0 {
				fmt.Fprintln(env.Err, "nothing is printed: git declares nothing of the site yet")
			}
			for _, namespace := range namespaces {
				if _, err := fmt.Fprintf(env.Out, "---\n%s", print(tree, namespace)); err != nil {
					return err
				}
			}
			if len(named) == 0 {
				for _, namespace := range slices.Sorted(maps.Keys(tree.Broken)) {
					return tree.Broken[namespace]
				}
			}
			return nil
		},
	}
	t.registerTargets(c, f)
	return c
}

// undeclared says that git declares nothing in a namespace, and in which it does.
func undeclared(namespace string, namespaces []string) error {
	elsewhere := ", nor in any other yet"
	if len(namespaces) > 0 {
		elsewhere = "; what it declares is in: " + strings.Join(namespaces, ", ")
	}
	return fmt.Errorf("namespace %s: git declares nothing in it%s", namespace, elsewhere)
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
		defer closed(&err, site.Parts{Repository: git.repository})
		if err := git.readTip(ctx); err != nil {
			return err
		}
		git.tell(env)
		return f.elsewhere(ctx, git.repository, git.at, c.Site, git.tree)
	})
	return git, err
}
