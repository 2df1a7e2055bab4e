package limits

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// takes reports whether the labels and taints of a shape allow pods.
func (s Shape) takes(p Pods) bool {
	hard := func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
	_, refused := scheduling.FindMatchingUntoleratedTaint(klog.Background(), s.Taints, p.Tolerations, hard, true)
	matches := func(t corev1.NodeSelectorTerm) bool { return matches(t.MatchExpressions, s.Labels) }
	return !refused && (len(p.Where) == 0 || slices.ContainsFunc(p.Where, matches))
}

// provided are the prefixes of labels that a cloud provider sets. gitlatch does not know
// all of them, so a missing one can have every value.
var provided = []string{"karpenter.k8s.aws/", "karpenter.sh/", "eks.amazonaws.com/", "topology.", "node.kubernetes.io/", "kubernetes.io/", "beta.kubernetes.io/", "failure-domain."}

// matches reports whether labels can make all expressions true.
func matches(all []corev1.NodeSelectorRequirement, labels map[string][]string) bool {
	return !slices.ContainsFunc(all, func(r corev1.NodeSelectorRequirement) bool {
		values, has := labels[r.Key]
		unknown := !has && slices.ContainsFunc(provided, func(prefix string) bool { return strings.HasPrefix(r.Key, prefix) })
		return !unknown && !allows(r, values)
	})
}

// allows reports whether one of the possible values of a label makes an expression true. A
// node without the label has no values. An expression that Kubernetes does not know is true.
func allows(r corev1.NodeSelectorRequirement, values []string) bool {
	selector := nodeaffinity.NewLazyErrorNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{r}},
	}})
	match := func(labels map[string]string) bool {
		ok, err := selector.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}})
		return ok || err != nil
	}
	if len(values) == 0 {
		return match(nil)
	}
	return slices.ContainsFunc(values, func(value string) bool { return match(map[string]string{r.Key: value}) })
}
