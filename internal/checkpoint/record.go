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

const recordHeader = `# Levels that a rebuild starts the workloads of namespace %q with. gitlatch updates this file.
# If you edit a level, gitlatch accepts it, and does not change it for 24 hours. To opt a workload out,
# delete its lines. If you delete many entries at once, or this file, gitlatch alerts, and writes them
# again after 24 hours. If you delete them a second time, gitlatch opts the workloads out.
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
