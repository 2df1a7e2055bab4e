package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/diff"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/grammar"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A comparison is what diff was asked for.
type comparison struct {
	flags
	targets
	ref, tree string
	output    output[diff.Report]
}

func newDiff(env Env) *cobra.Command {
	var d comparison
	c := &cobra.Command{
		Use:   "diff [TARGET...]",
		Short: "Hold what runs against what git declares, as the policy sees it",
		Long: `Looks at the cluster once and says where it has left what git declares. A count
between the thresholds of its level is in sync with it: under series 1-2-5 1,874
pods are, with 2,000 declared. What is beyond one is pending: git says something
else some samples later. Where the policy keeps a level for hours, as that of a
day's peak through the night, it is waiting, and no difference. What a tick
would wait for is not known here, since no state is read: neither timers nor
holds, nor whose entry a person deleted. Nothing is written.

Without targets only what a person should hear of is listed; what is named is
listed in any case.

In the CI of a pull request --tree . holds the cluster against the files that
were checked out, and -o github prints annotations at their lines, the worst
first. Its host shows ten warnings and ten notices of a step.

It exits with 0 where nothing differs, with 1 where anything does, and with 2
where it could not look at all of it.` + targetWords,
		Example: `  gitlatch diff -c prod-eu.yaml
  gitlatch diff shop pay/ledger -c prod-eu.yaml
  gitlatch diff --tree . -o github -c prod-eu.yaml`,
		RunE: timed(longest, func(ctx context.Context, args []string) error { return d.run(ctx, env, args) }),
	}
	d.register(c, env)
	d.registerTargets(c, &d.flags)
	c.Flags().StringVar(&d.ref, "ref", "", "branch or commit to compare with, instead of the site's branch")
	c.Flags().StringVar(&d.tree, "tree", "", "folder to compare with, as it was checked out; no repository is opened")
	d.output.register(c, diff.Report.Table, map[string]form[diff.Report]{"github": diff.Report.GitHub})
	return c
}

func (d *comparison) run(ctx context.Context, env Env, args []string) error {
	targets, err := d.read(args)
	if err != nil {
		return err
	}
	if d.ref != "" && d.tree != "" {
		return errors.New("--ref: --tree names what to compare with; give one of the two")
	}
	c, err := d.config()
	if err != nil {
		return err
	}
	report, err := d.look(ctx, env, c)
	if err != nil {
		return err
	}
	if report, err = named(report, targets); err != nil {
		return err
	}
	if err := errors.Join(d.output.write(env, report), report.Unseen()); err != nil {
		return err
	}
	return unless(!report.Differs())
}

// look reads both sides and compares them.
func (d *comparison) look(ctx context.Context, env Env, c config.Config) (found diff.Report, err error) {
	open := opener(env, c, true)
	sampler, err := open.Cluster(ctx)
	if err != nil {
		return found, err
	}
	side := declaredSide{config: c, ref: d.ref}
	if d.tree == "" {
		if side.repository, side.proposals, err = open.Repository(ctx); err != nil {
			return found, err
		}
		defer closed(&err, site.Parts{Repository: side.repository})
		err = side.readRepository(ctx)
	} else {
		err = side.readFolder(d.tree)
	}
	if err != nil {
		return found, err
	}
	side.tell(env)
	fleet, err := sampler.Sample(ctx, side.set.Kinds)
	if err != nil {
		return found, err
	}
	return diff.Compare(diff.Case{
		Site: c.Site, Set: side.set, Fleet: fleet, Tree: side.tree, Proposed: side.proposed, Against: side.at, Proposal: side.proposal,
	}), nil
}

// named narrows a report to what a person named.
func named(r diff.Report, targets []grammar.Target) (diff.Report, error) {
	if len(targets) == 0 {
		return r, nil
	}
	ids := slices.Compact(each.Of(r.Rows, func(row diff.Row) workload.ID { return row.ID }))
	var wanted []workload.ID
	for _, t := range targets {
		meant, err := find("the site has", t, ids)
		if err != nil && !(t.All() && r.Tree.Broken[t.Namespace] != nil) {
			return r, err
		}
		wanted = append(wanted, meant...)
	}
	return r.Only(func(id workload.ID) bool { return slices.Contains(wanted, id) }, each.Of(targets, grammar.Target.String)), nil
}
