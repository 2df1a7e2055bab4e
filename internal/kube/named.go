package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A named has the fields that gitlatch reads of an object whose kind a site's
// configuration names.
type named struct {
	metav1.ObjectMeta `json:"metadata"`

	Kind   string          `json:"kind"` // "" in a list of a built-in kind
	Spec   json.RawMessage `json:"spec"`
	Status json.RawMessage `json:"status"`
}

// namedRow lists a kind that a site's configuration names. The row is not optional: if
// the cluster does not serve the kind, the kind could not be listed.
func namedRow(kind workload.Kind, o workload.Object) row[reading] {
	return row[reading]{kind: kind, resource: o.Resource, path: o.Path(), name: o.FullResource(), json: true,
		missing: fmt.Sprintf("the cluster does not serve %s of %s, which the policy names as %s. Correct kinds of the policy, or install the CustomResourceDefinition", o.Resource, o.APIVersion(), kind),
		page: func(answer []byte) (page[reading], error) {
			var other string
			named, err := custom("", func(n *named) reading {
				if n.Kind != "" && n.Kind != o.Kind {
					other = n.Kind
				}
				return readNamed(n, kind, o)
			})(answer)
			return page[reading]{named.next, func(to []reading, want func(*reading) portion) ([]reading, error) {
				read, err := named.read(to, want)
				if err == nil && other != "" {
					err = fmt.Errorf("the objects have the kind %s, but the policy has %s", other, o.Kind)
				}
				return read, err
			}}, err
		}}
}

// readNamed reads such an object. If a field is missing, the scale is unknown. gitlatch
// does not know the templates of such a kind, so only pods that are not ready can show a
// rollout.
func readNamed(n *named, kind workload.Kind, o workload.Object) reading {
	r := readingOf(kind, &n.ObjectMeta, n.unobserved())
	if r.sample.Unknown != "" {
		return r
	}
	desired, asked := Pods(n.Spec, n.Status, o.Replicas)
	ready, told := Pods(n.Spec, n.Status, o.Ready)
	switch {
	case !asked:
		r.sample.Unknown = "it has no number of pods at " + string(o.Replicas)
	case !told:
		r.sample.Unknown = "it has no number of pods at " + string(o.Ready)
	default:
		r.scaled(o.Replicas, &n.ObjectMeta, &desired, ready)
	}
	return r
}

// unobserved is like the function for other kinds. The observed generation is optional,
// and is a number or a string.
func (n *named) unobserved() string {
	stated := workload.At(n.Status, "observedGeneration")
	if stated == nil || string(stated) == "null" {
		return ""
	}
	seen, err := strconv.ParseInt(string(bytes.Trim(stated, `"`)), 10, 64)
	if err != nil {
		return sanitize.Words(fmt.Sprintf("observed generation %s is not a number", stated))
	}
	return unobserved(&n.ObjectMeta, seen)
}

// Pods returns the number of pods in a field of an object with this spec and status. ok
// is false if the field has no such number.
func Pods(spec, status json.RawMessage, field workload.Field) (pods int32, ok bool) {
	names := field.Names()
	var number *int32
	raw := workload.At(map[string]json.RawMessage{"spec": spec, "status": status}[names[0]], names[1:]...)
	if json.Unmarshal(raw, &number) != nil || number == nil || *number < 0 {
		return 0, false
	}
	return *number, true
}
