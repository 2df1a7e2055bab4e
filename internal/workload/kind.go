package workload

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A Kind is a kind of workload as keys, paths and people spell it: the
// singular, in lower case. The zero value names no kind.
type Kind string

// The kinds that gitlatch knows without being told.
const (
	Deployment  Kind = "deployment"
	StatefulSet Kind = "statefulset"
	DaemonSet   Kind = "daemonset"
	// ArgoRollout is the Rollout of Argo Rollouts, which stands in the place of a
	// Deployment.
	ArgoRollout Kind = "rollout"
)

// String returns the kind as a text.
func (k Kind) String() string { return string(k) }

// Scales reports whether there is a scale to latch in objects of the kind. Of
// those that gitlatch knows a DaemonSet has none: its nodes decide. A kind that
// a site names has one, which is what it is named for.
func (k Kind) Scales() bool { return k != DaemonSet }

// Object says how the Kubernetes API names the objects of a kind, and where in
// them their scale is.
type Object struct {
	Group, Version, Kind string
	Resource             string // the plural, as URLs and roles spell it

	Replicas Field // the pods that are asked for; "" where Scales is false
	Ready    Field // the pods that are ready; "" where Replicas is
}

// APIVersion is the group and version as manifests state them.
func (o Object) APIVersion() string { return o.Group + "/" + o.Version }

// FullResource is the resource with its group, as roles and people spell it:
// "workers.example.com".
func (o Object) FullResource() string { return o.Resource + "." + o.Group }

// Path is where the API has the resources of the group and version.
func (o Object) Path() string { return "/apis/" + o.APIVersion() }

// A Field is where a value stands in an object: ".spec.replicas". Names have
// letters, digits, - and _ alone, so that no way to write them escapes any.
type Field string

// What the names of a kind that a site has are like, as regular expressions.
const (
	APIVersionShape = `^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[a-z]([-a-z0-9]*[a-z0-9])?$`
	ObjectShape     = `^[A-Z][A-Za-z0-9]*$`
	ResourceShape   = `^[a-z]([-a-z0-9]*[a-z0-9])?$`
	ReplicasShape   = `^\.spec(\.[A-Za-z_][-A-Za-z0-9_]*)+$`
	ReadyShape      = `^\.status(\.[A-Za-z_][-A-Za-z0-9_]*)+$`
)

// The fields that most kinds have.
const (
	Replicas Field = ".spec.replicas"
	Ready    Field = ".status.readyReplicas"
)

// Names are the names of the fields on the way to the value.
func (f Field) Names() []string { return strings.Split(strings.TrimPrefix(string(f), "."), ".") }

// Pointer is the field as a JSON pointer: "/spec/replicas".
func (f Field) Pointer() string { return strings.ReplaceAll(string(f), ".", "/") }

// At returns what stands below some names, each within the one before, in an object in
// JSON; nil where nothing does.
func At(object json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		var fields map[string]json.RawMessage
		if json.Unmarshal(object, &fields) != nil {
			return nil
		}
		object = fields[name]
	}
	return object
}

var known = map[Kind]Object{
	Deployment:  {"apps", "v1", "Deployment", "deployments", Replicas, Ready},
	StatefulSet: {"apps", "v1", "StatefulSet", "statefulsets", Replicas, Ready},
	DaemonSet:   {"apps", "v1", "DaemonSet", "daemonsets", "", ""},
	ArgoRollout: {"argoproj.io", "v1alpha1", "Rollout", "rollouts", Replicas, Ready},
}

// Kinds are the kinds of a site: those that gitlatch knows, and beside them those
// that the map holds, which the site's configuration names. Nil is the former
// alone.
type Kinds map[Kind]Object

// All are the kinds, sorted.
func (k Kinds) All() []Kind {
	return slices.Sorted(maps.Keys(k.With(known)))
}

// Object returns how the API names a kind; ok is false for one that is not among
// them.
func (k Kinds) Object(kind Kind) (Object, bool) {
	if o, ok := known[kind]; ok {
		return o, true
	}
	o, ok := k[kind]
	return o, ok
}

// Named returns the kind that the API calls by a group and a name, of whatever
// version; ok is false for one that is not among them.
func (k Kinds) Named(group, name string) (kind Kind, ok bool) {
	for _, kinds := range []Kinds{known, k} {
		for kind := range kinds {
			if o, _ := k.Object(kind); o.Group == group && o.Kind == name {
				return kind, true
			}
		}
	}
	return "", false
}

// With returns the kinds and others, which count where both have one.
func (k Kinds) With(others Kinds) Kinds {
	all := make(Kinds, len(k)+len(others))
	maps.Copy(all, k)
	maps.Copy(all, others)
	return all
}
