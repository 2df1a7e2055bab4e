package limits

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

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
	Missing, Unasked []Missing

	live map[workload.ID]live
}

// A NodePool is a NodePool of Karpenter.
type NodePool struct {
	Metadata struct{ Name string }
	Spec     struct {
		Replicas *int64
		Limits   corev1.ResourceList
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

// A live is a workload of the cluster.
type live struct {
	replicas int32
	template *corev1.PodTemplateSpec
	ref      string // the Deployment that has the template of a Rollout; "" for its own
}

// Fail adds a kind that could not be read. name is its resource, as in RBAC roles.
func (s *Set) Fail(name string, err error) {
	m := Missing{Value: name, Why: fmt.Sprintf("cannot list %s: %v. Apply infra/rbac/doctor", name, err)}
	if slices.Contains([]string{"resourcequotas", "nodes", "nodepools.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"}, name) {
		s.Missing = append(s.Missing, m)
		return
	}
	s.Unasked = append(s.Unasked, m)
}

// AddWorkload adds a live workload or DaemonSet in JSON.
func (s *Set) AddWorkload(kind workload.Kind, replicas workload.Field, object []byte) error {
	var w struct {
		Metadata struct{ Name, Namespace string }
		Spec     struct {
			Template    *corev1.PodTemplateSpec
			WorkloadRef struct{ Name string }
		}
	}
	err := json.Unmarshal(object, &w)
	if err != nil {
		return err
	}
	if s.live == nil {
		s.live = map[workload.ID]live{}
	}
	one := live{1, w.Spec.Template, w.Spec.WorkloadRef.Name}
	stated := workload.At(object, replicas.Names()...)
	if stated != nil {
		err = json.Unmarshal(stated, &one.replicas)
	}
	s.live[workload.ID{Namespace: w.Metadata.Namespace, Kind: kind, Name: w.Metadata.Name}] = one
	return err
}

// Join adds the live workloads of another cluster, without its DaemonSets, and its unread
// requests. A workload of both has the larger number of replicas.
func (s *Set) Join(other *Set) {
	all := map[workload.ID]live{}
	for id, l := range other.live {
		if id.Kind != workload.DaemonSet {
			all[id] = l
		}
	}
	for id, l := range s.live {
		l.replicas = max(l.replicas, all[id].replicas) // a standby may have fewer
		all[id] = l
	}
	s.live = all
	s.Unasked = append(s.Unasked, other.Unasked...)
}

// Pods returns the pods of a rebuild: of workloads with a level, and of the other live
// workloads at their live replicas. The requests are in the live workload.
func (s *Set) Pods(levels map[workload.ID]int32) (all []Pods, unasked []Missing) {
	replicas := map[workload.ID]int32{}
	for id, l := range s.live {
		if id.Kind != workload.DaemonSet {
			replicas[id] = l.replicas
		}
	}
	for id, level := range levels {
		if level > 0 {
			replicas[id] = level
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(replicas), workload.Compare) {
		template := s.template(id)
		switch {
		case replicas[id] == 0:
		case template == nil:
			unasked = append(unasked, Missing{Value: "requests of " + id.String(), Why: "the cluster has no object with its pod template"})
		default:
			all = append(all, s.pods(id, replicas[id], *template))
		}
	}
	return all, unasked
}

// daemons returns the DaemonSets, with the tolerations that their controller adds.
func (s *Set) daemons() (all []Pods) {
	for _, id := range slices.SortedFunc(maps.Keys(s.live), workload.Compare) {
		template := s.live[id].template
		if id.Kind == workload.DaemonSet && template != nil {
			d := s.pods(id, 0, *template)
			for _, key := range []string{"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable", "not-ready", "unreachable"} {
				d.Tolerations = append(d.Tolerations, corev1.Toleration{Key: "node.kubernetes.io/" + key, Operator: corev1.TolerationOpExists})
			}
			all = append(all, d)
		}
	}
	return all
}

// template returns the live template of a workload, or nil.
func (s *Set) template(id workload.ID) *corev1.PodTemplateSpec {
	l := s.live[id]
	if l.template == nil && l.ref != "" {
		return s.live[workload.ID{Namespace: id.Namespace, Kind: workload.Deployment, Name: l.ref}].template
	}
	return l.template
}

// Subnets returns the IDs of the subnets of the NodePools.
func (s *Set) Subnets() (all []string) {
	for _, p := range s.Pools {
		all = append(all, s.subnets(p)...)
	}
	return all
}

// subnets returns the subnets that the EC2NodeClass of a NodePool has found.
func (s *Set) subnets(p NodePool) (all []string) {
	for _, c := range s.Classes {
		for _, subnet := range c.Status.Subnets {
			if c.Metadata.Name == p.Spec.Template.Spec.NodeClassRef.Name {
				all = append(all, subnet.ID)
			}
		}
	}
	return all
}
