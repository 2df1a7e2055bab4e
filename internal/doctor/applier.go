package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Build is a folder of the repository that a tool, or a user with --path, wants built.
type Build struct {
	By    string // for example "flux: Kustomization flux-system/shop"
	Dir   string
	Edits gitops.Edits
	// Namespace is the namespace of objects that state none. "" uses kustomize's default.
	Namespace string
	// Include and Exclude are the directory patterns of an Application, matched against
	// files below Dir. "" disables a pattern.
	Include, Exclude string

	source  source
	origin  origin
	also    []origin // further sources that the build reads
	kinds   workload.Kinds
	release *release // nil if the tool does not render a chart in the folder
}

// Builds returns the folders that the cluster's GitOps objects apply, and the folders in
// paths.
func (c Cluster) Builds(paths ...string) []Build {
	var all []Build
	for _, a := range slices.Concat(c.appliers(), c.installs()) {
		all = append(all, a.builds...)
	}
	return append(all, lists.Map(paths, func(dir string) Build {
		return Build{By: ByPath, Dir: strings.TrimSuffix(dir, "/"), kinds: c.Kinds}
	})...)
}

// An applier is an object of a GitOps tool that applies manifests from git.
type applier struct {
	tool   Tool
	name   string // for example "Application argocd/shop"
	builds []Build
	// chart is true if the applier is a HelmRelease.
	chart bool
	// lists are the workloads and autoscalers in the applier's status.
	lists map[workload.ID]bool
	// keeps checks whether the live replicas of a workload survive an apply. It returns
	// nil if they do, and otherwise the finding.
	keeps func(subject, map[string]string) *Finding
	// next parses the manifest of an applier of the same kind from git. It returns the
	// object's name and its keeps function. stale is true if each sync also writes to
	// objects that did not change.
	next  func(object json.RawMessage, namespace string) (name string, keeps func(subject, map[string]string) *Finding)
	stale bool
	// server is the address of the destination cluster, or a description of it. "" is the
	// cluster of the tool itself. remedy is the advice if the destination is this
	// cluster.
	server, remedy string
	origins        []origin
	stopped        string // the reason why the applier does not reconcile; "" if it does
	// unbound is the finding that invalidates the applier's rules for this site, without
	// a workload. nil means that its rules are valid. away is true if the applier may
	// apply to another cluster.
	unbound *Finding
	away    bool
}

// by returns the By of the applier's builds.
func (a applier) by() string { return a.tool.says(a.name) }

func (c Cluster) appliers() []applier {
	all := lists.Map(c.kustomizations, func(k kustomization) applier {
		return k.applier(c.Kinds, c.repository(k.Spec.SourceRef.in(k.Metadata.Namespace)))
	})
	return append(all, lists.Map(c.applications, func(a application) applier { return a.applier(c) })...)
}

// installs returns the appliers of the HelmReleases, in their order.
func (c Cluster) installs() []applier {
	return lists.Map(c.releases, func(r helmRelease) applier { return r.applier(c) })
}

// placed returns the ID of an object after the overlay's namespace is applied.
func (o Overlay) placed(w gitops.Object) workload.ID {
	id := w.ID
	if w.Unplaced && o.Namespace != "" {
		id.Namespace = o.Namespace
	}
	return id
}

// rendered returns the manifest of a workload or an autoscaler in an overlay.
func (o Overlay) rendered(id workload.ID) (gitops.Object, bool) {
	all := o.Workloads
	if _, scales := gitops.Autoscalers[id.Kind]; scales {
		all = lists.Map(o.Autoscalers, func(a gitops.Autoscaler) gitops.Object { return a.Object })
	}
	return lists.First(all, func(w gitops.Object) bool { return o.placed(w) == id })
}

// apart sets unbound and away of the appliers. It moves the overlays of other clusters
// and of other repositories from the case to namesakes.
func (e *examination) apart() {
	for i, a := range e.appliers {
		e.appliers[i].unbound, e.appliers[i].away = e.Here.unbound(a), e.Here.otherDestination(a) != nil
	}
	namesake := func(o Overlay) bool {
		return slices.ContainsFunc(slices.Concat(e.appliers, e.installs), func(a applier) bool {
			return a.by() == o.By && (a.away || !slices.ContainsFunc(a.builds, func(b Build) bool {
				return b.Dir == o.Dir && !slices.ContainsFunc(append(b.also, b.origin), e.Here.another)
			}))
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

// An owner is an applier of a workload, with the annotations of the workload's manifest.
type owner struct {
	applier
	annotations map[string]string
}

// owners returns the appliers of a workload. others are the appliers whose build includes
// the workload but that read another repository or apply to another cluster.
//
// An applier that lists the workload in its status is an owner for any destination,
// because the destination may be this cluster under another name. With a hub,
// destinations are exact, so an applier of another cluster is not an owner.
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

// mayOwn returns the text of a finding about an applier that owns a workload only if its
// destination is this cluster. wrong is the problem in that case, and the fix.
func (a applier) mayOwn(wrong string) string {
	return fmt.Sprintf("%s lists the workload, and its destination %s may be this cluster. If the destination is another cluster, ignore this finding. %s", a.name, a.server, wrong)
}

// built returns the manifest of a workload in the last of the overlays that this applier
// applies and that include the workload.
func (a applier) built(id workload.ID, overlays []Overlay) (built gitops.Object, ok bool) {
	by := a.by()
	for _, o := range overlays {
		if o.By != by {
			continue
		}
		if w, gives := o.rendered(id); gives {
			built, ok = w, true
		}
	}
	return built, ok
}

// narrowed returns a finding if the manifest in git no longer has the applier's rule for
// a workload. The next apply of the applier removes the rule, and then the live replicas
// are overwritten.
func (e *examination) narrowed(s subject, by owner) *Finding {
	for _, o := range slices.Concat(e.Overlays, e.namesakes) {
		for _, object := range o.Appliers {
			name, keeps := by.next(object, o.Namespace)
			if name != by.name {
				continue
			}
			if f := keeps(s, by.annotations); f != nil {
				return &Finding{RuleNarrowed, s.ID.String(), fmt.Sprintf("The live object %s protects the live replica count, but the manifest of this object in %s does not. After the next apply of this manifest, the replica count in the manifest of the workload (default 1) overrides the live replica count. Finding for the manifest: %s", by.name, o.Dir, f.Text),
					fmt.Sprintf("before the next apply of the manifest in %s, %s", o.Dir, f.Fix)}
			}
		}
	}
	return nil
}
