package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/foreign"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// logCommits is how many commits are looked through where nobody says.
const logCommits = 1000

// A lookBack is what log was asked for.
type lookBack struct {
	flags
	changes, commits int
	since, output    string
}

func newLog(env Env) *cobra.Command {
	var l lookBack
	c := &cobra.Command{
		Use:   "log namespace/name",
		Short: "Tell from git how a checkpoint came to be what it is",
		Long: `Lists the commits of the site's branch that changed what it declares of a
workload, the newest first: level, bounds and milestones of rollouts, who
changed them, and why. It reads git, and nothing else. A merge stands for what
it merged, as the branch saw it.

Commits are read one by one until there are enough; where --commits of them were
not enough, it says how far it came. What git no longer declares is asked for as
namespace/kind/name; what no commit ever declared is refused.`,
		Args: arguments(cobra.ExactArgs(1), "one workload, as shop/web"),
		RunE: func(c *cobra.Command, args []string) error {
			return within(c.Context(), longest, func(ctx context.Context) error { return l.run(ctx, env, args[0]) })
		},
	}
	c.SetContext(context.Background())
	l.registerSite(c)
	c.Flags().IntVarP(&l.changes, "number", "n", 20, "changes to list; 0 is all")
	c.Flags().StringVar(&l.since, "since", "", "only what is not older: a time as 2026-03-02T18:00:00Z, or a span back from now as 72h or 30d")
	c.Flags().IntVar(&l.commits, "commits", logCommits, "commits to look through at most")
	c.Flags().StringVarP(&l.output, "output", "o", "table", "table or json")
	return c
}

func (l *lookBack) run(ctx context.Context, env Env, text string) (err error) {
	write, ok := logOutputs[l.output]
	if !ok {
		return fmt.Errorf("--output: must be table or json, got %q", l.output)
	}
	if l.changes < 0 || l.commits < 1 {
		return errors.New("--number must not be negative, and --commits at least 1")
	}
	q := history.Query{Changes: l.changes, Commits: l.commits}
	if q.Since, err = back(l.since, env.Clock()); err != nil {
		return err
	}
	c, err := l.config()
	if err != nil {
		return err
	}
	r, _, err := openRepository(ctx, opener(env, c, true))
	if err != nil {
		return err
	}
	defer closed(&err, site.Parts{Repository: r})
	side := declaredSide{config: c, repository: r}
	if q.Site = c.Site; strings.Count(text, "/") == 2 {
		q.ID, err = workload.ParseID(text)
		if err == nil {
			side.at, _, err = r.Heads(ctx)
		}
	} else {
		q.ID, err = side.named(ctx, text)
	}
	if err != nil {
		return err
	}
	found, err := history.Of(ctx, r, side.at, q)
	if err == nil && len(found.Changes) == 0 && !found.Cut && q.Since.IsZero() {
		err = side.never(ctx, q.ID, found.Looked)
	}
	if err != nil {
		return err
	}
	return write(env.Out, look{found, c.Site, q}, tty.StyleFor(env.Out, env.Getenv))
}

// named finds what a person means among what the branch declares.
func (s *declaredSide) named(ctx context.Context, text string) (workload.ID, error) {
	tip, _, err := s.repository.Heads(ctx)
	if err != nil {
		return workload.ID{}, err
	}
	s.at = tip
	tree, err := s.treeAt(ctx, tip)
	if err != nil {
		return workload.ID{}, err
	}
	ids := slices.SortedFunc(maps.Keys(tree.Entries()), workload.Compare)
	id, err := find(text, ids)
	namespace, _, _ := strings.Cut(text, "/")
	if broken := tree.Broken[namespace]; broken != nil && err != nil {
		return id, fmt.Errorf("%w; ask for namespace/kind/name while it is so", broken)
	}
	if err != nil {
		return id, fmt.Errorf("%w; what is no longer declared is asked for as namespace/kind/name", err)
	}
	return id, nil
}

// never says that no commit, of all that there are, declared a workload, and what
// the branch declares.
func (s *declaredSide) never(ctx context.Context, id workload.ID, looked int) error {
	tree, err := s.treeAt(ctx, s.at)
	if err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(tree.Entries()), workload.Compare)
	return fmt.Errorf("workload %q: git declares none by this name, nor did in any of %s%s", id, term.Count(looked, "commit"), nearest(id.String(), ids))
}

// back is a time, or one that is a span before now; zero where nobody says.
func back(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	var days int
	if n, err := fmt.Sscanf(text, "%dd", &days); err == nil && n == 1 && text == fmt.Sprintf("%dd", days) && days >= 0 {
		return now.AddDate(0, 0, -days), nil
	}
	span, err := time.ParseDuration(text)
	if err != nil || span < 0 {
		return time.Time{}, fmt.Errorf("--since: must be a time as 2026-03-02T18:00:00Z or a span as 72h or 30d, got %q", text)
	}
	return now.Add(-span), nil
}

// A look is a history, and what was asked.
type look struct {
	history.Log
	site  string
	query history.Query
}

// by is who made a change: gitlatch, or a person by name.
func by(c history.Change) string {
	if c.Ours {
		return "gitlatch"
	}
	name, _, _ := strings.Cut(c.Author, " <")
	return foreign.Line(name)
}
