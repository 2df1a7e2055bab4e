package kube

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// readStatefulSet reads a StatefulSet. Its revisions alone tell no rollout: under
// OnDelete older controllers name two of them for ever, though all pods are of the
// target. Else they differ until all pods of the target were ready at once, though
// no others are left; a partition that no ordinal reaches keeps them so for as long
// as one likes. One that went back to the revision that it came from names no
// other: whether the pods that are not of it are left from its way, or terminating,
// its history tells.
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
		// Pods that are asked for and not there yet are of no template.
		pods: pods, unavailable: s.Status.Replicas - s.Status.AvailableReplicas}
	return r
}

// shares are the pods by revision, the target's first; nil where they are all of
// one revision, and nobody waits for them.
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
		// Pods of neither revision are left over from a rollout that another
		// overtook, or are terminating.
		{"", at.Replicas - at.CurrentReplicas - at.UpdatedReplicas},
	}
	if !mixed(all) && !begins(all) && !awaited(all, halted) {
		return nil
	}
	return all
}

// awaited reports whether of a StatefulSet that names two revisions no pods are
// left but the target's, and its controller still waits for these: once all were
// ready it names one. Under OnDelete older controllers go on naming two.
func awaited(all []share, halted string) bool {
	return halted == "" && !slices.ContainsFunc(all[1:], func(s share) bool { return s.pods > 0 })
}

// begins reports whether all pods are those that the target, which has none yet,
// will replace.
func begins(all []share) bool { return len(all) > 1 && all[0].pods <= 0 && all[1].pods > 0 }

// mixed reports whether there are pods of more than one template.
func mixed(all []share) bool {
	return each.Count(all, func(s share) bool { return s.pods > 0 }) > 1
}

// stands says what keeps a StatefulSet between its revisions: a person who has
// to delete pods, or the partition, once all that it lets through is there.
func stands(s *appsv1.StatefulSet) string {
	update := s.Spec.UpdateStrategy
	switch {
	case update.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return string(update.Type)
	case update.RollingUpdate == nil || update.RollingUpdate.Partition == nil || s.Status.CurrentRevision == s.Status.UpdateRevision:
		return ""
	}
	// A partition counts from the first pod, whatever its ordinal.
	partition, replicas := *update.RollingUpdate.Partition, ptr.Deref(s.Spec.Replicas, 1)
	if partition <= 0 || s.Status.UpdatedReplicas < replicas-partition {
		return ""
	}
	return fmt.Sprintf("partition %d", partition)
}
