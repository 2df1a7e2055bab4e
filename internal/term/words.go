package term

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Name is a workload as people call it; only what is no Deployment says its kind.
func Name(id workload.ID) string {
	if id.Kind == workload.Deployment {
		return id.Short()
	}
	return id.String()
}

// Named is a workload as documents for machines name it.
type Named struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
}

// NamedBy is a workload by its ID.
func NamedBy(id workload.ID) Named { return Named{id.Namespace, string(id.Kind), id.Name} }

// ID is the workload that is named.
func (n Named) ID() workload.ID {
	return workload.ID{Namespace: n.Namespace, Kind: workload.Kind(n.Kind), Name: n.Name}
}

// Count is a number of things: "1 pod", "2 pods".
func Count[N int | int32](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Some is a count that may not be known: a dash where it is nil.
func Some(n *int32) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(int(*n))
}

// Positive is a count, and a dash where there is none.
func Positive(n int32) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(int(n))
}

// Among names the first few, and counts the others.
func Among(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
