package admission

import (
	"fmt"
	"strings"
)

// A Rule is a right to objects of one resource.
type Rule struct {
	Namespace string // of the objects; "" is all namespaces and the cluster
	Group     string // "" is the core group
	Resource  string
	Verbs     []string
}

// ApplierRules returns the rights of the tool that applies the directory of a site: the
// bindings and the levels, not workloads. The API server also requires get on the
// ConfigMap of a binding. kubectl needs get, create and patch, Flux and Argo CD also list
// and watch, and pruning needs delete. They are not enough to change the policy.
//
// They are enough to delete any binding in the cluster, also the WatchBinding and bindings of
// other policies, because RBAC has no prefixes of names. A tool that prunes deletes only
// objects that it applied, so it keeps the WatchBinding.
func ApplierRules() []Rule {
	verbs := []string{"get", "list", "watch", "create", "patch", "delete"}
	return []Rule{
		{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicybindings", Verbs: verbs},
		{Namespace: Namespace, Resource: "configmaps", Verbs: verbs},
	}
}

// readerRules returns the rights to read the levels, which the file at Path grants. The
// rights to read the policy and the bindings are in infra/rbac.
func readerRules() []Rule {
	return []Rule{{Namespace: Namespace, Resource: "configmaps", Verbs: []string{"get", "list"}}}
}

// Applier returns the RBAC objects that grant ApplierRules to a service account.
func Applier(namespace, name string) []byte {
	return []byte(roles("gitlatch-applier", ApplierRules(), []subject{{Namespace: namespace, Name: name}}))
}

// A subject is a service account, or a group if Namespace is "".
type subject struct{ Namespace, Name string }

// readers are the subjects that read levels: the groups of infra/rbac, and the service
// accounts of infra/cluster.
var readers = []subject{
	{Name: "gitlatch:samplers"},
	{Name: "gitlatch:people"},
	{Name: "gitlatch:drillers"},
	{Namespace: "gitlatch", Name: "gitlatch"},
	{Namespace: "gitlatch", Name: "gitlatch-checks"},
}

// roles returns a role and a binding for each rule. Two rules of one namespace would have
// the same role.
func roles(name string, rules []Rule, subjects []subject) string {
	var objects []string
	for _, r := range rules {
		kind := "ClusterRole"
		metadata := fmt.Sprintf("{name: %s}", name)
		if r.Namespace != "" {
			kind = "Role"
			metadata = fmt.Sprintf("{name: %s, namespace: %s}", name, r.Namespace)
		}
		granted := fmt.Sprintf("{apiGroups: [%q], resources: [%s], verbs: [%s]}", r.Group, r.Resource, strings.Join(r.Verbs, ", "))
		objects = append(objects, fmt.Sprintf(roleText, kind, metadata, granted, name, subjectsText(subjects)))
	}
	return strings.Join(objects, "---\n")
}

func subjectsText(subjects []subject) string {
	text := ""
	for _, s := range subjects {
		if s.Namespace == "" {
			text += fmt.Sprintf("- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: %q}\n", s.Name)
			continue
		}
		text += fmt.Sprintf("- {kind: ServiceAccount, name: %q, namespace: %q}\n", s.Name, s.Namespace)
	}
	return text
}

const roleText = `apiVersion: rbac.authorization.k8s.io/v1
kind: %[1]s
metadata: %[2]s
rules:
- %[3]s
---
apiVersion: rbac.authorization.k8s.io/v1
kind: %[1]sBinding
metadata: %[2]s
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %[1]s, name: %[4]s}
subjects:
%[5]s`
