package kube

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// An autoscaler is one object that writes the scale of a workload.
type autoscaler struct {
	driver workload.Driver
	name   string
	target workload.ID // the zero ID where it scales something else
	// owner is the name of the ScaledObject whose tool an HPA is; "" for one
	// that stands by itself.
	owner string

	min, max    int32
	utilisation float64
	tolerance   float64
	load        float64
	blind       string
	brake       workload.Brake
}

// String names the autoscaler in a phrase.
func (a autoscaler) String() string {
	if a.driver == workload.DrivenByKEDA {
		return "ScaledObject " + a.name
	}
	return "HPA " + a.name
}

// brakeOf reads the note of a brake among the annotations of an autoscaler. Where
// nothing stops it from scaling down there is no brake, whatever they say.
func (a autoscaler) brakeOf(annotations map[string]string, stops bool) workload.Brake {
	text, noted := annotations[workload.BrakeAnnotation]
	if !noted || !stops {
		return workload.Brake{}
	}
	var note struct{ Until time.Time }
	_ = json.Unmarshal([]byte(text), &note) // its end stays zero where it cannot be read
	return workload.Brake{On: a.String(), Until: note.Until}
}

// A Reference is how an object names another of its namespace.
type Reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// OrDeployment returns the reference with what KEDA and Flagger let it leave out.
func (r Reference) OrDeployment() Reference {
	r.APIVersion, r.Kind = cmp.Or(r.APIVersion, "apps/v1"), cmp.Or(r.Kind, "Deployment")
	return r
}

// Workload returns the workload that is meant; the zero ID where it is of none of
// the kinds.
func (r Reference) Workload(kinds workload.Kinds, namespace string) workload.ID {
	version, err := schema.ParseGroupVersion(r.APIVersion)
	k, ok := kinds.Named(version.Group, r.Kind)
	if err != nil || !ok {
		return workload.ID{}
	}
	return workload.ID{Namespace: namespace, Kind: k, Name: r.Name}
}

// A condition is what a status says of one thing.
type condition struct{ status, reason string }

// firstNotTrue says which of the conditions is the first that is not True, and
// why; "" where all are.
func firstNotTrue(said map[string]condition, want ...string) string {
	for _, name := range want {
		c, ok := said[name]
		switch {
		case !ok:
			return name + " is not reported"
		case c.status != string(corev1.ConditionTrue):
			return strings.TrimSuffix(name+" is "+c.status+": "+c.reason, ": ")
		}
	}
	return ""
}
