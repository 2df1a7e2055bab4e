package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/each"
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
	origin origin
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
		all = append(all, Build{By: ByPath, Dir: strings.TrimSuffix(dir, "/"), kinds: c.Kinds})
	}
	return all
}

// An applier is an object of a GitOps tool that applies git.
type applier struct {
	tool   Tool
	name   string // "Application argocd/shop"
	builds []Build
	// chart is true if it renders a Helm chart.
	chart bool
	// lists are the workloads that it says it applied.
	lists map[workload.ID]bool
	// keeps judges whether the live count of a workload outlives its applying:
	// nil, or what is wrong.
	keeps func(subject, map[string]string) *Finding
	// next reads what git has of an object of its kind: its name, and what it would
	// keep. stale is true of one whose syncs write to what did not change, too.
	next  func(object json.RawMessage, namespace string) (name string, keeps func(subject, map[string]string) *Finding)
	stale bool
	// server is the address of the cluster that it applies to, or other words for
	// that; "" is the one that the tool runs in. remedy is what to do if that is this
	// cluster.
	server, remedy string
	origins        []origin
	stopped        string // why nothing reconciles it; "" where something does
	// unbound is why what it keeps is no evidence, of no workload yet; nil where it
	// is. away is true of one that may apply to another cluster.
	unbound *Finding
	away    bool
}

// by is what its Builds call it.
func (a applier) by() string { return a.tool.says(a.name) }

func (c Cluster) appliers() []applier {
	all := each.Of(c.kustomizations, func(k kustomization) applier { return k.applier(c.Kinds, c.repository(k)) })
	return append(all, each.Of(c.applications, func(a application) applier { return a.applier(c.Kinds) })...)
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

// apart judges the appliers, and takes the overlays out of the case that are known
// to be namesakes.
func (e *examination) apart() {
	for i, a := range e.appliers {
		e.appliers[i].unbound, e.appliers[i].away = e.Here.unbound(a), e.Here.otherDestination(a) != nil
	}
	namesake := func(o Overlay) bool {
		return slices.ContainsFunc(e.appliers, func(a applier) bool {
			return a.by() == o.By &&
				(a.away || !slices.ContainsFunc(a.builds, func(b Build) bool { return b.Dir == o.Dir && !e.Here.another(b.origin) }))
		})
	}
	var kept []Overlay
	for _, o := range e.Overlays {
		if namesake(o) {
			e.namesakes = append(e.namesakes, o)
		} else {
			kept = append(kept, o)
		}
	}
	e.Overlays = kept
}

// An owner is an applier of a workload, with the annotations that it is built with.
type owner struct {
	applier
	annotations map[string]string
}

// owners are the appliers of a workload, and those that would be if they were of
// this cluster and of the site's repository. One that lists the workload may own it,
// whatever its destination: that may be this cluster by another name.
func (e *examination) owners(id workload.ID) (owners []owner, others []applier) {
	for _, a := range e.appliers {
		w, built := a.built(id, e.Overlays)
		_, named := a.built(id, e.namesakes)
		switch {
		case built || a.lists[id] && !(e.Here.Hub && a.away):
			owners = append(owners, owner{a, w.Annotations})
		case a.unbound != nil && named:
			others = append(others, a)
		}
	}
	return owners, others
}

// mayOwn says that an applier would act on a workload if its destination were this
// cluster; wrong is why, and what to do.
func (a applier) mayOwn(wrong string) string {
	return fmt.Sprintf("%s lists the workload, and its destination, %s, may be this cluster. If it is another cluster, ignore this finding. %s", a.name, a.server, wrong)
}

// built is what an applier builds of a workload, by the last of the overlays that
// give it.
func (a applier) built(id workload.ID, overlays []Overlay) (built gitops.Object, ok bool) {
	for _, o := range overlays {
		if w, gives := o.rendered(id); gives && o.By == a.by() {
			built, ok = w, true
		}
	}
	return built, ok
}

// narrowed returns that the rule which keeps the count of a workload is not in git
// any more: it goes with the next apply of the object, and the count with it.
func (e *examination) narrowed(s subject, by owner) *Finding {
	for _, o := range slices.Concat(e.Overlays, e.namesakes) {
		for _, object := range o.Appliers {
			name, keeps := by.next(object, o.Namespace)
			if name != by.name {
				continue
			}
			if f := keeps(s, by.annotations); f != nil {
				return &Finding{RuleNarrowed, s.ID.Short(), fmt.Sprintf("%s protects the live replica count, but its manifest in %s does not. Its next apply sets the replicas to the manifest's (default 1). Finding for the manifest: %s", by.name, o.Dir, f.Text),
					fmt.Sprintf("in %s, before the next apply: %s", o.Dir, f.Fix)}
			}
		}
	}
	return nil
}
