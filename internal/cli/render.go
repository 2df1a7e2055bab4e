package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/site"
)

func newRender(env Env) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "render",
		Short: "Print what git declares for a site, or what keeps that inert",
		Long: `Prints what the branch declares for the site, as the kustomize Components that a
rebuild includes or as the records that they are made from; or the manifests
that have a cluster apply it where a workload is created, and leave it alone
where it runs; or the rights that kinds of your own take. Nothing is written.`,
		Args: arguments(cobra.NoArgs, "one of component, record, argocd, flux, admission, rights"),
		RunE: func(c *cobra.Command, _ []string) error {
			return errors.New(c.CommandPath() + ": what? One of component, record, argocd, flux, admission, rights; see " + c.CommandPath() + " --help")
		},
	}
	f.registerSite(c)
	c.PersistentFlags().AddFlagSet(c.Flags()) // each below it works on a site
	c.AddCommand(
		newDeclared(env, &f, "component", "Print the kustomize Components of a site, or of one namespace", checkpoint.Tree.Component),
		newDeclared(env, &f, "record", "Print the records of a site, or of one namespace", func(t checkpoint.Tree, namespace string) []byte { return t.Records[namespace].Format() }),
		newArgoCD(env, &f),
		newFlux(env, &f),
		newAdmission(env, &f),
		newRights(env, &f),
	)
	return c
}

// newDeclared is the command that prints what git declares in one form.
func newDeclared(env Env, f *flags, form, short string, print func(t checkpoint.Tree, namespace string) []byte) *cobra.Command {
	return &cobra.Command{
		Use:   form + " [namespace]",
		Short: short,
		Long:  short + ",\nin canonical form. It reads git, and nothing else.",
		Args:  arguments(cobra.MaximumNArgs(1), "at most one namespace"),
		RunE: func(_ *cobra.Command, args []string) error {
			tree, err := f.tree(env)
			if err != nil {
				return err
			}
			namespaces := slices.Sorted(maps.Keys(tree.Records))
			if len(args) == 1 {
				if _, ok := tree.Records[args[0]]; !ok {
					if err := tree.Broken[args[0]]; err != nil {
						return err
					}
					return undeclared(args[0], namespaces)
				}
				namespaces = args
			}
			if len(namespaces)+len(tree.Broken) == 0 {
				fmt.Fprintln(env.Err, "nothing is printed: git declares nothing of the site yet")
			}
			for _, namespace := range namespaces {
				if _, err := fmt.Fprintf(env.Out, "---\n%s", print(tree, namespace)); err != nil {
					return err
				}
			}
			if len(args) == 0 {
				for _, namespace := range slices.Sorted(maps.Keys(tree.Broken)) {
					return tree.Broken[namespace]
				}
			}
			return nil
		},
	}
}

// undeclared says that git declares nothing in a namespace, and in which it does.
func undeclared(namespace string, namespaces []string) error {
	elsewhere := ", nor in any other yet"
	if len(namespaces) > 0 {
		elsewhere = "; what it declares is in: " + strings.Join(namespaces, ", ")
	}
	return fmt.Errorf("namespace %s: git declares nothing in it%s", namespace, elsewhere)
}

// tree reads what the branch declares for the site.
func (f *flags) tree(env Env) (tree checkpoint.Tree, err error) {
	c, err := f.config()
	if err != nil {
		return tree, err
	}
	err = within(context.Background(), longest, func(ctx context.Context) (err error) {
		r, _, err := openRepository(ctx, opener(env, c, true))
		if err != nil {
			return err
		}
		defer closed(&err, site.Parts{Repository: r})
		_, _, tree, err = readSite(ctx, c, r)
		return err
	})
	return tree, err
}

// readSite reads the site's policy and what is declared for it, at the tip of
// the branch.
func readSite(ctx context.Context, c config.Config, r repo.Repository) (tip string, set policy.Set, tree checkpoint.Tree, err error) {
	if tip, _, err = r.Heads(ctx); err != nil {
		return tip, set, tree, err
	}
	directory, file := ledger.Checkpoints(c.Site), c.Repository.PolicyFile
	objects, err := r.Read(ctx, tip, nil, directory, file)
	if err != nil {
		return tip, set, tree, err
	}
	if set, err = site.Tick(c, site.Parts{}).ParsePolicy(file, objects[file].Files[file]); err != nil {
		return tip, set, tree, err
	}
	tree, err = ledger.Tree(c.Site, objects[directory])
	return tip, set, tree, err
}
