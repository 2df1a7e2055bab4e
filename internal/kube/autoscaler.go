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

// An autoscaler is an object that writes the scale of a workload.
type autoscaler struct {
	driver workload.Driver
	name   string
	target workload.ID // the zero ID if it scales an object of another kind
	// owner is the name of the ScaledObject that created the HPA; "" for other
	// autoscalers.
	owner string

	min, max    int32
	utilisation float64
	tolerance   float64
	load        float64
	blind       string
	upOnly      bool // it does not scale down
	brake       workload.Brake
	paused      bool   // as workload.Scale documents it
	fixed       string // as workload.Scale documents it
}

// String returns the kind and the name, for use in a phrase.
func (a autoscaler) String() string {
	if a.driver == workload.DrivenByKEDA {
		return "ScaledObject " + a.name
	}
	return "HPA " + a.name
}

// brakeOf reads the brake annotation of an autoscaler. It ignores the annotation if the
// autoscaler scales down.
func (a autoscaler) brakeOf(annotations map[string]string) workload.Brake {
	text, noted := annotations[workload.BrakeAnnotation]
	if !noted || !a.upOnly {
		return workload.Brake{}
	}
	var note struct{ Until time.Time }
	_ = json.Unmarshal([]byte(text), &note) // Until stays zero if the text cannot be parsed
	return workload.Brake{On: a.String(), Until: note.Until}
}

// A Reference is a reference to an object of the same namespace.
type Reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// OrDeployment fills in the defaults of KEDA and Flagger: a Deployment of apps/v1.
func (r Reference) OrDeployment() Reference {
	r.APIVersion, r.Kind = cmp.Or(r.APIVersion, "apps/v1"), cmp.Or(r.Kind, "Deployment")
	return r
}

// Workload returns the ID of the workload, or the zero ID if kinds does not have its
// kind.
func (r Reference) Workload(kinds workload.Kinds, namespace string) workload.ID {
	version, err := schema.ParseGroupVersion(r.APIVersion)
	k, ok := kinds.Named(version.Group, r.Kind)
	if err != nil || !ok {
		return workload.ID{}
	}
	return workload.ID{Namespace: namespace, Kind: k, Name: r.Name}
}

// A condition is the status and the reason of a condition in an object's status.
type condition struct{ status, reason string }

// firstNotTrue describes the first of the conditions that is not True. It returns "" if
// each of them is.
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
