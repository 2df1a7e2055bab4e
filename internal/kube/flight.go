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

	"github.com/gitlatch/gitlatch/internal/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A flight is a workload that has pods of another template than its own, or whose
// controller still waits for those of its own, as its object shows it, and what
// finds the templates: the ReplicaSets of a Deployment and of an Argo Rollout, the
// ControllerRevisions of the other kinds.
type flight struct {
	uid      types.UID
	selector *metav1.LabelSelector
	template corev1.PodTemplateSpec // that the workload asks for
	rollout  workload.Rollout       // but for what the templates tell

	// hash and from are those of the target and of the stable ReplicaSet of an
	// Argo Rollout; hash is the target's of a paused Deployment, too, should it have
	// no ReplicaSet.
	hash, from string

	// stalled says by which condition a Deployment does not progress; "" while
	// it does.
	stalled string

	// pods are those of a StatefulSet or a DaemonSet by template, the target's
	// first; of a Deployment its ReplicaSets tell.
	pods []share
	// unavailable is how many of the pods are not available, of whichever
	// template.
	unavailable int32
}

// A share is the pods of one template.
type share struct {
	revision string // its name; "" is one that the object does not name
	pods     int32
}

// atLeast returns how many of a share are available for certain: the pods that
// are not available are known in total alone, and may all be of this template.
func (f *flight) atLeast(pods int32) int32 { return max(0, pods-max(0, f.unavailable)) }

// sameTemplate compares templates as the Deployment controller does: but for
// the hash that it adds itself, as Argo Rollouts does. Most that differ do in their images,
// which take a tenth of the time.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	return maps.Equal(images(a), images(b)) && equal(unhashed(*a), unhashed(*b))
}

// equal compares two templates: by their encoding, which takes a fourth of the time, and
// where that differs by what it means, since 1000m is 1.
func equal(a, b corev1.PodTemplateSpec) bool {
	one, err := a.Marshal()
	other, failed := b.Marshal()
	return err == nil && failed == nil && bytes.Equal(one, other) || equality.Semantic.DeepEqual(a, b)
}

// unhashed is a template without the hash, of which the rest is shared.
func unhashed(t corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	t.Labels = maps.Clone(t.Labels)
	delete(t.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(t.Labels, argoHashLabel)
	return t
}

// differInImages reports whether two templates, which differ, are the same but
// for the images of their containers. A nil template is one that is not known.
func differInImages(a, b *corev1.PodTemplateSpec) bool {
	return a != nil && b != nil && equal(imageless(*a), imageless(*b))
}

// imageless is a template without hash and images, of which the rest is shared.
func imageless(t corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	for _, list := range []*[]corev1.Container{&t.Spec.InitContainers, &t.Spec.Containers} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Image = ""
		}
	}
	return unhashed(t)
}

// images returns the image of each container; nil of a template that is not
// known, or that names what no registry has.
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

// because returns a condition as a phrase.
func because(reason, message string) string {
	return sanitize.Words(strings.TrimSuffix(reason+": "+message, ": "))
}

// speaksOf reports whether what a Deployment says of its progress is of the
// ReplicaSet with the name. Where it turned back on its way, its words may still
// be those of the ReplicaSet that it left.
func speaksOf(stalled, name string) bool {
	return !strings.Contains(stalled, `: ReplicaSet "`) || strings.Contains(stalled, `: ReplicaSet "`+name+`"`)
}
