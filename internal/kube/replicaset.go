package kube

import (
	"cmp"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// revisionAnnotation numbers the ReplicaSets of a Deployment, the newest
// highest.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// A replicaSet is one template of a Deployment, and its pods.
type replicaSet struct {
	owner    types.UID // of the controller; "" without one
	revision int64
	hash     string
	template corev1.PodTemplateSpec
	desired  int32
	pods     int32
	// available counts the pods that were ready for minReadySeconds.
	available int32
}

func readReplicaSet(s *appsv1.ReplicaSet) replicaSet {
	r := replicaSet{
		hash:      s.Labels[appsv1.DefaultDeploymentUniqueLabelKey],
		template:  s.Spec.Template,
		desired:   1,
		pods:      s.Status.Replicas,
		available: s.Status.AvailableReplicas,
	}
	if owner := metav1.GetControllerOfNoCopy(s); owner != nil {
		r.owner = owner.UID
	}
	if s.Spec.Replicas != nil {
		r.desired = *s.Spec.Replicas
	}
	r.revision, _ = strconv.ParseInt(s.Annotations[revisionAnnotation], 10, 64)
	return r
}

// rolloutOf returns the rollout of a Deployment from the ReplicaSets that it
// owns. The target comes first even while it has no pods. A paused Deployment
// does not go towards its template: it is in flight only where it was stopped
// between two others.
func rolloutOf(d *rolling, owned []replicaSet) *workload.Rollout {
	var target workload.Template
	var others []replicaSet
	target.Images = images(&d.template)
	for _, s := range owned {
		switch {
		case target.Hash == "" && sameTemplate(&s.template, &d.template):
			target = s.asTemplate()
		case s.desired > 0 || s.pods > 0:
			others = append(others, s)
		}
	}
	slices.SortFunc(others, func(a, b replicaSet) int {
		return cmp.Or(cmp.Compare(b.revision, a.revision), cmp.Compare(a.hash, b.hash))
	})
	stands := d.paused && target.Desired == 0 && len(others) < 2
	if stands {
		return &workload.Rollout{}
	}
	r := &workload.Rollout{InFlight: true, Templates: []workload.Template{target}}
	for _, s := range others {
		r.Templates = append(r.Templates, s.asTemplate())
	}
	return r
}

func (s *replicaSet) asTemplate() workload.Template {
	return workload.Template{Hash: s.hash, Images: images(&s.template), Desired: s.desired, Available: s.available}
}

// sameTemplate compares templates as the Deployment controller does: but for
// the hash that it adds itself.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	delete(a.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(b.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return equality.Semantic.DeepEqual(a, b)
}

func images(t *corev1.PodTemplateSpec) map[string]string {
	by := make(map[string]string, len(t.Spec.InitContainers)+len(t.Spec.Containers))
	for _, list := range [][]corev1.Container{t.Spec.InitContainers, t.Spec.Containers} {
		for _, c := range list {
			by[c.Name] = c.Image
		}
	}
	return by
}
