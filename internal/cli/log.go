package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/units"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// logCommits is the number of commits that log reads. A site makes at most 24 commits a
// day by its budget, so they are six weeks of its branch.
const logCommits = 1000

// logChanges is the number of changes that log lists without --since: one screen.
const logChanges = 20

// A lookBack contains the flags of log.
type lookBack struct {
	flags
	targets
	since  units.Moment
	output output[history.Log]
}

func newLog(env Env) *cobra.Command {
	var l lookBack
	c := &cobra.Command{
		Use:   "log TARGET",
		Short: "Show the history of a workload's level",
		Long: `"gitlatch log" lists the commits on the site's branch that changed a workload's
entry. The newest commit is first. For each commit, the command prints the
author, the reason and the changes. Changes can affect the level, the minimum
and maximum replicas, and the rollout milestone. The list shows a merge as one
change. The command does not connect to the cluster.

The command reads at most 1,000 commits. If the command reads only part of the
branch, it prints the date of the oldest commit that it read. If the workload no
longer has an entry in git, write NAMESPACE/KIND/NAME.` + workloadWords,
		Example: `  # List the last 20 changes
  gitlatch log shop/web -c prod-eu.yaml

  # List all changes from the last 30 days
  gitlatch log shop/web --since 30d -c prod-eu.yaml`,
		Args: arguments(cobra.ExactArgs(1), "one workload, as shop/web"),
		RunE: timed(longest, func(ctx context.Context, args []string) error { return l.run(ctx, env, args[0]) }),
	}
	l.registerSite(c, env)
	l.registerWorkload(c, &l.flags)
	c.Flags().Var(&l.since, "since", "time of the oldest change to list, such as 2026-03-02T18:00:00Z, or its age, such as 72h or 30d (default the last 20 changes)")
	l.output.register(c, history.Log.Table, nil)
	return c
}

func (l *lookBack) run(ctx context.Context, env Env, text string) (err error) {
	named, err := l.one(text)
	if err != nil {
		return err
	}
	q := history.Query{Changes: logChanges, Commits: logCommits}
	if l.since.String() != "" {
		q.Changes, q.Since = 0, l.since.Before(env.Clock())
	}
	c, err := l.config()
	if err != nil {
		return err
	}
	r, _, err := opener(env, c, true).Repository(ctx)
	if err != nil {
		return err
	}
	defer closed(&err, local.Parts{Repository: r})
	tip, _, err := r.Heads(ctx)
	if err != nil {
		return err
	}
	q.Site = c.Site
	tree, _, unread := ledger.TreeAt(ctx, r, tip, c.Site)
	if err := l.elsewhere(ctx, r, tip, c.Site, tree); err != nil {
		return err
	}
	if id, whole := named.ID(); whole {
		q.ID, err = id, id.Validate()
	} else if err = unread; err == nil {
		q.ID, err = meant(named, tree)
	}
	if err != nil {
		return err
	}
	found, err := history.Of(ctx, r, tip, q)
	if err == nil && len(found.Changes) == 0 && !found.Cut && q.Since.IsZero() {
		err = cmp.Or(unread, fmt.Errorf("workload %q: git has no workload with this name, now or in the last %s%s", q.ID, term.Count(found.Looked, "commit"), nearest(named, declares(tree))))
	}
	if err != nil {
		return err
	}
	return l.output.write(env, found)
}

// declares returns the workloads with an entry in git.
func declares(tree checkpoint.Tree) []workload.ID {
	return slices.SortedFunc(maps.Keys(tree.Entries()), workload.Compare)
}

// meant returns the workload with an entry in git that matches a target.
func meant(named units.Target, tree checkpoint.Tree) (workload.ID, error) {
	id, err := findOne("git has", named, declares(tree))
	switch broken := tree.Broken[named.Namespace]; {
	case err != nil && broken != nil:
		err = fmt.Errorf("%w. Until it is fixed, give the workload as namespace/kind/name", broken)
	case err != nil:
		err = fmt.Errorf("%w. For a live workload, run \"gitlatch explain NAMESPACE/NAME\". For a workload that git no longer contains, use NAMESPACE/KIND/NAME", err)
	}
	return id, err
}
