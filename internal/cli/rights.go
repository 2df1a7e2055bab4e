package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/workload"
)

func newRights(env Env, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "rights",
		Short: "Print RBAC roles for custom kinds",
		Long: `"gitlatch render rights" prints ClusterRoles for the custom kinds in the policy
on the branch. The command also prints bindings that grant these ClusterRoles to
the groups of infra/rbac. With these ClusterRoles, ticks, users and drills can
list the custom kinds, and a restore can change their scale. A binding grants no
access until its group has members.`,
		Example: "  gitlatch render rights -c prod-eu.yaml | kubectl apply -f -",
		Args:    arguments(cobra.NoArgs, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			git, err := f.declared(env)
			if err != nil {
				return err
			}
			if len(git.set.Kinds) == 0 {
				fmt.Fprintln(env.Err, "the policy on the branch has no kinds, so the rights in infra/rbac are enough")
				return nil
			}
			for _, r := range roles {
				if err := r.print(env.Out, git.config.Site, git.set.Kinds); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// A role contains the rights of groups to custom kinds. There is one for each role in
// infra/rbac.
type role struct {
	name    string
	purpose string
	groups  []string
	scales  bool // also reads and writes the scale subresource
	defines bool // also reads the CustomResourceDefinitions
}

var roles = []role{
	{name: "sampler", purpose: "A tick lists them.", groups: []string{"gitlatch:samplers"}},
	{name: "doctor", purpose: "Users and drills list them, and read their CustomResourceDefinition.", groups: []string{"gitlatch:people", "gitlatch:drillers"}, defines: true},
	{name: "restorer", purpose: "A restore lists them, and raises their scale.", groups: []string{"gitlatch:restorers"}, scales: true},
}

func (r role) print(to io.Writer, site string, kinds workload.Kinds) error {
	name := "gitlatch-" + r.name + "-" + site
	var b strings.Builder
	fmt.Fprintf(&b, "---\n# %s\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: %s}\nrules:\n", r.purpose, name)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		o := kinds[kind]
		fmt.Fprintf(&b, "- {apiGroups: [%s], resources: [%s], verbs: [list]}\n", o.Group, o.Resource)
		if r.scales {
			fmt.Fprintf(&b, "- {apiGroups: [%s], resources: [%s/scale], verbs: [get, update]}\n", o.Group, o.Resource)
		}
		if r.defines {
			fmt.Fprintf(&b, "- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [%s], verbs: [get]}\n", o.FullResource())
		}
	}
	fmt.Fprintf(&b, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: %[1]s}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}\nsubjects:\n", name)
	for _, group := range r.groups {
		fmt.Fprintf(&b, "- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: %q}\n", group)
	}
	_, err := io.WriteString(to, b.String())
	return err
}
