package kube

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A flight is a workload with a rollout in flight: it has pods of another template, or
// its controller still waits for pods of the target template. It has the data from the
// workload's object, and the key to its templates. These are the ReplicaSets of a
// Deployment or an Argo Rollout, and the ControllerRevisions of other kinds.
type flight struct {
	uid      types.UID
	selector *metav1.LabelSelector
	template corev1.PodTemplateSpec // of the workload
	rollout  workload.Rollout       // without the data of the templates

	// For an Argo Rollout, hash and from are the hashes of its target ReplicaSet and its
	// stable ReplicaSet. For a paused Deployment, hash is the predicted hash of the
	// target, which may not have a ReplicaSet.
	hash, from string

	// stalled is the condition that stops a Deployment, as a phrase; "" while it makes
	// progress.
	stalled string

	// pods are the pods of a StatefulSet or a DaemonSet by template. The target is the
	// first. For a Deployment they are in its ReplicaSets.
	pods []share
	// unavailable is the number of unavailable pods of all templates.
	unavailable int32
}

// A share is the pods of one template.
type share struct {
	revision string // the name of the revision; "" if the object does not name it
	pods     int32
}

// atLeast returns how many of a template's pods are certainly available. The status has
// only the total of unavailable pods, and each of them may have this template.
func (f *flight) atLeast(pods int32) int32 { return max(0, pods-max(0, f.unavailable)) }

// sameTemplate compares templates without the hash labels that their controllers add,
// like the Deployment controller. Most different templates differ in their images. To
// compare these first takes a tenth of the time.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	return maps.Equal(images(a), images(b)) && equal(unhashed(*a), unhashed(*b))
}

// equal compares the encodings of two templates, which takes a quarter of the time of a
// full comparison. If they differ, it compares the values, because 1000m equals 1.
func equal(a, b corev1.PodTemplateSpec) bool {
	one, err := a.Marshal()
	other, failed := b.Marshal()
	return err == nil && failed == nil && bytes.Equal(one, other) || equality.Semantic.DeepEqual(a, b)
}

// unhashed returns the template without the hash labels. The copy shares the other
// fields.
func unhashed(t corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	t.Labels = maps.Clone(t.Labels)
	delete(t.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(t.Labels, argoHashLabel)
	return t
}

// differInImages reports whether two different templates differ only in the images of
// their containers. A nil template is unknown.
func differInImages(a, b *corev1.PodTemplateSpec) bool {
	return a != nil && b != nil && equal(imageless(*a), imageless(*b))
}

// imageless returns the template without images and hash labels. The copy shares the
// other fields.
func imageless(t corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	for _, list := range []*[]corev1.Container{&t.Spec.InitContainers, &t.Spec.Containers} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Image = ""
		}
	}
	return unhashed(t)
}

// images returns the images by container. It returns nil for an unknown template, and for
// an image name that a registry cannot have.
func images(t *corev1.PodTemplateSpec) map[string]string {
	if t == nil {
		return nil
	}
	by := make(map[string]string, len(t.Spec.InitContainers)+len(t.Spec.Containers))
	for _, list := range [][]corev1.Container{t.Spec.InitContainers, t.Spec.Containers} {
		for _, c := range list {
			if strings.ContainsFunc(c.Image, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
				return nil
			}
			by[c.Name] = c.Image
		}
	}
	return by
}

// because formats the reason and the message of a condition as a phrase.
func because(reason, message string) string {
	return sanitize.Words(strings.TrimSuffix(reason+": "+message, ": "))
}

// speaksOf reports whether the condition text of a Deployment applies to the ReplicaSet
// with the name. After a rollback during a rollout, the text may still name the
// ReplicaSet of the cancelled rollout.
func speaksOf(stalled, name string) bool {
	return !strings.Contains(stalled, `: ReplicaSet "`) || strings.Contains(stalled, `: ReplicaSet "`+name+`"`)
}
