// Package objects converts objects of Kubernetes to the values of package fit: pod
// templates to asks, and nodes, NodePools, DaemonSets and ResourceQuotas to a room. It
// does no I/O.
package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Set is the objects of a cluster that the question needs. The zero value is a cluster
// without objects.
type Set struct {
	Quotas     []corev1.ResourceQuota
	Namespaces []metav1.PartialObjectMetadata
	// Unknown are the lists that could not be read.
	Unknown []fit.Reading

	nodes   []node
	pools   []nodePool
	ranges  []corev1.LimitRange
	classes map[string]json.RawMessage // EC2NodeClasses by name
	daemons map[workload.ID]*corev1.PodTemplateSpec
	live    map[workload.ID]live
	ranks   []schedulingv1.PriorityClass
}

// A node is the part of a Node that Room needs.
type node struct {
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Spec struct {
		Taints     []corev1.Taint
		ProviderID string
	}
	Status struct{ Allocatable, Capacity corev1.ResourceList }
}

// A nodePool is the part of a NodePool that Room needs.
type nodePool struct {
	Metadata struct{ Name string }
	Spec     struct {
		Weight   int32
		Replicas *int64
		Limits   corev1.ResourceList
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				NodeClassRef struct{ Group, Kind, Name string }
				Requirements []struct {
					corev1.NodeSelectorRequirement
					MinValues int
				}
				Taints []corev1.Taint
			}
		}
	}
}

// A live is a workload of the cluster.
type live struct {
	replicas int32
	template *corev1.PodTemplateSpec
	ref      string // the Deployment that has the template of a Rollout; "" for its own
}

// A Kind is a kind of object that a Set needs.
type Kind struct {
	Name     string // the resource with its group, as in RBAC roles
	Path     string // the path of its API group and version
	Resource string
	Kind     string
	// Adds is true if the objects could add room.
	Adds bool

	add func(s *Set, object []byte) error
}

// Kinds returns the kinds of the objects that Add adds, without Quotas and Namespaces. A
// cluster need not have all of them.
func Kinds() []Kind {
	return []Kind{
		{"limitranges", "/api/v1", "limitranges", "LimitRange", false, into(func(s *Set) *[]corev1.LimitRange { return &s.ranges })},
		{"nodes", "/api/v1", "nodes", "Node", true, into(func(s *Set) *[]node { return &s.nodes })},
		{"nodepools.karpenter.sh", "/apis/karpenter.sh/v1", "nodepools", "NodePool", true, into(func(s *Set) *[]nodePool { return &s.pools })},
		{"ec2nodeclasses.karpenter.k8s.aws", "/apis/karpenter.k8s.aws/v1", "ec2nodeclasses", "EC2NodeClass", true, (*Set).addClass},
		{"priorityclasses.scheduling.k8s.io", "/apis/scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", false,
			into(func(s *Set) *[]schedulingv1.PriorityClass { return &s.ranks })},
	}
}

// Add adds an object in JSON. kind must be one of Kinds.
func (s *Set) Add(kind string, object []byte) error {
	k, ok := lists.First(Kinds(), func(k Kind) bool { return k.Kind == kind })
	if !ok {
		return fmt.Errorf("unknown kind %s", kind)
	}
	return k.add(s, object)
}

// into returns a function that adds an object to the list of its kind.
func into[T any](list func(*Set) *[]T) func(*Set, []byte) error {
	return func(s *Set, object []byte) error {
		var one T
		err := json.Unmarshal(object, &one)
		*list(s) = append(*list(s), one)
		return err
	}
}

func (s *Set) addClass(object []byte) error {
	var o metav1.PartialObjectMetadata
	err := json.Unmarshal(object, &o)
	if s.classes == nil {
		s.classes = map[string]json.RawMessage{}
	}
	s.classes[o.Name] = slices.Clone(object)
	return err
}

// AddWorkload adds a live workload or DaemonSet in JSON.
func (s *Set) AddWorkload(kind workload.Kind, replicas workload.Field, object []byte) error {
	var w struct {
		Metadata struct{ Name, Namespace string }
		Spec     struct {
			Template    *corev1.PodTemplateSpec
			WorkloadRef struct{ Kind, Name string }
		}
	}
	if err := json.Unmarshal(object, &w); err != nil {
		return err
	}
	if s.live == nil {
		s.live, s.daemons = map[workload.ID]live{}, map[workload.ID]*corev1.PodTemplateSpec{}
	}
	id := workload.ID{Namespace: w.Metadata.Namespace, Kind: kind, Name: w.Metadata.Name}
	if kind == workload.DaemonSet {
		s.daemons[id] = w.Spec.Template
		return nil
	}
	one := live{1, w.Spec.Template, w.Spec.WorkloadRef.Name}
	if stated := workload.At(object, replicas.Names()...); stated != nil {
		if err := json.Unmarshal(stated, &one.replicas); err != nil {
			return err
		}
	}
	s.live[id] = one
	return nil
}

// A Want is a workload of a rebuild.
type Want struct {
	ID       workload.ID
	Pods     int32
	Template *corev1.PodTemplateSpec // as git builds it; nil if no build has it
}

// Asks returns the asks of workloads, and of the other live workloads at their live
// replicas.
func (s *Set) Asks(wants []Want) ([]fit.Ask, []fit.Reading) {
	return s.Only(append(wants[:len(wants):len(wants)], s.Others(wants)...))
}

// Others returns the live workloads that are not among wants, at their live replicas.
func (s *Set) Others(wants []Want) (others []Want) {
	wanted := map[workload.ID]bool{}
	for _, w := range wants {
		wanted[w.ID] = true
	}
	for id, l := range s.live {
		if !wanted[id] {
			others = append(others, Want{ID: id, Pods: l.replicas})
		}
	}
	return others
}

// Join adds the live workloads of another cluster that s does not have.
func (s *Set) Join(other *Set) {
	all := map[workload.ID]live{}
	maps.Copy(all, other.live)
	maps.Copy(all, s.live)
	s.live = all
}

// Only returns the asks of workloads. A workload without a template in git has its live
// template, or an unknown reading.
func (s *Set) Only(wants []Want) (asks []fit.Ask, unknown []fit.Reading) {
	slices.SortFunc(wants, func(a, b Want) int { return workload.Compare(a.ID, b.ID) })
	for _, w := range wants {
		template := w.Template
		if template == nil {
			template = s.Template(w.ID)
		}
		switch {
		case w.Pods == 0 || w.ID.Kind == workload.DaemonSet:
		case template == nil:
			unknown = append(unknown, fit.Reading{Name: "requests of " + w.ID.String(), Why: "no build and no live object has its pod template"})
		default:
			a := s.ask(w.ID, w.Pods, template)
			a.Live = w.Template == nil
			asks = append(asks, a)
		}
	}
	return asks, unknown
}

// Template returns the live template of a workload, or nil.
func (s *Set) Template(id workload.ID) *corev1.PodTemplateSpec {
	l := s.live[id]
	if l.template == nil && l.ref != "" {
		return s.live[workload.ID{Namespace: id.Namespace, Kind: workload.Deployment, Name: l.ref}].template
	}
	return l.template
}

// priority returns the name and value of the PriorityClass of pods.
func (s *Set) priority(class string) (string, int32) {
	system := map[string]int32{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}
	for _, c := range s.ranks {
		if c.Name == class || class == "" && c.GlobalDefault {
			return c.Name, c.Value
		}
	}
	return class, system[class]
}

// ResourceQuotas returns the ResourceQuotas.
func (s *Set) ResourceQuotas() []fit.Quota {
	return lists.Map(s.Quotas, func(q corev1.ResourceQuota) fit.Quota {
		one := fit.Quota{Namespace: q.Namespace, Name: q.Name, Hard: values(q.Spec.Hard)}
		for _, scope := range q.Spec.Scopes {
			one.Scopes = append(one.Scopes, fit.Scope{Name: string(scope), Op: "Exists"})
		}
		if by := q.Spec.ScopeSelector; by != nil {
			for _, e := range by.MatchExpressions {
				one.Scopes = append(one.Scopes, fit.Scope{Name: string(e.ScopeName), Op: string(e.Operator), Values: e.Values})
			}
		}
		return one
	})
}

// Room returns the room in the cluster. DaemonSets in git replace the live ones. A NodePool
// has the instance types of its present nodes.
func (s *Set) Room(daemons map[workload.ID]*corev1.PodTemplateSpec) fit.Room {
	all := maps.Clone(s.daemons)
	if all == nil {
		all = map[workload.ID]*corev1.PodTemplateSpec{}
	}
	maps.Copy(all, daemons)
	room := fit.Room{Quotas: s.ResourceQuotas(), Unknown: slices.Clone(s.Unknown)}
	for _, id := range slices.SortedFunc(maps.Keys(all), workload.Compare) {
		if t := all[id]; t == nil {
			room.Unknown = append(room.Unknown, fit.Reading{Name: "requests of " + id.String(), Why: "it has no pod template"})
		} else {
			room.Daemons = append(room.Daemons, s.daemon(id, t))
		}
	}
	if len(s.nodes)+len(s.pools) == 0 {
		room.Unknown = append(room.Unknown, fit.Reading{Name: "nodes", Why: "the cluster lists no nodes and no NodePools", Adds: true})
	}
	if slices.ContainsFunc(s.nodes, fargate) {
		room.Unknown = append(room.Unknown, fit.Reading{Name: "Fargate profiles", Why: "the pods on Fargate count as pods that need a node", Adds: true})
	}
	for _, n := range s.nodes {
		if n.Metadata.Labels[fit.PoolLabel] == "" && !fargate(n) {
			one := fit.Node{Name: n.Metadata.Name, Labels: n.Metadata.Labels, Taints: taints(n.Spec.Taints)}
			one.Allocatable = values(n.Status.Allocatable)
			room.Nodes = append(room.Nodes, one)
		}
	}
	for _, p := range s.pools {
		if p.Spec.Replicas != nil {
			room.Unknown = append(room.Unknown, fit.Reading{Name: "nodes of NodePool " + p.Metadata.Name, Why: "a NodePool with spec.replicas is not counted", Adds: true})
			continue
		}
		room.Pools = append(room.Pools, s.pool(p))
	}
	return room
}

// fargate reports whether a node is a pod of Fargate. Each such node runs one pod.
func fargate(n node) bool { return n.Metadata.Labels["eks.amazonaws.com/compute-type"] == "fargate" }

// daemon returns a DaemonSet with the tolerations that its controller adds.
func (s *Set) daemon(id workload.ID, t *corev1.PodTemplateSpec) fit.Daemon {
	asks, _ := s.requests(id.Namespace, t.Spec)
	d := fit.Daemon{Name: id.Short(), Requests: values(asks), Where: where(t.Spec), HostNetwork: t.Spec.HostNetwork, Ports: ports(t.Spec)}
	d.Tolerations = tolerations(t.Spec.Tolerations)
	for _, key := range []string{"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable", "not-ready", "unreachable"} {
		d.Tolerations = append(d.Tolerations, fit.Toleration{Key: "node.kubernetes.io/" + key, Op: "Exists"})
	}
	return d
}

// taints returns the taints that a node of a rebuilt cluster has. It leaves out the taints
// of the node lifecycle.
func taints(all []corev1.Taint) (kept []fit.Taint) {
	for _, t := range all {
		if !strings.HasPrefix(t.Key, "node.kubernetes.io/") && !strings.HasPrefix(t.Key, "node.cloudprovider.kubernetes.io/") && !strings.HasPrefix(t.Key, "readiness.k8s.io/") &&
			t.Key != "ToBeDeletedByClusterAutoscaler" && t.Key != "DeletionCandidateOfClusterAutoscaler" && t.Key != "karpenter.sh/disrupted" && t.Key != "karpenter.sh/unregistered" {
			kept = append(kept, fit.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
		}
	}
	return kept
}

// pool returns a NodePool.
func (s *Set) pool(p nodePool) fit.Pool {
	t := p.Spec.Template
	ref := t.Spec.NodeClassRef
	out := fit.Pool{Name: p.Metadata.Name, Weight: p.Spec.Weight, Limits: values(p.Spec.Limits), Shapes: s.shapes(p.Metadata.Name)}
	out.Labels = maps.Clone(t.Metadata.Labels)
	out.Taints = taints(t.Spec.Taints)
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	out.Labels[ref.Group+"/"+strings.ToLower(ref.Kind)] = ref.Name
	for _, r := range t.Spec.Requirements {
		out.Require = append(out.Require, fit.Match{Key: r.Key, Op: string(r.Operator), Values: r.Values, Min: r.MinValues})
	}
	return out
}

// shapes returns the instance types of the present nodes of a NodePool, the smallest first.
// Each can start in every zone and with every capacity type that these nodes have.
func (s *Set) shapes(pool string) (all []fit.Shape) {
	offers := map[fit.Offer]bool{}
	for _, n := range s.nodes {
		labels := n.Metadata.Labels
		if labels[fit.PoolLabel] != pool {
			continue
		}
		offers[fit.Offer{Zone: labels[fit.Zone], CapacityType: labels[fit.CapacityType]}] = true
		if name := labels[fit.InstanceType]; !slices.ContainsFunc(all, func(o fit.Shape) bool { return o.Name == name }) {
			own := maps.Clone(labels)
			maps.DeleteFunc(own, func(key, _ string) bool {
				return key == fit.Zone || key == fit.CapacityType || key == fit.Hostname || key == fit.PoolLabel
			})
			all = append(all, fit.Shape{Name: name, Labels: own, Capacity: values(n.Status.Capacity), Allocatable: values(n.Status.Allocatable)})
		}
	}
	sorted := slices.SortedFunc(maps.Keys(offers), func(a, b fit.Offer) int {
		return strings.Compare(a.Zone+" "+a.CapacityType, b.Zone+" "+b.CapacityType)
	})
	for i := range all {
		all[i].Offers = sorted
	}
	slices.SortFunc(all, func(a, b fit.Shape) int { return fit.Smaller(a, b) })
	return all
}

// Classes returns the EC2NodeClasses of the NodePools, by the name of the NodePool.
func (s *Set) Classes() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, p := range s.pools {
		if class, ok := s.classes[p.Spec.Template.Spec.NodeClassRef.Name]; ok {
			all[p.Metadata.Name] = class
		}
	}
	return all
}

// Environment returns the environment of the container aws-node of the VPC CNI, or nil if
// the cluster does not have it.
func (s *Set) Environment() map[string]string {
	t := s.daemons[workload.ID{Namespace: "kube-system", Kind: workload.DaemonSet, Name: "aws-node"}]
	if t == nil {
		return nil
	}
	all := map[string]string{}
	for _, c := range t.Spec.Containers {
		for _, e := range c.Env {
			if c.Name == "aws-node" {
				all[e.Name] = e.Value
			}
		}
	}
	return all
}

// Unread returns the readings that the objects of the cluster do not have. account is true
// if the room gets them from the AWS account of the cluster.
func (s *Set) Unread(account bool) (unknown []fit.Reading) {
	karpenter := func(p nodePool) bool { return p.Spec.Template.Spec.NodeClassRef.Group == "karpenter.k8s.aws" }
	aws := slices.ContainsFunc(s.pools, karpenter) || slices.ContainsFunc(s.nodes, func(n node) bool { return n.provider() == "aws" })
	why := "gitlatch reads only AWS accounts"
	if aws {
		why = "gitlatch did not read the AWS account. Use --aws"
	}
	for _, p := range s.pools {
		if !karpenter(p) || !account {
			unknown = append(unknown, fit.Reading{Name: "instance types of NodePool " + p.Metadata.Name, Why: why, Adds: true})
		}
		if !karpenter(p) {
			unknown = append(unknown, fit.Reading{Name: "quotas and subnets of NodePool " + p.Metadata.Name, Why: "the NodePool has no EC2NodeClass"})
		}
	}
	foreign := slices.ContainsFunc(s.nodes, func(n node) bool { return !slices.Contains(local, n.provider()) })
	if foreign || s.Autoscaled() && !account {
		unknown = append(unknown, fit.Reading{Name: "maximum size of the node groups", Why: why, Adds: true})
	}
	if aws && !account {
		unknown = append(unknown, fit.Reading{Name: "vCPU quotas and free addresses of the subnets", Why: why})
	}
	return unknown
}

// local are the providers without an autoscaler outside the cluster, and AWS, whose account
// Unread covers.
var local = []string{"", "aws", "eks-hybrid", "kind", "k3s"}

// provider returns the cloud provider of a node: "aws", "gce". It is "" for a node that has no
// provider.
func (n node) provider() string {
	name, _, _ := strings.Cut(n.Spec.ProviderID, ":")
	return name
}

// Autoscaled reports whether the Cluster Autoscaler adds nodes to node groups.
func (s *Set) Autoscaled() bool {
	for id, l := range s.live {
		if l.replicas > 0 && l.template != nil && strings.Contains(id.Name, "cluster-autoscaler") {
			return true
		}
	}
	return false
}
