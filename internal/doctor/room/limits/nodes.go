package limits

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The labels that gitlatch reads.
const (
	capacityType = "karpenter.sh/capacity-type"
	poolLabel    = "karpenter.sh/nodepool"
	groupLabel   = "eks.amazonaws.com/nodegroup"
)

// An Account is the limits of an AWS account for one cluster.
type Account struct {
	Types   []Type
	Groups  []Group
	VCPUs   []Holder // the vCPU quotas, with the CPU that a rebuild can have
	Subnets []Holder // the ID of a subnet, and the addresses that a rebuild can have
	Missing []Missing
}

// A Type is an instance type.
type Type struct {
	Name     string
	Labels   map[string][]string
	Capacity Amounts           // as EC2 states them, which is more than a node has for pods
	Quotas   map[string]string // the name of its vCPU quota by capacity type: "spot", "on-demand"
}

// A Group is a managed node group.
type Group struct {
	Name         string
	Desired, Max int64 // nodes
	Types        []string
	CapacityType string
	Labels       map[string]string
	Taints       []corev1.Taint
	Subnets      []string
}

// Case returns the case of a rebuild. account is nil if no account was read.
func (s *Set) Case(levels map[workload.ID]int32, account *Account) Case {
	if account == nil {
		account = &Account{}
		if len(s.Classes) > 0 || slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool { return strings.HasPrefix(n.Spec.ProviderID, "aws:") }) {
			account.Missing = []Missing{{Value: "node groups, vCPU quotas and free addresses", Why: "gitlatch did not read the AWS account. Use --aws"}}
		}
	}
	pods, unasked := s.Pods(levels)
	c := Case{Pods: pods, Daemons: s.daemons(), Quotas: s.Quotas, Unasked: slices.Concat(s.Unasked, unasked)}
	c.Missing = slices.Concat(s.Missing, account.Missing)
	var sources []Holder
	for _, p := range s.Pools {
		sources = append(sources, s.pool(&c, p, account))
	}
	for _, g := range account.Groups {
		sources = append(sources, s.group(&c, g, account))
	}
	sources = append(sources, s.fixed(&c, account)...)
	if sources == nil && len(s.Missing) == 0 {
		c.Missing = append(c.Missing, Missing{Value: "nodes", Why: "the cluster lists no nodes and no NodePools"})
	}
	c.Holders = [][]Holder{sources, account.VCPUs}
	if len(account.Subnets) > 0 {
		s.addressed(&c, account.Subnets)
	}
	return c
}

// shape returns the shape of an instance type.
func (t Type) shape() Shape {
	return Shape{Name: t.Name, Labels: maps.Clone(t.Labels), Capacity: t.Capacity, Allocatable: t.Capacity, Usual: usual(t.Capacity)}
}

// usual returns the amounts of an EC2 instance without the share of the hypervisor, the
// memory that EKS reserves, and the eviction threshold of the kubelet.
func usual(capacity Amounts) Amounts {
	const mib = 1 << 20
	all := maps.Clone(capacity)
	all[Memory] -= capacity[Memory]*75/1000 + (255+11*capacity[Count]+100)*mib
	return all
}

// quotas returns the vCPU quotas that instances of a type can count toward.
func (a *Account) quotas(instanceType string, allowed func(capacityType string) bool) (all []string) {
	for _, t := range a.Types {
		for capacity, name := range t.Quotas {
			if t.Name == instanceType && allowed(capacity) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// shapes returns the shapes of the nodes for which is returns true. Nodes are one shape if
// they have the same instance type, taints, size and keys of labels.
func (s *Set) shapes(is func(corev1.Node) bool) (all []Shape) {
	known := map[string]map[string][]string{}
	for _, n := range lists.Filter(s.Nodes, is) {
		one := Shape{Name: cmp.Or(n.Labels[corev1.LabelInstanceTypeStable], n.Name), Labels: values(n.Labels), Taints: lasting(n.Spec.Taints)}
		one.Capacity = amounts(n.Status.Capacity)
		one.Allocatable = amounts(n.Status.Allocatable)
		one.Usual = one.Allocatable
		key := fmt.Sprint(one.Name, one.Taints, one.Allocatable[CPU], slices.Sorted(maps.Keys(n.Labels)))
		same := known[key]
		if same == nil {
			known[key] = one.Labels
			all = append(all, one)
		}
		for label, value := range n.Labels {
			if same != nil && !slices.Contains(same[label], value) {
				same[label] = append(same[label], value)
			}
		}
	}
	return all
}

// values returns labels with one value each.
func values(labels map[string]string) map[string][]string {
	all := map[string][]string{}
	for key, value := range labels {
		all[key] = []string{value}
	}
	return all
}

// passing are the prefixes of taints that a node loses, or has only before it ends.
var passing = []string{"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "readiness.k8s.io/", "ToBeDeletedByClusterAutoscaler",
	"DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/unregistered"}

// lasting returns the taints that a node of a rebuilt cluster has.
func lasting(all []corev1.Taint) (kept []corev1.Taint) {
	for _, t := range all {
		if !slices.ContainsFunc(passing, func(prefix string) bool { return strings.HasPrefix(t.Key, prefix) }) {
			kept = append(kept, corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
		}
	}
	return kept
}

// pool adds a NodePool with the instance types that its requirements allow. Without the
// instance types of the account, it has the types of its present nodes.
func (s *Set) pool(c *Case, p NodePool, account *Account) Holder {
	t := p.Spec.Template
	h := Holder{Name: "NodePool " + p.Metadata.Name, Has: amounts(p.Spec.Limits)}
	if p.Spec.Replicas != nil {
		h.Has[Nodes] = *p.Spec.Replicas
	}
	own := values(t.Metadata.Labels)
	own[poolLabel] = []string{p.Metadata.Name}
	toward := append(s.subnets(p), h.Name)
	shapes := lists.Map(account.Types, Type.shape)
	if account.Types == nil {
		c.Shapes = append(c.Shapes, Shape{Labels: own, Taints: lasting(t.Spec.Taints), Open: true, Toward: toward})
		shapes = s.shapes(func(n corev1.Node) bool { return n.Labels[poolLabel] == p.Metadata.Name })
	}
	h.Missing = "it has no node now, and gitlatch knows no instance type that it allows. Use --aws with the right ec2:DescribeInstanceTypes"
	for _, one := range shapes {
		for _, r := range t.Spec.Requirements {
			if one.Labels[r.Key] == nil && r.Operator == corev1.NodeSelectorOpIn {
				one.Labels[r.Key] = r.Values
			}
		}
		maps.Copy(one.Labels, own)
		if !matches(t.Spec.Requirements, one.Labels) {
			continue
		}
		quotas := account.quotas(one.Name, func(capacity string) bool {
			labels := maps.Clone(one.Labels)
			labels[capacityType] = []string{capacity}
			return matches(t.Spec.Requirements, labels)
		})
		one.Taints = lasting(t.Spec.Taints)
		one.Toward = slices.Concat(toward, quotas)
		c.Shapes = append(c.Shapes, one)
		h.Missing = ""
	}
	return h
}

// group adds a managed node group. Its present nodes show its labels and its room.
func (s *Set) group(c *Case, g Group, account *Account) Holder {
	h := Holder{Name: "node group " + g.Name, Has: Amounts{Nodes: g.Desired}}
	for id, l := range s.live {
		if l.replicas > 0 && strings.Contains(id.Name, "cluster-autoscaler") {
			h.Has[Nodes] = g.Max
		}
	}
	shapes := s.shapes(func(n corev1.Node) bool { return n.Labels[groupLabel] == g.Name })
	if shapes == nil {
		shapes = lists.Map(lists.Filter(account.Types, func(t Type) bool { return slices.Contains(g.Types, t.Name) }), Type.shape)
	}
	if len(shapes) == 0 {
		h.Missing = "it has no node now, and gitlatch does not know its instance types. They need the right ec2:DescribeInstanceTypes, or are in its launch template"
		shapes = []Shape{{Open: true, Labels: map[string][]string{}}}
	}
	quotas := func(instanceType string) []string {
		return account.quotas(instanceType, func(capacity string) bool { return capacity == g.CapacityType })
	}
	for _, one := range shapes {
		maps.Copy(one.Labels, values(g.Labels))
		one.Labels[groupLabel] = []string{g.Name}
		if one.Taints == nil {
			one.Taints = g.Taints
		}
		one.Toward = slices.Concat(g.Subnets, quotas(one.Name), []string{h.Name})
		c.Shapes = append(c.Shapes, one)
	}
	return h
}

// fixed adds the nodes that belong to no NodePool and to no node group of the account. Their
// limit is the sum of their allocatable resources.
func (s *Set) fixed(c *Case, account *Account) []Holder {
	h := Holder{Name: "nodes", Has: Amounts{}}
	fargate := func(n corev1.Node) bool { return n.Labels["eks.amazonaws.com/compute-type"] == "fargate" }
	fixed := func(n corev1.Node) bool {
		grouped := slices.ContainsFunc(account.Groups, func(g Group) bool { return g.Name == n.Labels[groupLabel] })
		return n.Labels[poolLabel] == "" && !grouped && !fargate(n)
	}
	for _, n := range lists.Filter(s.Nodes, fixed) {
		for name, amount := range amounts(n.Status.Allocatable) {
			if slices.Contains([]string{CPU, Memory, Count}, name) {
				h.Has[name] += amount
			}
		}
	}
	shapes := s.shapes(fixed)
	if slices.ContainsFunc(s.Nodes, fargate) {
		h.Missing = "the cluster has Fargate nodes, and gitlatch does not read Fargate profiles"
		shapes = append(shapes, Shape{Open: true})
	}
	if len(shapes) == 0 {
		return nil
	}
	for _, one := range shapes {
		one.Capacity = nil // the nodes are there, so the estimate is the sum of the requests
		one.Toward = []string{h.Name}
		c.Shapes = append(c.Shapes, one)
	}
	return []Holder{h}
}

// addressed adds the free addresses of subnets if the pods take them.
func (s *Set) addressed(c *Case, subnets []Holder) {
	m := Missing{Value: "addresses of pods", Why: "the cluster has no DaemonSet kube-system/aws-node, so its CNI is unknown"}
	cni := s.live[workload.ID{Namespace: "kube-system", Kind: workload.DaemonSet, Name: "aws-node"}].template
	on := func(name string) bool {
		return slices.ContainsFunc(cni.Spec.Containers, func(c corev1.Container) bool { return slices.Contains(c.Env, corev1.EnvVar{Name: name, Value: "true"}) })
	}
	switch {
	case cni == nil:
	case on("ENABLE_IPv6"):
		return // the addresses do not run out
	case on("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"):
		m.Why = "the pods take them from the subnets of ENIConfig objects, which gitlatch does not read"
	default:
		c.Holders = append(c.Holders, subnets)
		return
	}
	c.Missing = append(c.Missing, m)
}
