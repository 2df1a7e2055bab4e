package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A role contains the rights to custom kinds. There is one for each role in
// infra/rbac.
type role struct {
	name    string
	purpose string
	groups  []string
	account string // the service account of infra/cluster with this role; "" for none
	scales  bool   // also reads and writes the scale subresource
	defines bool   // also reads the CustomResourceDefinitions
}

var roles = []role{
	{name: "sampler", purpose: "A tick lists them.", groups: []string{"gitlatch:samplers"}, account: "gitlatch"},
	{name: "doctor", purpose: "gitlatch doctor and drills list these kinds, and read their CustomResourceDefinitions.", groups: []string{"gitlatch:people", "gitlatch:drillers"}, account: "gitlatch-checks", defines: true},
	{name: "restorer", purpose: "A restore lists them, and raises their scale.", groups: []string{"gitlatch:restorers"}, scales: true},
}

// kindRights returns the RBAC objects for the custom kinds of a site; nil without kinds. A
// ClusterRoleBinding grants no access until its group has members.
func kindRights(site string, kinds workload.Kinds) []byte {
	var b strings.Builder
	for _, r := range roles {
		if len(kinds) > 0 {
			r.write(&b, site, kinds)
		}
	}
	return []byte(b.String())
}

func (r role) write(b *strings.Builder, site string, kinds workload.Kinds) {
	name := "gitlatch-" + r.name + "-" + site
	fmt.Fprintf(b, "---\n# %s\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: %s}\nrules:\n", r.purpose, name)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		o := kinds[kind]
		fmt.Fprintf(b, "- {apiGroups: [%s], resources: [%s], verbs: [list]}\n", o.Group, o.Resource)
		if r.scales {
			fmt.Fprintf(b, "- {apiGroups: [%s], resources: [%s/scale], verbs: [get, update]}\n", o.Group, o.Resource)
		}
		if r.defines {
			fmt.Fprintf(b, "- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [%s], verbs: [get]}\n", o.FullResource())
		}
	}
	fmt.Fprintf(b, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: %[1]s}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}\nsubjects:\n", name)
	for _, group := range r.groups {
		fmt.Fprintf(b, "- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: %q}\n", group)
	}
	if r.account != "" {
		fmt.Fprintf(b, "- {kind: ServiceAccount, name: %s, namespace: gitlatch}\n", r.account)
	}
}
