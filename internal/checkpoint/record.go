package checkpoint

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Record is the checkpoint file of one namespace. A Record without entries is valid; in
// git it is an absent file.
type Record struct {
	Namespace string
	Entries   map[workload.ID]Entry // all in Namespace
}

const recordHeader = `# Replica levels of the workloads in namespace %[1]q, rounded, for a rebuild from git.
# gitlatch updates this file. If you edit a level, gitlatch keeps your value for 24 hours.
# gitlatch restores all other text.
# To opt a workload out, delete its lines. If you delete many entries of workloads that are
# in the cluster, gitlatch assumes a mistake: it alerts, and after 24 hours it treats the
# workloads as new ones. To opt them out, delete their entries a second time.
%[2]s---
apiVersion: v1
kind: ConfigMap
metadata:
  name: %[1]q
  namespace: ` + admission.Namespace + `
`

// Format returns the canonical bytes of the checkpoint file: the binding of the admission
// policy to the namespace, and a ConfigMap with one line per fact, and workloads in the order
// of workload.Compare. ParseRecord must accept every entry.
func (r Record) Format() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, recordHeader, r.Namespace, admission.Binding(r.Namespace))
	if len(r.Entries) == 0 {
		b.WriteString("data: {}\n")
		return b.Bytes()
	}
	b.WriteString("data:\n")
	for _, id := range r.ids() {
		e := r.Entries[id]
		for _, suffix := range e.suffixes() {
			fact, _ := e.fact(suffix)
			fmt.Fprintf(&b, "  %s: %q\n", key(id, suffix), fact.Holds)
		}
	}
	return b.Bytes()
}

// ids returns the workloads of the file in the order of workload.Compare.
func (r Record) ids() []workload.ID {
	return slices.SortedFunc(maps.Keys(r.Entries), workload.Compare)
}
