package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// A namedKind is one item of the list of kinds. Fields that could not be read are "".
type namedKind struct {
	name string
	workload.Object
}

func (e *namedKind) fields() yamldoc.Object {
	e.Replicas, e.Ready = workload.Replicas, workload.Ready
	api := yamldoc.Text(workload.APIVersionShape, "a group and a version, such as example.com/v1")
	return yamldoc.Fields(
		yamldoc.Required("apiVersion", "API group and version of the custom kind, such as example.com/v1",
			yamldoc.Taken(api, func(text string) { e.Group, e.Version, _ = strings.Cut(text, "/") })),
		yamldoc.Required("kind", "value of the field `kind` in manifests of the custom kind, such as Worker",
			yamldoc.Into(&e.Kind, yamldoc.Text(workload.ObjectShape, "a kind as manifests state it, such as Worker"))),
		yamldoc.Required("resource", "plural name of the custom kind, such as workers; API URLs and RBAC roles contain this name",
			yamldoc.Into(&e.Resource, yamldoc.Text(workload.ResourceShape, "a plural in lower case, such as workers"))),
		yamldoc.Optional("name", "name of the custom kind in checkpoint files, policies and reports; the default is the value of `kind` in lower case",
			yamldoc.Into(&e.name, yamldoc.Label)),
		yamldoc.Optional("replicas", "path of the field with the desired replicas, as in specReplicasPath of the scale subresource",
			yamldoc.Into(&e.Replicas, yamldoc.Text(workload.ReplicasShape, "a field of the spec, such as .spec.replicas"))),
		yamldoc.Optional("ready", "path of the status field that contains the number of ready pods",
			yamldoc.Into(&e.Ready, yamldoc.Text(workload.ReadyShape, "a field of the status, such as .status.readyReplicas"))),
	)
}

func (e *namedKind) called() workload.Kind {
	return workload.Kind(cmp.Or(e.name, strings.ToLower(e.Kind)))
}

// kindList binds the list of a site's own kinds, in addition to the built-in kinds.
func kindList(into *workload.Kinds) yamldoc.List {
	var all []*namedKind
	return items(&all, (*namedKind).fields, yamldoc.Rule{Check: func(r *yamldoc.Reader, path string) {
		*into = workload.Kinds{}
		first := firsts{}
		for i, e := range all {
			e.check(r, yamldoc.Index(path, i), func(what ...string) (int, bool) { return first.before(i, fmt.Sprint(what)) })
			(*into)[e.called()] = e.Object
		}
	}})
}

// check reports a kind with the name, the API or the resource of a built-in kind or of an
// earlier item. before returns the index of the earlier item.
func (e *namedKind) check(r *yamldoc.Reader, path string, before func(...string) (int, bool)) {
	name := yamldoc.Child(path, "kind")
	if e.name != "" {
		name = yamldoc.Child(path, "name")
	}
	called := yamldoc.Quote(string(e.called()))
	if _, known := workload.Kinds(nil).Object(e.called()); known {
		r.Report(name, "must not be %s, which is a built-in kind. Give it another name", called)
	} else if i, twice := before("name", called); twice && e.Kind != "" {
		r.Report(name, "must be unique, got %s, which kinds[%d] has. Give it another name", called, i)
	}
	if e.Group == "" || e.Kind == "" || e.Resource == "" {
		return
	}
	if same, known := workload.Kinds(nil).Named(e.Group, e.Kind); known {
		r.Report(yamldoc.Child(path, "apiVersion"), "must not be of a built-in kind, got its %s. Remove this entry", same)
	}
	for _, f := range [][2]string{{"kind", e.Kind}, {"resource", e.Resource}} {
		if i, twice := before(f[0], e.Group, f[1]); twice {
			r.Report(yamldoc.Child(path, f[0]), "must be unique in a group, got %s, which kinds[%d] has. Keep one", yamldoc.Quote(f[1]), i)
		}
	}
}
