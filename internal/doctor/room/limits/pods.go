package limits

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	helpers "k8s.io/component-helpers/resource"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// pods returns the pods of a workload.
func (s *Set) pods(id workload.ID, count int32, template corev1.PodTemplateSpec) Pods {
	spec := template.Spec
	requests, limits := s.requests(id.Namespace, spec)
	p := Pods{Workload: id, Count: int64(count), Requests: amounts(requests), Counts: quotaCounts(requests, limits)}
	p.Class = spec.PriorityClassName
	p.BestEffort = len(requests)+len(limits) == 0
	p.Apart = apart(template)
	p.Where = where(spec)
	p.Requests[Count] = 1
	if !spec.HostNetwork {
		p.Requests[Addresses] = 1
	}
	for _, t := range spec.Tolerations {
		t.TolerationSeconds = nil // pods with the same tolerations are one class
		p.Tolerations = append(p.Tolerations, t)
	}
	return p
}

// requests returns the requests and limits of one pod. A missing request is the limit, or
// else the default of a LimitRange, as the API server sets them for a new pod.
func (s *Set) requests(namespace string, spec corev1.PodSpec) (requests, limits corev1.ResourceList) {
	spec = *spec.DeepCopy()
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			r := &list[i].Resources
			r.Requests = over(r.Limits, r.Requests)
			for _, one := range s.Ranges {
				for _, item := range one.Spec.Limits {
					if one.Namespace == namespace && item.Type == corev1.LimitTypeContainer {
						r.Requests = over(item.DefaultRequest, r.Requests)
						r.Limits = over(item.Default, r.Limits)
					}
				}
			}
		}
	}
	if spec.Resources != nil {
		spec.Resources.Requests = over(spec.Resources.Limits, spec.Resources.Requests)
	}
	pod := &corev1.Pod{Spec: spec}
	return helpers.PodRequests(pod, helpers.PodResourcesOptions{}), helpers.PodLimits(pod, helpers.PodResourcesOptions{})
}

// over returns the amounts of list, and the others of base.
func over(base, list corev1.ResourceList) corev1.ResourceList {
	if len(base) == 0 {
		return list
	}
	all := maps.Clone(base)
	maps.Copy(all, list)
	return all
}

// amount returns an amount in the unit of Amounts.
func amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU || strings.HasSuffix(string(name), ".cpu") {
		return q.MilliValue()
	}
	return q.Value()
}

func amounts(list corev1.ResourceList) Amounts {
	all := Amounts{}
	for name, q := range list {
		if q.AsApproximateFloat64() < endless { // more does not limit, and the sums would overflow
			all[string(name)] = amount(name, q)
		}
	}
	return all
}

// endless is an amount that no cluster has: CPUs, bytes, or units of another resource.
const endless = 1e16 / 2

// quotaCounts returns the amounts that one pod uses of a ResourceQuota, which has two names
// for the requests of common resources: "cpu" is the same as "requests.cpu". See
// https://kubernetes.io/docs/concepts/policy/resource-quotas/.
func quotaCounts(requests, limits corev1.ResourceList) Amounts {
	all := Amounts{"pods": 1, "count/pods": 1}
	plain := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	for name, q := range requests {
		all[corev1.DefaultResourceRequestsPrefix+string(name)] = amount(name, q)
		if slices.Contains(plain, name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			all[string(name)] = amount(name, q)
		}
	}
	for name, q := range limits {
		all["limits."+string(name)] = amount(name, q)
	}
	return all
}

// apart reports whether a required anti-affinity of pods selects the same pods, so that a
// node runs one of them.
func apart(template corev1.PodTemplateSpec) bool {
	a := template.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return false
	}
	return slices.ContainsFunc(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool {
		selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
		nodes := t.TopologyKey == corev1.LabelHostname || t.TopologyKey == corev1.LabelTopologyZone
		elsewhere := len(t.Namespaces) > 0 || t.NamespaceSelector != nil
		return err == nil && nodes && !elsewhere && selector.Matches(labels.Set(template.Labels))
	})
}

// where returns the node selector and the required node affinity.
func where(spec corev1.PodSpec) (terms []corev1.NodeSelectorTerm) {
	var selector []corev1.NodeSelectorRequirement
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		values := []string{spec.NodeSelector[key]}
		selector = append(selector, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values})
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: slices.Concat(selector, t.MatchExpressions)})
		}
	}
	if terms == nil && selector != nil {
		terms = []corev1.NodeSelectorTerm{{MatchExpressions: selector}}
	}
	return terms
}
