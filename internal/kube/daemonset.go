package kube

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// readDaemonSet reads a DaemonSet. It has no scale, because the number of its pods
// depends on the nodes. If a node has several pods, the oldest counts, like in the
// status.
func readDaemonSet(d *appsv1.DaemonSet) reading {
	r := readingOf(workload.DaemonSet, &d.ObjectMeta, unobserved(&d.ObjectMeta, d.Status.ObservedGeneration))
	r.template, r.available = &d.Spec.Template, d.Status.NumberAvailable
	if r.sample.Unknown != "" {
		return r
	}
	at := d.Status
	r.sample.Rollout = &workload.Rollout{Desired: at.DesiredNumberScheduled}
	if at.UpdatedNumberScheduled == at.CurrentNumberScheduled {
		return r
	}
	r.sample.Rollout.InFlight, r.sample.Rollout.Unjudged = true, true
	if d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		r.sample.Rollout.Halted = string(d.Spec.UpdateStrategy.Type)
	}
	r.flight = &flight{uid: d.UID, selector: d.Spec.Selector, template: d.Spec.Template, rollout: *r.sample.Rollout,
		pods: []share{
			{"", at.UpdatedNumberScheduled},
			{"", at.CurrentNumberScheduled - at.UpdatedNumberScheduled},
		},
		// Nodes without a pod have no template yet.
		unavailable: at.CurrentNumberScheduled - at.NumberAvailable}
	return r
}
