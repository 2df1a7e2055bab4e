package kube

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// The annotations with the revision numbers of ReplicaSets of Deployments and Argo
// Rollouts. The newest has the highest number.
const (
	revisionAnnotation     = "deployment.kubernetes.io/revision"
	argoRevisionAnnotation = "rollout.argoproj.io/revision"
)

func readReplicaSet(s *appsv1.ReplicaSet) podTemplate {
	r := podTemplate{
		owner:     controllerOf(&s.ObjectMeta),
		name:      s.Name,
		hash:      s.Labels[appsv1.DefaultDeploymentUniqueLabelKey],
		spec:      s.Spec.Template,
		known:     true,
		desired:   ptr.Deref(s.Spec.Replicas, 1),
		pods:      s.Status.Replicas,
		available: s.Status.AvailableReplicas,
		since:     s.CreationTimestamp.Time,
	}
	if s.Status.ObservedGeneration < s.Generation {
		// The number may be from before the ReplicaSet was scaled in.
		r.available = min(r.available, r.desired)
	}
	r.number, _ = strconv.ParseInt(cmp.Or(s.Annotations[revisionAnnotation], s.Annotations[argoRevisionAnnotation]), 10, 64)
	if hash := s.Labels[argoHashLabel]; hash != "" {
		r.hash = hash
		forget(&r.spec, s.Annotations[ephemeralAnnotation])
	}
	for _, c := range s.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			r.failure = because(c.Reason, c.Message)
		}
	}
	return r
}

// ephemeralAnnotation has, as JSON, the labels and annotations that Argo Rollouts adds to
// pods while they are canary or stable pods.
const ephemeralAnnotation = "rollout.argoproj.io/ephemeral-metadata"

// forget removes the ephemeral labels and annotations from a template, because no
// manifest states them.
func forget(t *corev1.PodTemplateSpec, ephemeral string) {
	var given struct{ Labels, Annotations map[string]string }
	if ephemeral == "" || json.Unmarshal([]byte(ephemeral), &given) != nil {
		return
	}
	*t = *t.DeepCopy()
	for name := range given.Labels {
		delete(t.Labels, name)
	}
	for name := range given.Annotations {
		delete(t.Annotations, name)
	}
}

// controllerOf returns the UID of the object's controller, or "" if the object does not
// have one.
func controllerOf(o *metav1.ObjectMeta) types.UID {
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
		return owner.UID
	}
	return ""
}

// rolloutOf returns the rollout of a Deployment from the ReplicaSets that it owns. The
// target is the first template, even if it has no pods. The other templates with pods
// follow, the newest first. If no other template has pods, the newest of the kept
// ReplicaSets follows, because it is the template that the target replaced.
//
// The first template of a Deployment replaced no other, so it is not a rollout. If the
// Deployment was paused before its rollout, the target has no ReplicaSet yet.
func rolloutOf(f *flight, owned []podTemplate) *workload.Rollout {
	target := podTemplate{spec: f.template, known: true, hash: f.hash}
	found := false
	var others, kept []podTemplate
	for _, s := range owned {
		same := sameTemplate(&s.spec, &f.template)
		switch {
		case same && !found:
			target, found = s, true
		case s.desired > 0 || s.pods > 0:
			others = append(others, s)
		case !same:
			kept = append(kept, s)
		}
	}
	slices.SortFunc(others, newest)
	switch {
	case len(others) > 0:
	case f.rollout.Halted == paused && target.desired == 0 && target.pods == 0:
		return &workload.Rollout{Desired: f.rollout.Desired}
	case len(kept) > 0:
		others = []podTemplate{slices.MinFunc(kept, newest)}
	case found && target.number <= 1:
		return &workload.Rollout{Desired: f.rollout.Desired}
	}
	r := f.rollout
	r.Failure = target.failure
	if speaksOf(f.stalled, target.name) {
		r.Failure = cmp.Or(f.stalled, target.failure)
	}
	r.Templates = []workload.Template{target.tell(nil)}
	for _, s := range others {
		r.Templates = append(r.Templates, s.tell(&target.spec))
	}
	if len(others) == 0 {
		r.Templates = append(r.Templates, workload.Template{}) // the replaced template is not kept
	}
	return &r
}
