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
	"github.com/gitlatch/gitlatch/internal/diff"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A comparison is what diff was asked for.
type comparison struct {
	flags
	ref, tree string
	output    string
}

func newDiff(env Env) *cobra.Command {
	var d comparison
	c := &cobra.Command{
		Use:   "diff [namespace | namespace/name | namespace/kind/name ...]",
		Short: "Hold what runs against what git declares, as the policy sees it",
		Long: `Looks at the cluster once and says where it has left what git declares. A count
between the thresholds of its level is in sync with it: under series 1-2-5 1,874
pods are, with 2,000 declared. What is beyond one is pending: git says something
else some samples later. Where the policy keeps a level for hours, as that of a
day's peak through the night, it is waiting, and no difference. What a tick
would wait for is not known here, since no state is read: neither timers nor
holds, nor whose entry a person deleted. Nothing is written.

Without arguments only what a person should hear of is listed; what is named is
listed in any case.

In the CI of a pull request --tree . holds the cluster against the files that
were checked out, and -o github prints annotations at their lines, the worst
first. Its host shows ten warnings and ten notices of a step.

It exits with 0 where nothing differs, with 1 where anything does, and with 2
where it could not look at all of it.`,
		RunE: func(c *cobra.Command, args []string) error {
			return trouble(within(c.Context(), longest, func(ctx context.Context) error { return d.run(ctx, env, args) }))
		},
	}
	c.SetContext(context.Background())
	troubled(c)
	d.register(c)
	c.Flags().StringVar(&d.ref, "ref", "", "branch or commit to compare with, instead of the site's branch")
	c.Flags().StringVar(&d.tree, "tree", "", "folder to compare with, as it was checked out; no repository is opened")
	c.Flags().StringVarP(&d.output, "output", "o", "table", "table, json, yaml or github")
	return c
}

func (d *comparison) run(ctx context.Context, env Env, args []string) error {
	write, ok := diffOutputs[d.output]
	if !ok {
		return fmt.Errorf("--output: must be one of %s, got %q", strings.Join(slices.Sorted(maps.Keys(diffOutputs)), ", "), d.output)
	}
	if d.ref != "" && d.tree != "" {
		return errors.New("--ref: --tree names what to compare with; give one of the two")
	}
	c, err := d.config()
	if err != nil {
		return err
	}
	found, err := d.look(ctx, env, c)
	if err != nil {
		return err
	}
	found.named = len(args) > 0
	if found.Report, err = named(found.Report, args); err != nil {
		return err
	}
	if err := write(env.Out, found, tty.StyleFor(env.Out, env.Getenv)); err != nil {
		return err
	}
	if err := unseen(found.Report); err != nil {
		return err
	}
	if found.Differs() {
		return &exit{status: 1}
	}
	return nil
}

// A difference is a report, and where its sides come from.
type difference struct {
	diff.Report
	against  string // what git was read at: a commit, or a folder
	proposal string // URL or branch of what is proposed; "" where nothing is
	named    bool   // only workloads that a person named
}

// look reads both sides and compares them.
func (d *comparison) look(ctx context.Context, env Env, c config.Config) (found difference, err error) {
	open := opener(env, c, true)
	sampler, err := open.Cluster(ctx)
	if err != nil {
		return found, chooseCluster(c, err)
	}
	side := declaredSide{config: c, ref: d.ref}
	if d.tree == "" {
		if side.repository, side.proposals, err = openRepository(ctx, open); err != nil {
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
	fleet, err := sampler.Sample(ctx)
	if err != nil {
		return found, err
	}
	found = difference{against: side.at, proposal: side.proposal}
	found.Report = diff.Compare(diff.Case{Site: c.Site, Set: side.set, Fleet: fleet, Tree: side.tree, Proposed: side.proposed})
	return found, nil
}

// named narrows a report to what a person named: namespaces and workloads.
func named(r diff.Report, args []string) (diff.Report, error) {
	if len(args) == 0 {
		return r, nil
	}
	var ids []workload.ID
	for _, row := range r.Rows {
		ids = append(ids, row.ID)
	}
	ids = slices.Compact(ids)
	wanted := map[workload.ID]bool{}
	for _, text := range args {
		if strings.Contains(text, "/") {
			id, err := find(text, ids)
			if err != nil {
				return r, err
			}
			wanted[id] = true
			continue
		}
		before := len(wanted)
		for _, id := range ids {
			if id.Namespace == text {
				wanted[id] = true
			}
		}
		if len(wanted) == before && r.Tree.Broken[text] == nil && !slices.ContainsFunc(ids, func(id workload.ID) bool { return id.Namespace == text }) {
			return r, fmt.Errorf("namespace %q: nothing of the site is in it", text)
		}
	}
	namespaces := map[string]bool{}
	for id := range wanted {
		namespaces[id.Namespace] = true
	}
	broken := maps.Clone(r.Tree.Broken)
	maps.DeleteFunc(broken, func(namespace string, _ error) bool {
		return !namespaces[namespace] && !slices.Contains(args, namespace)
	})
	r.Tree.Broken = broken
	return r.Only(func(id workload.ID) bool { return wanted[id] }), nil
}

// unseen joins what could not be read of either side.
func unseen(r diff.Report) error {
	var problems []error
	for _, part := range r.Fleet.Unread {
		problems = append(problems, &workload.UnreadError{Unread: part})
	}
	for _, namespace := range r.Broken() {
		problems = append(problems, r.Tree.Broken[namespace])
	}
	return errors.Join(append(problems, r.Tree.Unproven)...)
}

// placed is where git declares what a row is of: the line of its reading, the
// record where that has none, or nothing.
func placed(places map[workload.ID]checkpoint.Place, tree checkpoint.Tree, siteName string, id workload.ID) checkpoint.Place {
	if at, ok := places[id]; ok {
		return at
	}
	if file := checkpoint.RecordPath(siteName, id.Namespace); tree.Has(file) {
		return checkpoint.Place{File: file}
	}
	return checkpoint.Place{}
}
