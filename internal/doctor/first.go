package doctor

import (
	"fmt"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// first answers whether the levels are in the cluster before a rebuild creates a workload. In
// a rebuilt cluster, the mark shows it.
func (e *examination) first(s subject) Answer {
	if e.Another() && s.sample != nil {
		evidence := Evidence{Object: s.ID.String(), Field: "metadata.annotations[" + admission.Mark + "]", Value: s.sample.Mark}
		if s.sample.Mark == "" {
			return Refutes(MarkMissing, "the workload was created before its level was in the cluster, or a tool has replaced the whole object since", "run \"gitlatch restore\"", evidence)
		}
		return Shows("the workload was created with level "+s.sample.Mark, evidence)
	}
	if e.Set.First {
		return States(fmt.Sprintf("%s sets admission.first: the bootstrap applies the levels before the workloads", e.Policy))
	}
	m, found, _ := e.Cluster.folder(s.ID.Namespace)
	if found && s.live != nil {
		if answer, ordered := e.Cluster.ordered(e.Cluster.folderChain(m), m, s); ordered {
			return answer
		}
	}
	return Open(NotFirst, "no object shows that a rebuild applies "+checkpoint.Directory(e.Site)+" before the workload",
		fmt.Sprintf("apply checkpoints/admission and %s in the bootstrap, before Flux or Argo CD, and set \"admission: {first: true}\" in %s. With Flux, dependsOn on the Kustomization of the folder also shows the order",
			checkpoint.Directory(e.Site), e.Policy))
}

// ordered returns the answer if the tools apply the levels before a workload: the chain of the
// workload depends on the chain of the levels (Flux), or the Application of the levels applies
// the workload, or the Application of the workload, in a later wave (Argo CD). An Application of
// the levels in an earlier wave shows no order: Argo CD waits until such a child has applied its
// folder only with a health check of Applications, which gitlatch does not read.
func (c Cluster) ordered(folder []link, m admission.ConfigMap, s subject) (Answer, bool) {
	chain := c.tools.chain(s.live.meta, selfOf(s.ID, s.object))
	for _, f := range folder {
		for _, w := range chain {
			if c.tools.dependsOn(w.tool, f.ref, deepest) {
				return Shows(fmt.Sprintf("%s depends on %s, which applies the levels", w.ref, f.ref), Evidence{Object: w.ref.String(), Field: "spec.dependsOn", Value: f.ref.String()}), true
			}
		}
	}
	early, late := wave(metaOf(m)), s.live.meta
	for _, w := range chain {
		if len(folder) > 0 && folder[0].ref == w.ref && w.ref.kind == applicationKind && early < wave(late) {
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
