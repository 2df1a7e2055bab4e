package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/strict"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A namedKind is one item of the list of kinds. Fields that could not be read are "".
type namedKind struct {
	name string
	workload.Object
}

func (e *namedKind) fields() strict.Object {
	e.Replicas, e.Ready = workload.Replicas, workload.Ready
	api := strict.Text(workload.APIVersionShape, "a group and a version, such as example.com/v1")
	return strict.Fields(
		strict.Required("apiVersion", "API group and version of the kind, such as example.com/v1",
			strict.Taken(api, func(text string) { e.Group, e.Version, _ = strings.Cut(text, "/") })),
		strict.Required("kind", "kind of the objects, as in their manifests, such as Worker",
			strict.Into(&e.Kind, strict.Text(workload.ObjectShape, "a kind as manifests state it, such as Worker"))),
		strict.Required("resource", "plural name of the kind in URLs and roles, such as workers",
			strict.Into(&e.Resource, strict.Text(workload.ResourceShape, "a plural in lower case, such as workers"))),
		strict.Optional("name", "name of the kind in checkpoint files, policies and reports; the default is the kind in lower case",
			strict.Into(&e.name, strict.Label)),
		strict.Optional("replicas", "path of the field that contains the desired replicas, as in specReplicasPath of the scale subresource",
			strict.Into(&e.Replicas, strict.Text(workload.ReplicasShape, "a field of the spec, such as .spec.replicas"))),
		strict.Optional("ready", "path of the status field that contains the number of ready pods",
			strict.Into(&e.Ready, strict.Text(workload.ReadyShape, "a field of the status, such as .status.readyReplicas"))),
	)
}

func (e *namedKind) called() workload.Kind {
	return workload.Kind(cmp.Or(e.name, strings.ToLower(e.Kind)))
}

// kindList binds the list of a site's own kinds, in addition to the built-in kinds.
func kindList(into *workload.Kinds) strict.List {
	var all []*namedKind
	return items(&all, (*namedKind).fields, strict.Rule{Check: func(r *strict.Reader, path string) {
		*into = workload.Kinds{}
		first := firsts{}
		for i, e := range all {
			e.check(r, strict.Index(path, i), func(what ...string) (int, bool) { return first.before(i, fmt.Sprint(what)) })
			(*into)[e.called()] = e.Object
		}
	}})
}

// check reports a kind with the name, the API or the resource of a built-in kind or of an
// earlier item. before returns the index of the earlier item.
func (e *namedKind) check(r *strict.Reader, path string, before func(...string) (int, bool)) {
	name := strict.Child(path, "kind")
	if e.name != "" {
		name = strict.Child(path, "name")
	}
	called := strict.Quote(string(e.called()))
	if _, known := workload.Kinds(nil).Object(e.called()); known {
		r.Report(name, "must not be %s, which is a built-in kind. Give it another name", called)
	} else if i, twice := before("name", called); twice && e.Kind != "" {
		r.Report(name, "must be unique, got %s, which kinds[%d] has. Give it another name", called, i)
	}
	if e.Group == "" || e.Kind == "" || e.Resource == "" {
		return
	}
	if same, known := workload.Kinds(nil).Named(e.Group, e.Kind); known {
		r.Report(strict.Child(path, "apiVersion"), "must not be of a built-in kind, got its %s. Remove this entry", same)
	}
	for _, f := range [][2]string{{"kind", e.Kind}, {"resource", e.Resource}} {
		if i, twice := before(f[0], e.Group, f[1]); twice {
			r.Report(strict.Child(path, f[0]), "must be unique in a group, got %s, which kinds[%d] has. Keep one", strict.Quote(f[1]), i)
		}
	}
}
