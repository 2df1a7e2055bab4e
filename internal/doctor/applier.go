package doctor

import (
	"strings"

	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Build is a folder of the repository that something builds and applies.
type Build struct {
	By    string // "flux: Kustomization flux-system/shop"
	Dir   string
	Edits gitops.Edits
	// Namespace is where objects go that state none; "" is as kustomize has it.
	Namespace string
	// Include and Exclude are an Application's own patterns, of files below Dir; ""
	// is none.
	Include, Exclude string

	source source
	kinds  workload.Kinds
}

// Builds are the folders that the cluster's GitOps objects apply, and those that a
// person names.
func (c Cluster) Builds(paths ...string) []Build {
	var all []Build
	for _, a := range c.appliers() {
		all = append(all, a.builds...)
	}
	for _, dir := range paths {
		all = append(all, Build{By: ByPath, Dir: strings.TrimSuffix(dir, "/")})
	}
	for i := range all {
		all[i].kinds = c.Kinds
	}
	return all
}

// An applier is an object of a GitOps tool that applies git.
type applier struct {
	name   string
	builds []Build
	// lists are the workloads that it says it applied.
	lists map[workload.ID]bool
	// keeps judges whether the live count of a workload outlives its applying:
	// nil, or what is wrong.
	keeps func(subject, map[string]string) *Finding
}

func (c Cluster) appliers() []applier {
	var all []applier
	for _, k := range c.kustomizations {
		a := k.applier(c.Kinds)
		for i := range a.builds {
			a.builds[i].source = c.source(k)
		}
		all = append(all, a)
	}
	for _, a := range c.applications {
		all = append(all, a.applier(c.Kinds))
	}
	return all
}

// placed is the ID that an object gets where it is applied.
func (o Overlay) placed(w gitops.Object) workload.ID {
	id := w.ID
	if w.Unplaced && o.Namespace != "" {
		id.Namespace = o.Namespace
	}
	return id
}

// rendered returns what an overlay builds of a workload.
func (o Overlay) rendered(id workload.ID) (gitops.Object, bool) {
	for _, w := range o.Workloads {
		if o.placed(w) == id {
			return w, true
		}
	}
	return gitops.Object{}, false
}

// owners are the appliers of a workload, with the annotations that it is built
// with.
func (e *examination) owners(id workload.ID) (owners []applier, annotations []map[string]string) {
	for _, a := range e.appliers {
		owns, built := a.lists[id], map[string]string(nil)
		for _, o := range e.Overlays {
			if w, ok := o.rendered(id); ok && o.By == a.name {
				owns, built = true, w.Annotations
			}
		}
		if owns {
			owners, annotations = append(owners, a), append(annotations, built)
		}
	}
	return owners, annotations
}
