package objects

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	helpers "k8s.io/component-helpers/resource"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// value returns an amount in the unit of fit.Resources.
func value(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU || strings.HasSuffix(string(name), ".cpu") {
		return q.MilliValue()
	}
	return q.Value()
}

func values(list corev1.ResourceList) fit.Resources {
	all := fit.Resources{}
	for name, q := range list {
		all[string(name)] = value(name, q)
	}
	return all
}

// requests returns the requests and limits of one pod. A missing request is the limit, or
// else the default of a LimitRange, as the API server sets them for a new pod.
func (s *Set) requests(namespace string, spec corev1.PodSpec) (requests, limits corev1.ResourceList) {
	set := func(r *corev1.ResourceRequirements, ranges []corev1.LimitRange) {
		if r == nil {
			return
		}
		r.Requests = over(r.Limits, r.Requests)
		for _, one := range ranges {
			for _, item := range one.Spec.Limits {
				if one.Namespace == namespace && item.Type == corev1.LimitTypeContainer {
					r.Requests, r.Limits = over(item.DefaultRequest, r.Requests), over(item.Default, r.Limits)
				}
			}
		}
	}
	spec.InitContainers = slices.Clone(spec.InitContainers)
	spec.Containers = slices.Clone(spec.Containers)
	spec.Resources = spec.Resources.DeepCopy()
	for i := range spec.InitContainers {
		set(&spec.InitContainers[i].Resources, s.ranges)
	}
	for i := range spec.Containers {
		set(&spec.Containers[i].Resources, s.ranges)
	}
	set(spec.Resources, nil)
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

// counts returns the amounts that one pod uses of a ResourceQuota. A ResourceQuota has two
// names for the requests of common resources: "cpu" is the same as "requests.cpu". See
// https://kubernetes.io/docs/concepts/policy/resource-quotas/.
func counts(requests, limits corev1.ResourceList) fit.Resources {
	all := fit.Resources{"pods": 1, "count/pods": 1}
	plain := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	for name, q := range requests {
		all[corev1.DefaultResourceRequestsPrefix+string(name)] = value(name, q)
		if slices.Contains(plain, name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			all[string(name)] = value(name, q)
		}
	}
	for name, q := range limits {
		all["limits."+string(name)] = value(name, q)
	}
	return all
}

// ask returns the pods of a template.
func (s *Set) ask(id workload.ID, pods int32, t *corev1.PodTemplateSpec) fit.Ask {
	asks, limits := s.requests(id.Namespace, t.Spec)
	a := fit.Ask{
		Workload: id, Pods: pods, Requests: values(asks), Counts: counts(asks, limits), BestEffort: len(asks)+len(limits) == 0,
		Labels: maps.Clone(t.Labels), Where: where(t.Spec), Tolerations: tolerations(t.Spec.Tolerations), HostNetwork: t.Spec.HostNetwork,
	}
	a.Class, a.Priority = s.priority(t.Spec.PriorityClassName)
	if a.Labels == nil {
		a.Labels = map[string]string{}
	}
	if affinity := t.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil {
		for _, p := range affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			a.Prefers = append(a.Prefers, fit.Preference{Weight: p.Weight, Term: matches(p.Preference.MatchExpressions)})
		}
	}
	s.spread(&a, t.Spec.TopologySpreadConstraints)
	s.affinity(&a, t.Spec.Affinity)
	s.alone(&a, ports(t.Spec))
	return a
}

// where returns the node selector and the required node affinity.
func where(spec corev1.PodSpec) []fit.Term {
	var selector fit.Term
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		selector = append(selector, fit.Match{Key: key, Op: "In", Values: []string{spec.NodeSelector[key]}})
	}
	var terms []fit.Term
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			terms = append(terms, slices.Concat(selector, matches(t.MatchExpressions)))
		}
	}
	if terms == nil && selector != nil {
		terms = []fit.Term{selector}
	}
	return terms
}

func matches(expressions []corev1.NodeSelectorRequirement) fit.Term {
	return lists.Map(expressions, func(e corev1.NodeSelectorRequirement) fit.Match {
		return fit.Match{Key: e.Key, Op: string(e.Operator), Values: e.Values}
	})
}

func tolerations(all []corev1.Toleration) []fit.Toleration {
	return lists.Map(all, func(t corev1.Toleration) fit.Toleration {
		return fit.Toleration{Key: t.Key, Op: string(t.Operator), Value: t.Value, Effect: string(t.Effect)}
	})
}

// selector returns a label selector as a term. A nil selector is nil, and an empty one is
// not nil.
func selector(s *metav1.LabelSelector) fit.Term {
	if s == nil {
		return nil
	}
	term := fit.Term{}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		term = append(term, fit.Match{Key: key, Op: "In", Values: []string{s.MatchLabels[key]}})
	}
	for _, e := range s.MatchExpressions {
		term = append(term, fit.Match{Key: e.Key, Op: string(e.Operator), Values: e.Values})
	}
	return term
}

// peers returns a selector with the values of more labels of the pod itself. The pods of a
// workload get labels that the template does not have, such as pod-template-hash.
func peers(a *fit.Ask, s *metav1.LabelSelector, keys []string) fit.Term {
	term := selector(s)
	for _, key := range keys {
		if _, has := a.Labels[key]; !has {
			a.Labels[key] = a.Workload.String()
		}
		term = append(term, fit.Match{Key: key, Op: "In", Values: []string{a.Labels[key]}})
	}
	return term
}

// spread adds the topology spread constraints.
func (s *Set) spread(a *fit.Ask, all []corev1.TopologySpreadConstraint) {
	for _, c := range all {
		r := fit.Rule{
			Kind: fit.Spread, Key: c.TopologyKey, Peers: peers(a, c.LabelSelector, c.MatchLabelKeys), Skew: c.MaxSkew,
			Soft:        c.WhenUnsatisfiable == corev1.ScheduleAnyway,
			HonorTaints: c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor,
			AllNodes:    c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore,
		}
		if c.MinDomains != nil {
			r.MinDomains = *c.MinDomains
		}
		a.Rules = append(a.Rules, r)
	}
}

// affinity adds the affinity and anti-affinity to other pods.
func (s *Set) affinity(a *fit.Ask, of *corev1.Affinity) {
	add := func(kind string, t corev1.PodAffinityTerm, soft bool, weight int32) {
		a.Rules = append(a.Rules, fit.Rule{Kind: kind, Key: t.TopologyKey, Peers: peers(a, t.LabelSelector, t.MatchLabelKeys),
			Namespaces: s.namespaces(a.Workload.Namespace, t), Soft: soft, Weight: weight})
	}
	if of != nil && of.PodAffinity != nil {
		for _, t := range of.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			add(fit.Near, t, false, 0)
		}
		for _, t := range of.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			add(fit.Near, t.PodAffinityTerm, true, t.Weight)
		}
	}
	if of != nil && of.PodAntiAffinity != nil {
		for _, t := range of.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			add(fit.Apart, t, false, 0)
		}
		for _, t := range of.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			add(fit.Apart, t.PodAffinityTerm, true, t.Weight)
		}
	}
}

// namespaces returns the namespaces of a term, or nil for the pod's own namespace.
func (s *Set) namespaces(own string, t corev1.PodAffinityTerm) []string {
	all := slices.Clone(t.Namespaces)
	if by, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector); err == nil && t.NamespaceSelector != nil {
		for _, n := range s.Namespaces {
			if by.Matches(labels.Set(n.Labels)) {
				all = append(all, n.Name)
			}
		}
		if len(all) == 0 {
			all = []string{""} // no namespace
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// alone adds an anti-affinity by host for each port of the host that the pods use.
func (s *Set) alone(a *fit.Ask, ports []string) {
	for _, port := range ports {
		a.Labels[port] = "true"
		a.Rules = append(a.Rules, fit.Rule{Kind: fit.Apart, Key: fit.Hostname, Peers: fit.Term{{Key: port, Op: "Exists"}},
			Namespaces: append(lists.Map(s.Namespaces, func(n metav1.PartialObjectMetadata) string { return n.Name }), a.Workload.Namespace)})
	}
}

// ports returns the ports of the host that a pod uses, as labels.
func ports(spec corev1.PodSpec) (all []string) {
	for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
		for _, p := range c.Ports {
			port := p.HostPort
			if spec.HostNetwork {
				port = p.ContainerPort
			}
			if port != 0 {
				all = append(all, fmt.Sprintf("host-port/%s/%d", cmp.Or(p.Protocol, corev1.ProtocolTCP), port))
			}
		}
	}
	return all
}
