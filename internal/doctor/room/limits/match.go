package limits

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
)

// provided are the prefixes of labels that a cloud provider sets. gitlatch does not know
// all of them, so a missing one can have every value.
var provided = []string{"karpenter.k8s.aws/", "karpenter.sh/", "eks.amazonaws.com/", "topology.", "node.kubernetes.io/", "kubernetes.io/", "beta.kubernetes.io/", "failure-domain."}

// starts reports whether a source may start nodes for pods. It is false only if a taint, or a
// label that no node of the source has, certainly keeps the pods away.
func (s Source) starts(spec *corev1.PodSpec) bool {
	hard := func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
	_, refused := scheduling.FindMatchingUntoleratedTaint(klog.Background(), s.Taints, spec.Tolerations, hard, true)
	for key, value := range spec.NodeSelector {
		refused = refused || s.lacks(corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		allows := func(t corev1.NodeSelectorTerm) bool { return !slices.ContainsFunc(t.MatchExpressions, s.lacks) }
		refused = refused || !slices.ContainsFunc(terms, allows)
	}
	return !refused
}

// lacks reports whether certainly no node of a source has one of the values of a label.
func (s Source) lacks(r corev1.NodeSelectorRequirement) bool {
	values, has := s.Labels[r.Key]
	in := func(value string) bool { return slices.Contains(r.Values, value) }
	// The kubelet and controllers such as NFD add labels that a source does not list.
	open := s.Own == GroupLabel || s.seen[r.Key] ||
		slices.ContainsFunc(provided, func(prefix string) bool { return strings.HasPrefix(r.Key, prefix) })
	return r.Operator == corev1.NodeSelectorOpIn && (values != nil || !has && !open) && !slices.ContainsFunc(values, in)
}
