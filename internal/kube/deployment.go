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

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// paused is the Halted value of a rollout that a user paused.
const paused = "paused"

// readDeployment reads a Deployment. The reading is unknown while the status describes an
// earlier generation.
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

// hashOf predicts the hash of the ReplicaSet that the controller will create for a
// template. It uses the controller's algorithm (ComputeHash in k8s.io/kubernetes,
// pkg/controller). The prediction is wrong if the controller's types have other fields.
// Equal templates always have equal hashes.
func hashOf(t *corev1.PodTemplateSpec) string {
	h := fnv.New32a()
	fmt.Fprint(h, dump.ForHash(*t))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// unfinished reports whether the controller still waits for pods of a Deployment without
// pods of another template. The controller reports once that a rollout is complete. It
// does not withdraw that report if the Deployment is scaled or loses pods
// (syncRolloutStatus in k8s.io/kubernetes, pkg/controller/deployment). The controller
// does not judge a Deployment that is paused or has no deadline. Unavailable pods of it
// are not a sign of a rollout.
func unfinished(d *appsv1.Deployment, desired int32) bool {
	c := progress(d)
	return d.Status.AvailableReplicas < desired && c.Type != "" && c.Reason != "NewReplicaSetAvailable" && c.Reason != "DeploymentPaused"
}

// progress returns the condition that reports the progress of a rollout, or the zero
// value if the Deployment does not have it.
func progress(d *appsv1.Deployment) appsv1.DeploymentCondition {
	c, _ := lists.First(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentProgressing })
	return c
}

// endless reports whether the rollout has no deadline. The controller then does not judge
// its progress (HasProgressDeadline in k8s.io/kubernetes,
// pkg/controller/deployment/util). If a manifest states no deadline, the API server sets
// 600 seconds.
func endless(deadline *int32) bool { return deadline != nil && *deadline == math.MaxInt32 }

// stalled returns why a Deployment makes no progress: it exceeded its deadline, or the
// controller cannot create its ReplicaSet. It returns "" for a Deployment that makes
// progress or is paused.
func stalled(d *appsv1.Deployment) string {
	c := progress(d)
	if c.Status != corev1.ConditionFalse {
		return ""
	}
	return because(c.Reason, c.Message)
}
