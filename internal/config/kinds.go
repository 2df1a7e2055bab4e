package config

import (
	"cmp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A kindList is the list of the kinds that a site has beside those that gitlatch
// knows by itself.
type kindList struct{ into *workload.Kinds }

func (k kindList) read(r *reader, path string, n *yaml.Node) {
	var all []*namedKind
	list{func() object {
		all = append(all, newNamedKind())
		return all[len(all)-1].fields()
	}}.read(r, path, n)
	first := map[string]int{} // by what must be of one entry alone
	for i, e := range all {
		e.check(r, index(path, i), func(what string) (int, bool) {
			before, twice := first[what]
			if !twice {
				first[what] = i
			}
			return before, twice
		})
	}
	if r.failedBelow(path) {
		return
	}
	*k.into = workload.Kinds{}
	for _, e := range all {
		(*k.into)[e.called()] = e.object()
	}
}

func (k kindList) schema() schema {
	return list{func() object { return newNamedKind().fields() }}.schema()
}

// A namedKind is one kind of the list. What could not be read is "".
type namedKind struct {
	apiVersion, kind, resource, name string
	replicas, ready                  string
}

func newNamedKind() *namedKind {
	return &namedKind{replicas: string(workload.Replicas), ready: string(workload.Ready)}
}

func (e *namedKind) fields() object {
	return object{fields: []field{
		{"apiVersion", "the group and version by which it is read, such as example.com/v1", true,
			text{into: &e.apiVersion, pattern: workload.APIVersionShape, must: "a group and a version, such as example.com/v1"}},
		{"kind", "the kind of an object, such as Worker", true,
			text{into: &e.kind, pattern: workload.ObjectShape, must: "a kind as manifests state it, such as Worker"}},
		{"resource", "its plural in URLs and roles, such as workers", true,
			text{into: &e.resource, pattern: workload.ResourceShape, must: "a plural in lower case, such as workers"}},
		{"name", "what records, policies and reports call it; without it the kind in lower case", false,
			text{into: &e.name, pattern: labelShape, must: "a DNS label: lower case letters, digits and dashes, at most 63"}},
		{"replicas", "where an object asks for pods: specReplicasPath of its scale subresource", false,
			text{into: &e.replicas, pattern: workload.ReplicasShape, must: "a field of the spec, such as .spec.replicas"}},
		{"ready", "where its status says how many pods are ready", false,
			text{into: &e.ready, pattern: workload.ReadyShape, must: "a field of the status, such as .status.readyReplicas"}},
	}}
}

func (e *namedKind) called() workload.Kind {
	return workload.Kind(cmp.Or(e.name, strings.ToLower(e.kind)))
}

func (e *namedKind) object() workload.Object {
	group, version, _ := strings.Cut(e.apiVersion, "/")
	return workload.Object{Group: group, Version: version, Kind: e.kind, Resource: e.resource,
		Replicas: workload.Field(e.replicas), Ready: workload.Field(e.ready)}
}

// check reports what a kind has in common with one that there is already: those
// that gitlatch knows, and what before tells of the entries before.
func (e *namedKind) check(r *reader, path string, before func(what string) (int, bool)) {
	name := child(path, "kind")
	if e.name != "" {
		name = child(path, "name")
	}
	if _, known := workload.Kinds(nil).Object(e.called()); known {
		r.report(name, "must not be %s, which gitlatch knows by itself: give it another name", quote(string(e.called())))
	} else if i, twice := before("name " + string(e.called())); twice && e.kind != "" {
		r.report(name, "must be unique, got %s, which cluster.kinds[%d] has: give it another name", quote(string(e.called())), i)
	}
	o := e.object()
	if e.apiVersion == "" || e.kind == "" || e.resource == "" {
		return
	}
	if same, known := workload.Kinds(nil).Named(o.Group, o.Kind); known {
		r.report(child(path, "apiVersion"), "must not be of a kind that gitlatch knows by itself, got its %s: remove this entry", same)
	}
	for _, f := range [][2]string{{"kind", o.Kind}, {"resource", o.Resource}} {
		if i, twice := before(f[0] + " " + o.Group + " " + f[1]); twice {
			r.report(child(path, f[0]), "must stand once in a group, got %s, which cluster.kinds[%d] has: keep one", quote(f[1]), i)
		}
	}
}
