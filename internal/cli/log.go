package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/grammar"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// logCommits is how many commits are looked through where nobody says.
const logCommits = 1000

// A lookBack is what log was asked for.
type lookBack struct {
	flags
	targets
	changes, commits int
	since            grammar.Moment
	output           output[history.Log]
}

func newLog(env Env) *cobra.Command {
	var l lookBack
	c := &cobra.Command{
		Use:   "log TARGET",
		Short: "Tell from git how a checkpoint came to be what it is",
		Long: `Lists the commits of the site's branch that changed what it declares of a
workload, the newest first: level, bounds and milestones of rollouts, who
changed them, and why. It reads git, and nothing else. A merge stands for what
it merged, as the branch saw it.

Commits are read one by one until there are enough; where --commits of them were
not enough, it says how far it came. What git no longer declares is asked for as
namespace/kind/name; what no commit ever declared is refused.` + workloadWords,
		Example: `  gitlatch log shop/web -c prod-eu.yaml
  gitlatch log shop/web --limit 3 --since 30d -c prod-eu.yaml`,
		Args: arguments(cobra.ExactArgs(1), "one workload, as shop/web"),
		RunE: timed(longest, func(ctx context.Context, args []string) error { return l.run(ctx, env, args[0]) }),
	}
	l.registerSite(c, env)
	l.registerWorkload(c, &l.flags)
	c.Flags().IntVar(&l.changes, "limit", 20, "maximum number of changes to list; 0 lists all")
	c.Flags().Var(&l.since, "since", "only what is not older: a time as 2026-03-02T18:00:00Z, or how long ago, as 72h or 30d")
	c.Flags().IntVar(&l.commits, "commits", logCommits, "commits to look through at most")
	l.output.register(c, history.Log.Table, nil)
	return c
}

func (l *lookBack) run(ctx context.Context, env Env, text string) (err error) {
	named, err := l.one(text)
	if err != nil {
		return err
	}
	if l.changes < 0 || l.commits < 1 {
		return errors.New("--limit must not be negative, and --commits at least 1")
	}
	q := history.Query{Changes: l.changes, Commits: l.commits}
	if l.since.String() != "" {
		q.Since = l.since.Before(env.Clock())
	}
	c, err := l.config()
	if err != nil {
		return err
	}
	r, _, err := opener(env, c, true).Repository(ctx)
	if err != nil {
		return err
	}
	defer closed(&err, site.Parts{Repository: r})
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
		err = cmp.Or(unread, fmt.Errorf("workload %q: git declares none by this name, nor did in any of %s%s", q.ID, term.Count(found.Looked, "commit"), nearest(named, declares(tree))))
	}
	if err != nil {
		return err
	}
	return l.output.write(env, found)
}

// declares are the workloads that git declares something of.
func declares(tree checkpoint.Tree) []workload.ID {
	return slices.SortedFunc(maps.Keys(tree.Entries()), workload.Compare)
}

// meant is the workload that a person means among those that git declares.
func meant(named grammar.Target, tree checkpoint.Tree) (workload.ID, error) {
	id, err := findOne("git declares", named, declares(tree))
	switch broken := tree.Broken[named.Namespace]; {
	case err != nil && broken != nil:
		err = fmt.Errorf("%w; ask for namespace/kind/name while it is so", broken)
	case err != nil && !named.All():
		err = fmt.Errorf("%w; gitlatch explain %s says why what runs is not declared, and what is no longer declared is asked for as namespace/kind/name", err, named)
	}
	return id, err
}
