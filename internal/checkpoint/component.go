package checkpoint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

const componentHeader = `# gitlatch writes this file from checkpoint.yaml. To change a level, edit checkpoint.yaml.
# Include this Component above any transformer of namespaces or names.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
`

// Component returns the canonical bytes of the kustomize Component that sets the replicas
// of the entries' workloads, whether or not a manifest sets them. kustomize ignores a
// patch of a workload that the build does not have. Without levels, the Component has an
// empty list of patches, because an absent or empty file would fail the builds that
// include it. The kind of each entry must be in kinds or be built in.
func (r Record) Component(kinds workload.Kinds) []byte {
	var b bytes.Buffer
	b.WriteString(componentHeader)
	scaled := slices.DeleteFunc(r.ids(), func(id workload.ID) bool { return r.Entries[id].Replicas == 0 })
	if len(scaled) == 0 {
		b.WriteString("patches: []\n")
		return b.Bytes()
	}
	b.WriteString("patches:\n")
	for _, id := range scaled {
		o, _ := kinds.Object(id.Kind)
		if _, own := kinds[id.Kind]; own {
			b.WriteString(merged(o, id, r.Entries[id].Replicas))
			continue
		}
		fmt.Fprintf(&b, "- target: {group: %s, version: %s, kind: %s, namespace: %q, name: %q}\n",
			o.Group, o.Version, o.Kind, id.Namespace, exactly(id.Name))
		fmt.Fprintf(&b, "  patch: '[{\"op\": \"add\", \"path\": %q, \"value\": %d}]'\n", o.Replicas.Pointer(), r.Entries[id].Replicas)
	}
	return b.Bytes()
}

// merged returns the patch of a workload whose kind is in the site's configuration. It is
// a merge patch for any version of the API: adding a field below an absent one with a
// JSON patch would fail the build.
func merged(o workload.Object, id workload.ID, replicas int32) string {
	names := o.Replicas.Names()
	count := fmt.Sprint(replicas)
	for _, name := range slices.Backward(names[1:]) {
		count = fmt.Sprintf("{%q: %s}", name, count)
	}
	return fmt.Sprintf("- target: {group: %s, kind: %s, namespace: %q, name: %q}\n", o.Group, o.Kind, id.Namespace, exactly(id.Name)) +
		fmt.Sprintf("  patch: '{\"apiVersion\": %q, \"kind\": %q, \"metadata\": {\"name\": %q}, %q: %s}'\n", o.APIVersion(), o.Kind, id.Name, names[0], count)
}

// exactly returns a pattern that matches the name alone. kustomize interprets the name of
// a target as a regular expression, which it anchors at both ends. Of the characters in a
// name, only the dot has a special meaning.
func exactly(name string) string { return strings.ReplaceAll(name, ".", "[.]") }
