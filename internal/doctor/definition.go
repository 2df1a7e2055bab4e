package doctor

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// definitions is the API path of CustomResourceDefinitions. The resource and group of a
// kind follow it.
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

// A definition is a CustomResourceDefinition, reduced to the fields that doctor reads.
type definition struct {
	Spec struct {
		Versions []version `json:"versions"`
	} `json:"spec"`
}

type version struct {
	Name         string `json:"name"`
	Subresources struct {
		Scale *struct {
			SpecReplicasPath string `json:"specReplicasPath"`
		} `json:"scale"`
	} `json:"subresources"`
	Schema struct {
		OpenAPIV3Schema property `json:"openAPIV3Schema"`
	} `json:"schema"`
}

type property struct {
	Properties map[string]property `json:"properties"`
	Open       bool                `json:"x-kubernetes-preserve-unknown-fields"`
}

// has reports whether a schema allows a field.
func (p property) has(field workload.Field) bool {
	for _, name := range field.Names() {
		below, ok := p.Properties[name]
		if !ok {
			return p.Open || p.Properties == nil
		}
		p = below
	}
	return true
}

// named reports differences between the policy's kinds and their
// CustomResourceDefinitions.
func (e *examination) named() {
	for _, kind := range slices.Sorted(maps.Keys(e.Cluster.definitions)) {
		o, _ := e.Kinds().Object(kind)
		for _, d := range e.Cluster.definitions[kind].differs(o) {
			e.find(KindDiffers, string(kind), d.text, d.fix)
		}
	}
}

// A mismatch is a difference between a definition and the policy's kind, with its fix.
type mismatch struct{ text, fix string }

// differs returns the differences between a definition and the configuration that sampling
// does not report. Sampling reports another kind, a version that is not served, and objects
// without a namespace.
func (d definition) differs(o workload.Object) (all []mismatch) {
	name := o.FullResource()
	i := slices.IndexFunc(d.Spec.Versions, func(v version) bool { return v.Name == o.Version })
	if i < 0 {
		return nil
	}
	v := d.Spec.Versions[i]
	switch scale := v.Subresources.Scale; {
	case scale == nil:
		all = append(all, mismatch{
			fmt.Sprintf("%s has no scale subresource in %s, so autoscalers and \"gitlatch restore\" cannot scale objects of this kind.", name, o.Version),
			"remove the kind from kinds in the policy",
		})
	case scale.SpecReplicasPath != string(o.Replicas):
		all = append(all, mismatch{
			fmt.Sprintf("%s has its replica count in the field %s, but the policy has replicas: %s.", name, scale.SpecReplicasPath, o.Replicas),
			fmt.Sprintf("set replicas: %s in kinds of the policy", scale.SpecReplicasPath),
		})
	}
	if !v.Schema.OpenAPIV3Schema.has(o.Ready) {
		all = append(all, mismatch{
			fmt.Sprintf("%s has no field %s, but the policy names this field in ready.", name, o.Ready),
			"set ready to another field, for example .status.replicas, in kinds of the policy",
		})
	}
	return all
}
