package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/units"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// targets contain the flag that selects workloads of a site.
type targets struct{ namespace string }

// targetWords describe targets in the help.
const targetWords = `

A TARGET is NAMESPACE, NAMESPACE/NAME or NAMESPACE/KIND/NAME. If you use -n,
write the targets without the namespace. For example, "-n shop web" selects
shop/web. Without targets, "-n shop" selects every workload in shop.`

// workloadWords describe the target of a command for one workload.
const workloadWords = `

TARGET is NAMESPACE/NAME or NAMESPACE/KIND/NAME. If you use -n, write TARGET
without the namespace. For example, "-n shop web" selects shop/web.`

// registerTargets adds the flag -n to a command with any targets.
func (t *targets) registerTargets(c *cobra.Command, f *flags) {
	t.registerNames(c, f, "namespace of the targets (without targets, the command selects all workloads in the namespace)", t.offered)
}

// registerWorkload adds the flag -n to a command for one workload.
func (t *targets) registerWorkload(c *cobra.Command, f *flags) {
	t.registerNames(c, f, "namespace of the workload", t.workloads)
}

// registerNames adds the flag -n, and completes targets with the words of offered.
func (t *targets) registerNames(c *cobra.Command, f *flags, usage string, offered func(known []workload.ID) []string) {
	c.Flags().StringVarP(&t.namespace, "namespace", "n", "", usage)
	names := func(of func(known []workload.ID) []string) cobra.CompletionFunc {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			git, err := f.declared(f.env)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return of(declares(git.tree)), cobra.ShellCompDirectiveNoFileComp
		}
	}
	complete(c, "namespace", names(namespaces))
	c.ValidArgsFunction = names(offered)
}

// offered returns the words that complete a target: the namespaces and the workloads.
// With -n, it returns only the names of workloads in the namespace.
func (t *targets) offered(known []workload.ID) []string {
	if t.namespace == "" {
		return slices.Concat(namespaces(known), t.workloads(known))
	}
	return t.workloads(known)
}

// workloads returns the words that complete a workload.
func (t *targets) workloads(known []workload.ID) []string {
	if t.namespace == "" {
		return slices.Compact(lists.Map(known, workload.ID.Short))
	}
	return slices.Compact(lists.Map(inside(t.namespace, known), func(id workload.ID) string { return id.Name }))
}

// read parses the targets in the arguments.
func (t *targets) read(args []string) ([]units.Target, error) {
	return units.ParseTargets(t.namespace, args)
}

// one parses the target of a command for one workload.
func (t *targets) one(arg string) (units.Target, error) {
	all, err := t.read([]string{arg})
	if err != nil {
		return units.Target{}, err
	}
	return all[0], nil
}

// find returns the workloads that match a target. place starts an error text, for example
// "the site has" or "the files have".
func find(place string, t units.Target, among []workload.ID) ([]workload.ID, error) {
	var meant []workload.ID
	for _, id := range among {
		if t.Covers(id) && !slices.Contains(meant, id) {
			meant = append(meant, id)
		}
	}
	switch {
	case len(meant) == 0 && t.All():
		called := lists.Filter(among, func(id workload.ID) bool { return id.Name == t.Namespace })
		return nil, fmt.Errorf("namespace %q: %s no workload in it%s", t, place, cmp.Or(listed("; did you mean ", lists.Map(called, workload.ID.Short)), listed("; there are the namespaces ", namespaces(among)), ", or in any other namespace"))
	case len(meant) == 0:
		return nil, fmt.Errorf("workload %q: %s no workload with this name%s", t, place, nearest(t, among))
	case len(meant) > 1 && !t.All():
		return nil, fmt.Errorf("workload %q: several workloads match. Give one of %s", t, strings.Join(lists.Map(meant, workload.ID.String), ", "))
	}
	return meant, nil
}

// findAll returns the workloads of the site that match the targets.
func findAll(all []units.Target, among []workload.ID) (meant []workload.ID, err error) {
	for _, t := range all {
		ids, err := find("the site has", t, among)
		if err != nil {
			return nil, err
		}
		meant = append(meant, ids...)
	}
	return meant, nil
}

// findOne returns the one workload that matches a target.
func findOne(place string, t units.Target, among []workload.ID) (workload.ID, error) {
	meant, err := find(place, t, among)
	switch {
	case err != nil:
		return workload.ID{}, err
	case t.All():
		return workload.ID{}, fmt.Errorf("give one workload of namespace %s%s", t, listed(": ", lists.Map(meant, workload.ID.Short)))
	}
	return meant[0], nil
}

// namespaces returns the namespaces of workloads, sorted.
func namespaces(of []workload.ID) []string {
	known := map[string]bool{}
	for _, id := range of {
		known[id.Namespace] = true
	}
	return slices.Sorted(maps.Keys(known))
}

// inside returns the workloads in a namespace.
func inside(namespace string, among []workload.ID) []workload.ID {
	return lists.Filter(among, func(id workload.ID) bool { return id.Namespace == namespace })
}

// nearest returns the end of an error about an unknown name: the other workloads in the
// namespace, or the namespaces with a workload.
func nearest(t units.Target, among []workload.ID) string {
	names := lists.Map(inside(t.Namespace, among), workload.ID.Short)
	return cmp.Or(listed("; there are ", names), ", or any other in namespace "+t.Namespace+listed("; there are the namespaces ", namespaces(among)))
}

// listed returns lead and at most ten names, or "" without names.
func listed(lead string, names []string) string {
	names = slices.Compact(names)
	if len(names) == 0 {
		return ""
	}
	if most := 10; len(names) > most {
		names = append(names[:most:most], "...")
	}
	return lead + strings.Join(names, ", ")
}
