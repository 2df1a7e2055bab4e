package kube

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/dump"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// paused is what holds a rollout that a person paused.
const paused = "paused"

// readDeployment reads a Deployment. While its status is of an earlier
// generation nothing is known.
func readDeployment(d *appsv1.Deployment) reading {
	r := readingOf(workload.Deployment, &d.ObjectMeta, unobserved(&d.ObjectMeta, d.Status.ObservedGeneration))
	r.template, r.available = &d.Spec.Template, d.Status.AvailableReplicas
	if r.sample.Unknown != "" {
		return r
	}
	r.scaled(workload.Replicas, &d.ObjectMeta, d.Spec.Replicas, d.Status.ReadyReplicas)
	if d.Status.UpdatedReplicas == d.Status.Replicas && !unfinished(d, r.sample.Scale.Desired) {
		return r
	}
	r.sample.Rollout.InFlight, r.sample.Rollout.Unjudged = true, endless(d.Spec.ProgressDeadlineSeconds)
	if d.Spec.Paused {
		r.sample.Rollout.Halted = paused
	}
	r.flight = &flight{uid: d.UID, selector: d.Spec.Selector, template: d.Spec.Template,
		rollout: *r.sample.Rollout, stalled: stalled(d)}
	if d.Spec.Paused {
		r.flight.hash = hashOf(&d.Spec.Template)
	}
	return r
}

// hashOf returns what the ReplicaSet of a template is likely to bear once it is
// made: the hash that the controller computes (ComputeHash in k8s.io/kubernetes,
// pkg/controller), where its types have the same fields. It is the same for the
// same template in any case.
func hashOf(t *corev1.PodTemplateSpec) string {
	h := fnv.New32a()
	fmt.Fprint(h, dump.ForHash(*t))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// unfinished reports whether the controller still waits for pods of a Deployment
// that has none of another template. It says once that a rollout is complete, and
// goes on saying so however the Deployment is scaled and whatever becomes of its
// pods (syncRolloutStatus in k8s.io/kubernetes, pkg/controller/deployment). One
// that is paused, or has no deadline, is not judged: that pods are not available
// is then no sign of a rollout.
func unfinished(d *appsv1.Deployment, desired int32) bool {
	c := progress(d)
	return d.Status.AvailableReplicas < desired && c.Type != "" && c.Reason != "NewReplicaSetAvailable" && c.Reason != "DeploymentPaused"
}

// progress is the condition by which the controller tells of a rollout; the zero value is
// none.
func progress(d *appsv1.Deployment) appsv1.DeploymentCondition {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing {
			return c
		}
	}
	return appsv1.DeploymentCondition{}
}

// endless reports whether the controller gives a rollout all the time there is:
// it then judges no progress (HasProgressDeadline in k8s.io/kubernetes,
// pkg/controller/deployment/util). The API server writes 600 where a manifest
// states nothing.
func endless(deadline *int32) bool { return deadline != nil && *deadline == math.MaxInt32 }

// stalled says why a Deployment does not progress: its deadline is over, or its
// ReplicaSet cannot be made. "" is one that does; one that is paused is neither.
func stalled(d *appsv1.Deployment) string {
	c := progress(d)
	if c.Status != corev1.ConditionFalse {
		return ""
	}
	return because(c.Reason, c.Message)
}
