package kube

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// readDaemonSet reads a DaemonSet, which has no scale: its nodes decide. Under
// OnDelete a template that no pod has is not on its way anywhere.
func readDaemonSet(d *appsv1.DaemonSet) reading {
	r := reading{sample: sampleOf(workload.DaemonSet, &d.ObjectMeta)}
	if r.sample.Unknown = unobserved(&d.ObjectMeta, d.Status.ObservedGeneration); r.sample.Unknown != "" {
		return r
	}
	updated, current := d.Status.UpdatedNumberScheduled, d.Status.CurrentNumberScheduled
	waits := d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType && updated == 0
	r.sample.Rollout = &workload.Rollout{InFlight: updated != current && !waits}
	return r
}
