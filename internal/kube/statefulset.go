package kube

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// readStatefulSet reads a StatefulSet. Two revisions in its status do not prove that a
// rollout is in flight:
//
//   - With OnDelete, older controllers always name two, even if all pods have the target's.
//   - Otherwise, the controller names two until all pods of the target were ready at the
//     same time, even if other pods no longer exist.
//   - With a partition that is higher than every ordinal, it names two indefinitely.
//
// After a rollback to the previous revision the status names one revision. The history
// then shows whether other pods are left from the rollout or are terminating.
func readStatefulSet(s *appsv1.StatefulSet) reading {
	r := readingOf(workload.StatefulSet, &s.ObjectMeta, unobserved(&s.ObjectMeta, s.Status.ObservedGeneration))
	if r.sample.Unknown != "" {
		return r
	}
	r.scaled(workload.Replicas, &s.ObjectMeta, s.Spec.Replicas, s.Status.ReadyReplicas)
	halted := stands(s)
	pods := shares(s.Status, halted)
	if pods == nil {
		return r
	}
	r.sample.Rollout.InFlight, r.sample.Rollout.Unjudged = true, true
	r.sample.Rollout.Halted = halted
	r.flight = &flight{uid: s.UID, selector: s.Spec.Selector, template: s.Spec.Template, rollout: *r.sample.Rollout,
		// Pods that do not exist yet have no template.
		pods: pods, unavailable: s.Status.Replicas - s.Status.AvailableReplicas}
	return r
}

// shares returns the pods by revision, the target first. It returns nil if all pods have
// one revision and the controller does not wait for them.
func shares(at appsv1.StatefulSetStatus, halted string) []share {
	updated := share{at.UpdateRevision, at.UpdatedReplicas}
	if at.CurrentRevision == at.UpdateRevision {
		if at.UpdatedReplicas >= at.Replicas {
			return nil
		}
		return []share{updated, {"", at.Replicas - at.UpdatedReplicas}}
	}
	all := []share{
		updated,
		{at.CurrentRevision, at.CurrentReplicas},
		// Pods of neither revision are left from a rollout that another overtook, or are
		// terminating.
		{"", at.Replicas - at.CurrentReplicas - at.UpdatedReplicas},
	}
	if !mixed(all) && !begins(all) && !awaited(all, halted) {
		return nil
	}
	return all
}

// awaited reports whether only pods of the target are left and the controller waits for
// them. all has two revisions. The controller names one as soon as all pods were ready.
// With OnDelete, older controllers always name two, so a halted rollout is not awaited.
func awaited(all []share, halted string) bool {
	return halted == "" && !slices.ContainsFunc(all[1:], func(s share) bool { return s.pods > 0 })
}

// begins reports whether the target has no pods yet, and another revision has pods.
func begins(all []share) bool { return len(all) > 1 && all[0].pods <= 0 && all[1].pods > 0 }

// mixed reports whether more than one revision has pods.
func mixed(all []share) bool {
	return lists.Count(all, func(s share) bool { return s.pods > 0 }) > 1
}

// stands returns the setting that stops a StatefulSet between its revisions: OnDelete,
// which waits for a user to delete pods, or the partition, after it let all its pods
// through.
func stands(s *appsv1.StatefulSet) string {
	update := s.Spec.UpdateStrategy
	switch {
	case update.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return string(update.Type)
	case update.RollingUpdate == nil || update.RollingUpdate.Partition == nil || s.Status.CurrentRevision == s.Status.UpdateRevision:
		return ""
	}
	// The partition is relative to the first pod, whose ordinal may not be 0.
	partition, replicas := *update.RollingUpdate.Partition, ptr.Deref(s.Spec.Replicas, 1)
	if partition <= 0 || s.Status.UpdatedReplicas < replicas-partition {
		return ""
	}
	return fmt.Sprintf("partition %d", partition)
}
