package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/tick"
)

func newRender(env Env) *cobra.Command {
	var f flags
	var what string
	c := &cobra.Command{
		Use:   "render [namespace]",
		Short: "Print what git declares for a site, as Components or records",
		Long: `Prints what the branch declares for the site, or for one namespace of it, in its
canonical form: as the kustomize Components that a rebuild includes, or as the
records that they are made from. It reads git, and nothing else.`,
		Args: arguments(cobra.MaximumNArgs(1), "at most one namespace"),
		RunE: func(c *cobra.Command, args []string) error {
			print, ok := renderings[what]
			if !ok {
				return fmt.Errorf("--output: must be component or record, got %q", what)
			}
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
					return fmt.Errorf("namespace %s: git declares nothing in it; what it declares is in: %s", args[0], strings.Join(namespaces, ", "))
				}
				namespaces = args
			}
			for _, namespace := range namespaces {
				if _, err := fmt.Fprintf(env.Out, "---\n%s", print(tree.Records[namespace])); err != nil {
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
	f.registerSite(c)
	c.Flags().StringVarP(&what, "output", "o", "component", "component or record")
	return c
}

var renderings = map[string]func(checkpoint.Record) []byte{
	"component": checkpoint.Record.Component,
	"record":    checkpoint.Record.Format,
}

// tree reads what the branch declares for the site.
func (f *flags) tree(env Env) (tree checkpoint.Tree, err error) {
	c, err := f.config()
	if err != nil {
		return tree, err
	}
	ctx := context.Background()
	r, _, err := openRepository(ctx, opener(env, c, true))
	if err != nil {
		return tree, err
	}
	defer closed(&err, site.Parts{Repository: r})
	_, _, tree, err = readSite(ctx, c, r)
	return tree, err
}

// readSite reads the site's policy and what is declared for it, at the tip of
// the branch.
func readSite(ctx context.Context, c config.Config, r repo.Repository) (tip string, set policy.Set, tree checkpoint.Tree, err error) {
	if tip, _, err = r.Heads(ctx); err != nil {
		return tip, set, tree, err
	}
	directory, file := checkpoint.Directory(c.Site), c.Repository.PolicyFile
	objects, err := r.Read(ctx, tip, nil, directory, file)
	if err != nil {
		return tip, set, tree, err
	}
	if set, err = site.Tick(c, site.Parts{}).ParsePolicy(file, objects[file].Files[file]); err != nil {
		return tip, set, tree, err
	}
	tree, err = tick.Tree(c.Site, objects[directory])
	return tip, set, tree, err
}
