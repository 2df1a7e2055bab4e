package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/diff"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/units"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A comparison contains the flags of diff.
type comparison struct {
	flags
	targets
	tree   string
	output output[diff.Report]
}

func newDiff(env Env) *cobra.Command {
	var d comparison
	c := &cobra.Command{
		Use:   "diff [TARGET...]",
		Short: "Compare the live cluster with the levels in git",
		Long: `"gitlatch diff" samples the cluster once and compares each workload with its
level in git. Each level has an upper and a lower threshold. A workload is in
sync while its replica count is between both thresholds. For example, a workload
with 1,874 live pods is in sync with a level of 2,000.

A workload is pending if its replica count has crossed a threshold of its level.
A workload is waiting while a stabilization window, such as 26 hours, delays the
change to a lower level. While a workload is frozen, gitlatch does not change
its level. The column WHY shows the reason. Waiting and frozen workloads are not
differences.

"gitlatch diff" does not read the site's timers, pauses and opt-outs. The
command writes nothing. Without targets, the table omits workloads that are in
sync. The table then also omits workloads for which gitlatch writes no levels.

In CI, use "--tree ." to compare the cluster with the files of a pull request.

Exit status:
  0  No workload differs from its entry in git.
  1  At least one workload differs from its entry in git.
  2  The command could not read some data, such as objects of the cluster.` + targetWords,
		Example: `  # Compare all workloads of the site
  gitlatch diff -c prod-eu.yaml

  # Compare one namespace and one workload
  gitlatch diff shop pay/ledger -c prod-eu.yaml

  # Compare the files of a pull request
  gitlatch diff --tree . -c prod-eu.yaml`,
		RunE: timed(longest, func(ctx context.Context, args []string) error { return d.run(ctx, env, args) }),
	}
	d.register(c, env)
	d.registerTargets(c, &d.flags)
	c.Flags().StringVar(&d.tree, "tree", "", "path of a local git checkout that the command reads instead of the repository")
	d.output.register(c, diff.Report.Table, nil)
	return c
}

func (d *comparison) run(ctx context.Context, env Env, args []string) error {
	targets, err := d.read(args)
	if err != nil {
		return err
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

// look reads the cluster and git, and compares them.
func (d *comparison) look(ctx context.Context, env Env, c config.Config) (found diff.Report, err error) {
	open := opener(env, c, true)
	sampler, err := open.Cluster(ctx)
	if err != nil {
		return found, err
	}
	side := declaredSide{config: c}
	if d.tree == "" {
		if side.repository, side.proposals, err = open.Repository(ctx); err != nil {
			return found, err
		}
		defer closed(&err, local.Parts{Repository: side.repository})
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

// named limits a report to the targets.
func named(r diff.Report, targets []units.Target) (diff.Report, error) {
	if len(targets) == 0 {
		return r, nil
	}
	ids := slices.Compact(lists.Map(r.Rows, func(row diff.Row) workload.ID { return row.ID }))
	var wanted []workload.ID
	for _, t := range targets {
		meant, err := find("the site has", t, ids)
		if err != nil && !(t.All() && r.Tree.Broken[t.Namespace] != nil) {
			return r, err
		}
		wanted = append(wanted, meant...)
	}
	return r.Only(func(id workload.ID) bool { return slices.Contains(wanted, id) }, lists.Map(targets, units.Target.String)), nil
}
