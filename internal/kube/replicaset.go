package kube

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// The annotations that number the ReplicaSets of a Deployment and of an Argo
// Rollout, the newest highest.
const (
	revisionAnnotation     = "deployment.kubernetes.io/revision"
	argoRevisionAnnotation = "rollout.argoproj.io/revision"
)

// A replicaSet is one template of a Deployment or an Argo Rollout, and its pods.
type replicaSet struct {
	owner    types.UID // of the controller; "" without one
	name     string
	revision int64
	hash     string
	template corev1.PodTemplateSpec
	desired  int32
	pods     int32
	// available counts the pods that were ready for minReadySeconds.
	available int32
	since     time.Time
	// failure says why pods of it cannot be made or deleted; "" where they can.
	failure string
}

// tell returns the template beside the target's; either is nil where it is not
// known, and the target's for itself.
func (s replicaSet) tell(own, target *corev1.PodTemplateSpec) workload.Template {
	return workload.Template{Hash: s.hash, Images: images(own), Desired: s.desired, Available: s.available, Since: s.since,
		ImagesOnly: differInImages(target, own)}
}

func (s replicaSet) controller() types.UID { return s.owner }

func readReplicaSet(s *appsv1.ReplicaSet) replicaSet {
	r := replicaSet{
		owner:     controllerOf(&s.ObjectMeta),
		name:      s.Name,
		hash:      s.Labels[appsv1.DefaultDeploymentUniqueLabelKey],
		template:  s.Spec.Template,
		desired:   ptr.Deref(s.Spec.Replicas, 1),
		pods:      s.Status.Replicas,
		available: s.Status.AvailableReplicas,
		since:     s.CreationTimestamp.Time,
	}
	if s.Status.ObservedGeneration < s.Generation {
		// The count may be of before it was scaled in.
		r.available = min(r.available, r.desired)
	}
	r.revision, _ = strconv.ParseInt(cmp.Or(s.Annotations[revisionAnnotation], s.Annotations[argoRevisionAnnotation]), 10, 64)
	if hash := s.Labels[argoHashLabel]; hash != "" {
		r.hash = hash
		forget(&r.template, s.Annotations[ephemeralAnnotation])
	}
	for _, c := range s.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			r.failure = because(c.Reason, c.Message)
		}
	}
	return r
}

// ephemeralAnnotation holds, as JSON, the labels and annotations that Argo
// Rollouts gives to pods for as long as they are the canary's or the stable ones.
const ephemeralAnnotation = "rollout.argoproj.io/ephemeral-metadata"

// forget takes them out of a template, since no manifest has them there.
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

// controllerOf returns the UID of what controls an object; "" where nothing
// does.
func controllerOf(o *metav1.ObjectMeta) types.UID {
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
		return owner.UID
	}
	return ""
}

// rolloutOf returns the rollout of a Deployment from the ReplicaSets that it
// owns. The target comes first even while it has no pods, the others follow
// from the newest: where none has pods the latest of those that are kept, which
// is what it replaced. A first template replaced none, and is no rollout. Of a
// Deployment that was paused before its rollout began the target has no ReplicaSet
// yet.
func rolloutOf(f *flight, owned []replicaSet) *workload.Rollout {
	target := replicaSet{template: f.template, hash: f.hash}
	found := false
	var others, kept []replicaSet
	for _, s := range owned {
		same := sameTemplate(&s.template, &f.template)
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
		others = []replicaSet{slices.MinFunc(kept, newest)}
	case found && target.revision <= 1:
		return &workload.Rollout{Desired: f.rollout.Desired}
	}
	r := f.rollout
	r.Failure = target.failure
	if speaksOf(f.stalled, target.name) {
		r.Failure = cmp.Or(f.stalled, target.failure)
	}
	r.Templates = []workload.Template{target.tell(&target.template, nil)}
	for _, s := range others {
		r.Templates = append(r.Templates, s.tell(&s.template, &target.template))
	}
	if len(others) == 0 {
		r.Templates = append(r.Templates, workload.Template{}) // what it replaced is not kept
	}
	return &r
}

// newest orders ReplicaSets from the newest.
func newest(a, b replicaSet) int {
	return cmp.Or(cmp.Compare(b.revision, a.revision), cmp.Compare(a.hash, b.hash))
}
