package checkpoint

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Record is what git declares of the workloads of one namespace. A record
// without entries is valid; in git it is a record that is not there.
type Record struct {
	Namespace string
	Entries   map[workload.ID]Entry // all of them in Namespace
}

// configMap is the name of the ConfigMap that a record is.
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

// Format returns the canonical bytes of the record: a ConfigMap with one line
// a fact, workloads in the order of workload.Compare. Every entry must be one
// that ParseRecord could have read.
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

// ids are the workloads of the record in the order of workload.Compare.
func (r Record) ids() []workload.ID {
	return slices.SortedFunc(maps.Keys(r.Entries), workload.Compare)
}
