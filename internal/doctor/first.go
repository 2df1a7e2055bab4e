package doctor

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
)

// first answers whether the levels are in the cluster before a rebuild creates a workload. In
// a rebuilt cluster, the mark shows it.
func (e *examination) first(s subject) Answer {
	if e.Another() && s.sample != nil {
		evidence := Evidence{Object: s.ID.String(), Field: "metadata.annotations[" + admission.Mark + "]", Value: s.sample.Mark}
		if s.sample.Mark == "" {
			return Refutes(MarkMissing, "the workload was created before its level was in the cluster or in git, or a tool has replaced the whole object since", "run \"gitlatch restore\"", evidence)
		}
		return Shows("the workload was created with level "+sanitize.Line(s.sample.Mark), evidence)
	}
	if e.Set.First {
		return States(fmt.Sprintf("%s sets admission.first: the bootstrap applies the levels before the workloads", e.Policy))
	}
	m, found, _ := e.Cluster.folder(s.ID.Namespace)
	if found && s.live != nil {
		if answer, ordered := e.Cluster.ordered(m, s); ordered {
			return answer
		}
	}
	return Open(NotFirst, "it is unknown whether a rebuild applies "+checkpoint.Directory(e.Site)+" before the workload",
		fmt.Sprintf("when you bootstrap a cluster, apply checkpoints/admission and %s before you install Flux or Argo CD. Then set \"admission: {first: true}\" in %s. With Flux, you can instead list the Kustomizations of both folders under dependsOn of the workload's Kustomization",
			checkpoint.Directory(e.Site), e.Policy))
}

// ordered returns the answer if the tools apply the policy and the levels before a workload.
func (c Cluster) ordered(m admission.ConfigMap, s subject) (Answer, bool) {
	levels, first := c.before(c.folderChain(m), wave(metaOf(m)), s)
	if !first {
		return Answer{}, false
	}
	meta := metav1.ObjectMeta{}
	meta.Labels, meta.Annotations = c.Levels.Policy.Metadata()
	chain := c.tools.chain(meta, tracked("admissionregistration.k8s.io", "MutatingAdmissionPolicy", "", admission.Name))
	policy, first := c.before(chain, wave(meta), s)
	if !first {
		return Answer{}, false
	}
	runs := c.tools.runs(chain)
	if !runs.Yes() {
		return runs, true
	}
	levels.evidence = append(levels.evidence, policy.evidence...)
	return levels, true
}

// before returns the answer if an object is applied before a workload. chain are the tools that
// apply the object, in a wave of the first one. With Flux, a Kustomization of the workload depends
// on it. With Argo CD, the same Application applies the workload, or its Application, in a later
// wave. A parent of the first tool shows no order: it may be ready before its children.
func (c Cluster) before(chain []link, early int, s subject) (Answer, bool) {
	late := s.live.meta
	for _, w := range c.tools.chain(s.live.meta, selfOf(s.ID, s.object)) {
		switch {
		case len(chain) == 0:
		case c.tools.dependsOn(w.tool, chain[0].ref, deepest):
			return Shows(fmt.Sprintf("%s depends on %s, which applies the levels", w.ref, chain[0].ref), Evidence{Object: w.ref.String(), Field: "spec.dependsOn", Value: chain[0].ref.String()}), true
		case chain[0].ref == w.ref && w.ref.kind == applicationKind && early < wave(late):
			return Shows(fmt.Sprintf("%s applies the levels in wave %d, and the workload in wave %d", w.ref, early, wave(late)),
				Evidence{Object: w.ref.String(), Field: "sync waves", Value: fmt.Sprintf("%d, %d", early, wave(late))}), true
		}
		late = w.Metadata
	}
	return Answer{}, false
}

// dependsOn reports whether an object of Flux depends on another one, directly or through
// others of its kind.
func (t tools) dependsOn(one tool, on ref, depth int) bool {
	for _, d := range one.Spec.DependsOn {
		r := ref{one.ref.kind, d.Namespace, d.Name}
		if r.namespace == "" {
			r.namespace = one.ref.namespace
		}
		if r == on {
			return true
		}
		if next, found := t.find(r); found && depth > 0 && t.dependsOn(next, on, depth-1) {
			return true
		}
	}
	return false
}
