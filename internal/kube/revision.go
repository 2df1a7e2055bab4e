package kube

import (
	"cmp"
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/workload"
)

func readRevision(c *appsv1.ControllerRevision) podTemplate {
	r := podTemplate{owner: controllerOf(&c.ObjectMeta), name: c.Name, hash: c.Name, number: c.Revision, since: c.CreationTimestamp.Time}
	if of := metav1.GetControllerOfNoCopy(c); of != nil && of.Kind == "DaemonSet" {
		r.hash = c.Labels[appsv1.ControllerRevisionHashLabelKey]
	}
	// The data is a patch that replaces the template.
	var patch struct {
		Spec struct {
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if json.Unmarshal(c.Data.Raw, &patch) == nil && patch.Spec.Template != nil {
		r.spec, r.known = *patch.Spec.Template, true
	}
	return r
}

// revised returns the rollout of a StatefulSet or a DaemonSet from the revisions that it
// owns. It returns only certain data of templates. If pods of a StatefulSet have neither
// of the two revisions in its status, revised names their template only if there is one
// candidate. If the template of a DaemonSet is not among its revisions, the DaemonSet has
// changed since it was listed, and revised returns no templates.
func revised(kind workload.Kind, f *flight, owned []podTemplate) *workload.Rollout {
	slices.SortFunc(owned, newest)
	r := f.rollout
	var pods []share
	if kind == workload.DaemonSet {
		pods = ofDaemonSet(f, owned)
	} else {
		pods = ofStatefulSet(f, owned)
		if pods == nil {
			return &workload.Rollout{Desired: r.Desired}
		}
	}
	var target *corev1.PodTemplateSpec
	for i, s := range pods {
		if i > 0 && s.pods < 0 {
			continue
		}
		of := podTemplate{hash: s.revision}
		if n := indexOf(owned, s.revision); n >= 0 {
			of = owned[n]
		}
		of.desired, of.available = s.pods, f.atLeast(s.pods)
		r.Templates = append(r.Templates, of.tell(target))
		if i == 0 {
			target = of.template()
		}
	}
	return &r
}

func indexOf(all []podTemplate, name string) int {
	return slices.IndexFunc(all, func(r podTemplate) bool { return r.name == name })
}

// ofStatefulSet returns the pods of a StatefulSet by revision. The target is the first.
// The others follow, the newest first. It returns nil if no rollout is in flight.
//
// The status has the pods of the target's revision and of the current revision, and the
// total. If exactly one other revision is left, it is the revision of all other pods. If
// only these two revisions are left, the other pods are terminating. If only pods of the
// target are left and the controller waits for them, the current revision follows without
// pods.
func ofStatefulSet(f *flight, owned []podTemplate) []share {
	if len(f.pods) == 2 {
		return undone(f, owned)
	}
	pods := slices.Clone(f.pods)
	var left []string
	for _, r := range owned {
		if r.name != pods[0].revision && r.name != pods[1].revision {
			left = append(left, r.name)
		}
	}
	switch known := len(owned) - len(left); {
	case len(left) == 1:
		pods[2].revision = left[0]
	case len(left) == 0 && known == 2:
		pods = pods[:2]
	}
	others := slices.DeleteFunc(pods[1:], func(s share) bool { return s.pods <= 0 })
	slices.SortStableFunc(others, func(a, b share) int {
		// As an unsigned number, -1 (not found) is the last.
		return cmp.Compare(uint(indexOf(owned, a.revision)), uint(indexOf(owned, b.revision)))
	})
	switch left := pods[:1+len(others)]; {
	case mixed(left), begins(left):
		return left
	case awaited(left, f.rollout.Halted):
		return []share{left[0], {revision: f.pods[1].revision}}
	}
	return nil
}

// undone returns the pods by revision for a StatefulSet whose status names one revision,
// after a rollback. The other pods have the revision before the rollback, which is
// younger than the target. If there is no such revision, the other pods are terminating,
// and undone returns nil. A pod that terminates after a rollback counts as a pod of the
// younger revision.
func undone(f *flight, owned []podTemplate) []share {
	pods := slices.Clone(f.pods)
	target := indexOf(owned, pods[0].revision)
	if target < 0 {
		return nil
	}
	var left []string
	for _, r := range owned {
		if r.since.After(owned[target].since) {
			left = append(left, r.name)
		}
	}
	switch len(left) {
	case 0:
		return nil
	case 1:
		pods[1].revision = left[0]
	}
	return pods
}

// ofDaemonSet returns the pods of a DaemonSet by revision. Its status names no revisions,
// and gitlatch does not list its pods. The target is the newest revision, if that has the
// DaemonSet's template. All other pods count as pods of the revision before it. This can
// be wrong if the rollout overtook an earlier one, or one that was stopped before its
// first pod.
func ofDaemonSet(f *flight, owned []podTemplate) []share {
	if len(owned) == 0 || !owned[0].known || !sameTemplate(&owned[0].spec, &f.template) {
		return nil
	}
	pods := slices.Clone(f.pods)
	pods[0].revision = owned[0].name
	if len(owned) > 1 {
		pods[1].revision = owned[1].name
	}
	return pods
}
