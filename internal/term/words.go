package term

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Name returns the short name of a Deployment, and the full ID of any other workload.
func Name(id workload.ID) string {
	if id.Kind == workload.Deployment {
		return id.Short()
	}
	return id.String()
}

// Named is the name of a workload in JSON documents.
type Named struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
}

// NamedBy returns the name of a workload.
func NamedBy(id workload.ID) Named { return Named{id.Namespace, string(id.Kind), id.Name} }

// ID returns the ID of the workload.
func (n Named) ID() workload.ID {
	return workload.ID{Namespace: n.Namespace, Kind: workload.Kind(n.Kind), Name: n.Name}
}

// Count formats a number of things: "1 pod", "2 pods".
func Count[N int | int32](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Number(int64(n)) + " " + thing + "s"
}

// Some formats a number. It returns a dash for nil, an unknown number.
func Some(n *int32) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(int(*n))
}

// Percent prints a share with at most one decimal. It rounds down: 0.29 is "29 %", and
// 0.99985 is "99.9 %". Only a share of 1 or more is "100 %" or more.
func Percent(share float64) string {
	tenths := math.Floor(1000*share + 1e-9) // 0.29 has no binary fraction
	if share < 1 {
		tenths = min(tenths, 999)
	}
	return strconv.FormatFloat(tenths/10, 'f', -1, 64) + " %"
}

// Positive formats a number. It returns a dash for 0.
func Positive(n int32) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(int(n))
}

// Among lists the first five names, and the number of other names.
func Among(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
