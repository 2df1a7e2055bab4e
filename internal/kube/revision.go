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
	// What is kept is a patch that replaces the template.
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

// revised returns the rollout of a StatefulSet or a DaemonSet from the
// revisions that it owns. Only what is known of a template is told: pods of a
// StatefulSet that are of neither of its two revisions have a template only
// where there is no choice, and a DaemonSet whose own template is not among its
// revisions has changed since it was listed.
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

// ofStatefulSet says which revision the pods are of that are of neither the
// current nor the target's: the one that is left, of those that are kept for
// the sake of pods or of history. Where none is left they are terminating. The
// shares after the target's are in the order of revisions, from the newest; with
// no pods that of the current revision, where no others are left and the target's
// are awaited. nil is no rollout.
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
		// Unsigned, what is not found comes last.
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

// undone says of which revision the pods are that a StatefulSet has beside the
// one revision that it names: of one that it went back from, which is younger
// than the one it went back to. Where there is none they are terminating; a pod
// that terminates after a way back is taken for the last of it.
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

// ofDaemonSet names the revisions of a DaemonSet, whose status names none and
// whose pods are not listed: the target is the newest, if that is the
// DaemonSet's own template, and all other pods are taken for those of the one
// before, also where it overtook an earlier rollout, or one that was held and had
// no pod.
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
