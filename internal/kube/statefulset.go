package kube

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// readStatefulSet reads a StatefulSet. Its revisions alone tell no rollout:
// under OnDelete, and under a partition that no ordinal reaches, they differ
// for as long as one likes while all pods are of one of them.
func readStatefulSet(s *appsv1.StatefulSet) reading {
	r := reading{sample: sampleOf(workload.StatefulSet, &s.ObjectMeta)}
	if r.sample.Unknown = unobserved(&s.ObjectMeta, s.Status.ObservedGeneration); r.sample.Unknown != "" {
		return r
	}
	r.sample.Scale = scaleOf(&s.ObjectMeta, s.Spec.Replicas, s.Status.ReadyReplicas)
	r.sample.Rollout = &workload.Rollout{}
	if at := s.Status; at.CurrentRevision != at.UpdateRevision {
		// Pods of neither revision are left over from a rollout that another
		// overtook, or are terminating.
		neither := at.Replicas - at.CurrentReplicas - at.UpdatedReplicas
		templates := 0
		for _, pods := range []int32{at.CurrentReplicas, at.UpdatedReplicas, neither} {
			if pods > 0 {
				templates++
			}
		}
		r.sample.Rollout.InFlight = templates > 1
	}
	return r
}
