package kube

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// rolling is a Deployment with pods of another template than its own, which
// its ReplicaSets hold.
type rolling struct {
	uid      types.UID
	paused   bool
	template corev1.PodTemplateSpec
	selector *metav1.LabelSelector
}

// readDeployment reads a Deployment. While its status is of an earlier
// generation nothing is known.
func readDeployment(d *appsv1.Deployment) reading {
	r := reading{sample: sampleOf(workload.Deployment, &d.ObjectMeta)}
	if r.sample.Unknown = unobserved(&d.ObjectMeta, d.Status.ObservedGeneration); r.sample.Unknown != "" {
		return r
	}
	r.sample.Scale = scaleOf(&d.ObjectMeta, d.Spec.Replicas, d.Status.ReadyReplicas)
	r.sample.Rollout = &workload.Rollout{}
	if d.Status.UpdatedReplicas != d.Status.Replicas {
		r.sample.Rollout.InFlight = true
		r.rolling = &rolling{uid: d.UID, paused: d.Spec.Paused, template: d.Spec.Template, selector: d.Spec.Selector}
	}
	return r
}
