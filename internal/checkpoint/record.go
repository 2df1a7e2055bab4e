package checkpoint

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Record is the checkpoint file of one namespace. A Record without entries is valid; in
// git it is an absent file.
type Record struct {
	Namespace string
	Entries   map[workload.ID]Entry // all in Namespace
}

// configMap is the name of the ConfigMap in each checkpoint file.
const configMap = "gitlatch-checkpoint"

const recordHeader = `# What the workloads of namespace %q come back with after a rebuild, rounded. Kept by gitlatch.
# A level you edit is adopted and left alone for a day. Deleting a workload's lines opts it out.
# Deleting many entries at once, or this file, counts as a mistake: gitlatch alerts, and writes them
# again after a day. Delete them a second time to opt the workloads out.
apiVersion: v1
kind: ConfigMap
metadata:
  name: %s
  namespace: %q
`

// Format returns the canonical bytes of the checkpoint file: a ConfigMap with one line
// per fact, and workloads in the order of workload.Compare. ParseRecord must accept every
// entry.
func (r Record) Format() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, recordHeader, r.Namespace, configMap, r.Namespace)
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
