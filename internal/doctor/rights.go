package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A right is a right to list the objects of a resource. namespace is "" for all namespaces.
type right struct{ namespace, group, resource string }

// String returns the resource with its group.
func (r right) String() string { return strings.TrimSuffix(r.resource+"."+r.group, ".") }

// forbidden reports whether the reason of a failed reading is a missing right.
func forbidden(why string) bool { return strings.Contains(why, "forbidden") }

// remedy returns the remedy for a reading that failed.
func remedy(why string) string {
	if forbidden(why) {
		return "grant the rights that the finding missing-rights lists"
	}
	return "correct the cause, and run \"gitlatch doctor\" again"
}

// sampled are the API groups of the resources that only a sample lists.
var sampled = map[string]string{
	"horizontalpodautoscalers": "autoscaling", "scaledobjects": "keda.sh", "canaries": "flagger.app",
	"replicasets": "apps", "controllerrevisions": "apps",
}

// denied returns the missing rights.
func (c Case) denied() (rights []right) {
	rights = slices.Clone(c.Cluster.denied)
	for _, u := range c.Fleet.Unread {
		group, only := sampled[u.Part]
		if only && forbidden(u.Why) {
			rights = append(rights, right{"", group, u.Part})
		}
	}
	if c.Preview {
		return rights // it does not depend on the objects of gitlatch
	}
	l := c.Cluster.Levels
	for _, one := range []struct {
		why string
		right
	}{
		{l.Bindings.Why(), right{"", "admissionregistration.k8s.io", "mutatingadmissionpolicybindings"}},
		{l.Policy.Why(), right{"", "admissionregistration.k8s.io", "mutatingadmissionpolicies"}},
		{l.ConfigMaps.Why(), right{admission.Namespace, "", "configmaps"}},
	} {
		if forbidden(one.why) {
			rights = append(rights, one.right)
		}
	}
	return rights
}

// explains reports whether the finding about missing rights is about a part that could not be
// read.
func (r Report) explains(u workload.Unread) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Trap == MissingRights && slices.ContainsFunc(f.Subjects, func(s string) bool { return s == u.Part || strings.HasPrefix(s, u.Part+".") })
	})
}

// missingRights reports all missing rights to read as one finding, with the manifest that grants
// them, and all missing rights to create as another one.
func (e *examination) missingRights() {
	for _, one := range []struct {
		rights   []right
		does     string
		prefix   string // of the names of the roles
		verbs    string
		subjects string
		fix      string
	}{
		{e.denied(), "read", "gitlatch-doctor", "get, list", readers, "apply infra/rbac/doctor and checkpoints/admission, or this manifest:"},
		{e.untried(), "create", "gitlatch-try", "create", people, "apply this manifest for the try. Then delete it, because it also allows real creations:"},
	} {
		if len(one.rights) > 0 {
			e.add(Finding{Trap: MissingRights, Basis: Observed, Subjects: lists.Map(one.rights, right.String),
				Text: "doctor may not " + one.does + " these resources, so the answers that depend on them are unknown.",
				Fix:  one.fix, Manifest: grant(one.rights, one.prefix, one.verbs, one.subjects)})
		}
	}
}

// people is the group of infra/rbac for users, and readers are all subjects that run doctor and
// drills: the groups, and the service account of infra/cluster.
const (
	people  = "- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: \"gitlatch:people\"}\n"
	readers = people + `- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: "gitlatch:drillers"}
- {kind: ServiceAccount, name: gitlatch-checks, namespace: gitlatch}
`
)

// grant returns a role for each right, so that no manifest removes the rights of an earlier one.
func grant(rights []right, prefix, verbs, subjects string) string {
	var documents []string
	for _, r := range rights {
		name := prefix + "-" + r.resource
		kind, metadata := "ClusterRole", fmt.Sprintf("{name: %s}", name)
		if r.namespace != "" {
			kind, metadata = "Role", fmt.Sprintf("{name: %s, namespace: %s}", name, r.namespace)
		}
		documents = append(documents,
			fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: %s\nrules:\n- {apiGroups: [%q], resources: [%s], verbs: [%s]}\n", kind, metadata, r.group, r.resource, verbs),
			fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: %[1]sBinding\nmetadata: %[2]s\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: %[1]s, name: %[3]s}\nsubjects:\n%[4]s", kind, metadata, name, subjects))
	}
	return strings.Join(documents, "---\n")
}
