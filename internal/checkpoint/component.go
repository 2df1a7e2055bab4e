package checkpoint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

const componentHeader = `# Written from checkpoint.yaml beside it, and overwritten with it: edit that one.
# Include this Component above any transformer of namespaces or names.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
`

// Component returns the canonical bytes of the kustomize Component that sets
// the replicas of the record's workloads, whether or not a manifest states
// them. A workload that a build does not have is passed over by kustomize. A
// record without levels gives a Component that changes nothing, since one that
// is absent or empty would fail the builds that include it.
func (r Record) Component() []byte {
	var b bytes.Buffer
	b.WriteString(componentHeader)
	scaled := slices.DeleteFunc(r.ids(), func(id workload.ID) bool { return r.Entries[id].Replicas == 0 })
	if len(scaled) == 0 {
		b.WriteString("patches: []\n")
		return b.Bytes()
	}
	b.WriteString("patches:\n")
	for _, id := range scaled {
		o, _ := id.Kind.Object()
		fmt.Fprintf(&b, "- target: {group: %s, version: %s, kind: %s, namespace: %q, name: %q}\n",
			o.Group, o.Version, o.Kind, id.Namespace, exactly(id.Name))
		fmt.Fprintf(&b, "  patch: '[{\"op\": \"add\", \"path\": \"/spec/replicas\", \"value\": %d}]'\n",
			r.Entries[id].Replicas)
	}
	return b.Bytes()
}

// exactly returns the pattern that matches a name and no other. Kustomize takes
// the name of a target for a regular expression, which it anchors at both ends;
// of what a name may hold, only the dot means something else there.
func exactly(name string) string { return strings.ReplaceAll(name, ".", "[.]") }
