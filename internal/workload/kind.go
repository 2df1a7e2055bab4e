package workload

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A Kind is a kind of workload as keys and paths spell it: singular, in lower case. The
// zero value names no kind.
type Kind string

// The kinds that gitlatch supports without configuration.
const (
	Deployment  Kind = "deployment"
	StatefulSet Kind = "statefulset"
	DaemonSet   Kind = "daemonset"
	// ArgoRollout is the Rollout of Argo Rollouts. It replaces a Deployment.
	ArgoRollout Kind = "rollout"
)

// String returns the kind as a string.
func (k Kind) String() string { return string(k) }

// Scales reports whether objects of the kind have a scale that gitlatch can latch. Every
// kind has one except DaemonSet: the number of its pods depends on the nodes.
func (k Kind) Scales() bool { return k != DaemonSet }

// An Object describes the objects of a kind in the Kubernetes API: their names, and the
// fields with their scale.
type Object struct {
	Group, Version, Kind string
	Resource             string // the plural, as in URLs and roles

	Replicas Field // the desired replicas; "" if Scales is false
	Ready    Field // the ready replicas; "" if Replicas is ""
}

// APIVersion returns the group and version as manifests state them.
func (o Object) APIVersion() string { return o.Group + "/" + o.Version }

// FullResource returns the resource with its group, as in "workers.example.com".
func (o Object) FullResource() string { return o.Resource + "." + o.Group }

// Path returns the API path of the group and version.
func (o Object) Path() string { return "/apis/" + o.APIVersion() }

// A Field is the path of a value in an object: ".spec.replicas". Names in it have only
// letters, digits, - and _, so that no notation has to escape them.
type Field string

// The regular expressions that validate the configuration of a site's own kind.
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

// Names returns the names on the path of the field, from the outermost.
func (f Field) Names() []string { return strings.Split(strings.TrimPrefix(string(f), "."), ".") }

// At returns the value at a path of names in a JSON object, or nil if there is no such
// value.
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

// Kinds are the kinds of a site. The map has the kinds that the site's configuration
// names. All, Object and Named add the kinds that gitlatch supports without
// configuration.
type Kinds map[Kind]Object

// All returns the kinds in sorted order.
func (k Kinds) All() []Kind {
	return slices.Sorted(maps.Keys(k.With(known)))
}

// Object returns the API names of a kind. ok is false if the site does not have the kind.
func (k Kinds) Object(kind Kind) (Object, bool) {
	if o, ok := known[kind]; ok {
		return o, true
	}
	o, ok := k[kind]
	return o, ok
}

// Named returns the kind with a group and an API name, in any version. ok is false if the
// site does not have such a kind.
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

// With returns the union of both maps. Entries of others win.
func (k Kinds) With(others Kinds) Kinds {
	all := make(Kinds, len(k)+len(others))
	maps.Copy(all, k)
	maps.Copy(all, others)
	return all
}
