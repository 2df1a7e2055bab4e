package doctor

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// created answers whether a rebuild creates a workload without a user: the tool that applies
// it, and the tool that applies this tool's object, exist, are not suspended, are ready and
// sync without a user.
func (e *examination) created(s subject) Answer {
	if s.live == nil {
		return Open("", "the cluster does not have the workload, so nothing shows what creates it", "run doctor on a cluster that has the workload")
	}
	if i := slices.IndexFunc(s.live.meta.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }); i >= 0 {
		r := s.live.meta.OwnerReferences[i]
		return Open(NoOwner, fmt.Sprintf("a controller creates the workload for a %s, and gitlatch does not read objects of this kind", r.Kind), "check that git contains the "+r.Kind,
			Evidence{Object: s.ID.String(), Field: "metadata.ownerReferences", Value: r.Kind + " " + r.Name})
	}
	chain := e.Cluster.tools.chain(s.live.meta, selfOf(s.ID, s.object))
	if len(chain) == 0 {
		return e.noOwner(s)
	}
	answer := e.Cluster.tools.runs(chain)
	if answer.Yes() && s.live.paused && s.ID.Kind == workload.Deployment {
		return Open(Paused, "the workload is paused (spec.paused: true). If its manifest states this, a rebuild creates no pods", "resume the rollout, or remove paused from the manifest",
			Evidence{Object: s.ID.String(), Field: "spec.paused", Value: "true"})
	}
	return answer
}

// noOwner returns the answer for a workload that no tool in the cluster applies.
func (e *examination) noOwner(s subject) Answer {
	const needs = "let Flux or Argo CD apply the workload. If Argo CD runs in another cluster, set gitops in the configuration to that cluster"
	for _, kind := range []string{kustomizationKind, releaseKind, applicationKind} {
		if why := e.Cluster.tools.unread[kind]; why != "" {
			return Open(NotRead, fmt.Sprintf("%ss could not be read: %s", kind, why), remedy(why))
		}
	}
	if release := s.live.meta.Annotations["meta.helm.sh/release-name"]; release != "" {
		return Open(NoOwner, "the workload belongs to a Helm release, and no HelmRelease or Application in the cluster installs it", needs,
			Evidence{Object: s.ID.String(), Field: "metadata.annotations[meta.helm.sh/release-name]", Value: release})
	}
	return Open(NoOwner, "no Flux Kustomization, HelmRelease or Argo CD Application applies the workload, so nothing shows that a rebuild creates it", needs)
}
