package limits

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	helpers "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Set is the objects of a cluster that the question needs. The zero value is a cluster
// without objects.
type Set struct {
	Quotas  []corev1.ResourceQuota
	Ranges  []corev1.LimitRange
	Nodes   []corev1.Node
	Pools   []NodePool
	Classes []NodeClass
	// Missing are the kinds of limits that could not be read, and Unasked the kinds with
	// requests.
	Missing, Unasked []room.Limit

	live map[workload.ID]Live
}

// A NodePool is a NodePool of Karpenter.
type NodePool struct {
	Metadata struct{ Name string }
	Spec     struct {
		Limits   corev1.ResourceList
		Replicas *int64 // of a static NodePool; nil is another
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				NodeClassRef struct{ Name string }
				Requirements []corev1.NodeSelectorRequirement
				Taints       []corev1.Taint
			}
		}
	}
}

// A NodeClass is an EC2NodeClass of Karpenter.
type NodeClass struct {
	Metadata struct{ Name string }
	Status   struct{ Subnets []struct{ ID string } }
}

// Fail adds a kind that could not be read. name is its resource, as in RBAC roles.
func (s *Set) Fail(name string, err error) {
	list := &s.Unasked
	if slices.Contains([]string{"resourcequotas", "nodes", "nodepools.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"}, name) {
		list = &s.Missing
	}
	*list = append(*list, Unknown(name, fmt.Sprintf("cannot list %s: %v. Apply infra/rbac/doctor", name, err)))
}

// A Live is a workload of the cluster.
type Live struct {
	Replicas int32                   // of the spec
	Here     int32                   // the created replicas in the cluster of the rebuild
	Template *corev1.PodTemplateSpec // nil if it is in another object
}

// AddWorkload adds a live workload or DaemonSet.
func (s *Set) AddWorkload(id workload.ID, l Live) {
	if s.live == nil {
		s.live = map[workload.ID]Live{}
	}
	s.live[id] = l
}

// Join adds the live workloads of another cluster, without its DaemonSets, and its unread
// requests. A workload of both has the larger number of replicas.
func (s *Set) Join(other *Set) {
	for id, l := range other.live {
		own := s.live[id]
		if id.Kind != workload.DaemonSet {
			s.AddWorkload(id, Live{max(l.Replicas, own.Replicas), own.Here, l.Template})
		}
	}
	s.Unasked = append(s.Unasked, other.Unasked...)
}

// A Rebuild is the pods that it starts.
type Rebuild struct {
	pods, daemons []Pods
	count         int64        // of pods
	unasked       []room.Limit // unread requests
}

// Rebuild returns a rebuild: each workload with a level at its level, and the other live
// workloads at their live replicas. The requests are in the live workload.
func (s *Set) Rebuild(levels map[workload.ID]int32) Rebuild {
	all := Rebuild{unasked: slices.Clone(s.Unasked)}
	live := map[workload.ID]Live{}
	maps.Copy(live, s.live)
	for id, level := range levels {
		if level > 0 {
			live[id] = Live{level, live[id].Here, live[id].Template}
		}
	}
	all.pods = make([]Pods, 0, len(live))
	sum := corev1.ResourceList{}
	for _, id := range slices.SortedFunc(maps.Keys(live), workload.Compare) {
		l := live[id]
		if l.Template == nil && l.Replicas > 0 {
			all.unasked = append(all.unasked, Unknown("requests of "+id.String(), "the cluster has no object with its pod template"))
			l.Template = &corev1.PodTemplateSpec{}
		}
		switch {
		case id.Kind == workload.DaemonSet:
			all.daemons = append(all.daemons, s.podsOf(id, l, sum))
		case l.Replicas > 0:
			all.pods = append(all.pods, s.podsOf(id, l, sum))
			all.count += int64(l.Replicas)
		}
	}
	return all
}

// podsOf returns the pods of a workload. sum is a list to sum up resources in.
func (s *Set) podsOf(id workload.ID, l Live, sum corev1.ResourceList) Pods {
	pod := s.created(id.Namespace, l.Template.Spec)
	p := Pods{Workload: id, Count: int64(l.Replicas), Live: int64(l.Here), Apart: apart(*l.Template), Spec: &l.Template.Spec}
	p.Affinity = nodeaffinity.GetRequiredNodeAffinity(&pod)
	p.Requests = amounts(helpers.PodRequests(&pod, helpers.PodResourcesOptions{Reuse: sum}))
	p.Requests[Count] = 1
	if !pod.Spec.HostNetwork {
		p.Requests[Addresses] = 1
	}
	return p
}

// created returns a pod as the API server creates it: a missing request is the limit, or else
// the default of a LimitRange.
func (s *Set) created(namespace string, spec corev1.PodSpec) corev1.Pod {
	spec.InitContainers = slices.Clone(spec.InitContainers)
	spec.Containers = slices.Clone(spec.Containers)
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
	return corev1.Pod{Spec: spec}
}

// over returns the amounts of list, and the others of base.
func over(base, list corev1.ResourceList) corev1.ResourceList {
	for name, q := range base {
		if _, has := list[name]; !has {
			more := corev1.ResourceList{name: q}
			maps.Copy(more, list)
			list = more
		}
	}
	return list
}

// endless is an amount that no cluster has: CPUs, bytes, or units of another resource.
const endless = 1e16 / 2

// amounts returns amounts without the endless ones, whose sums would overflow.
func amounts(list corev1.ResourceList) Amounts {
	all := Amounts{}
	for name, q := range list {
		switch {
		case q.AsApproximateFloat64() >= endless:
		case strings.HasSuffix("."+string(name), ".cpu"):
			all[string(name)] = q.MilliValue()
		default:
			all[string(name)] = q.Value()
		}
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
		return err == nil && nodes && len(t.Namespaces) == 0 && t.NamespaceSelector == nil && selector.Matches(labels.Set(template.Labels))
	})
}
