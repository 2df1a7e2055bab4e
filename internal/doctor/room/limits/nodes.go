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
	Types   []Shape // the instance types with the amounts of EC2, which are more than pods get
	Groups  []Group
	VCPUs   []Holder // the vCPU quotas, with the CPU that a rebuild can have
	Subnets []Holder // the ID of a subnet, and the addresses that a rebuild can have
	Missing []Missing
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
		sources = append(sources, s.start(&c, s.pool(p), account))
	}
	for _, g := range account.Groups {
		sources = append(sources, s.start(&c, s.group(g), account))
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

// shapes returns the shapes of the nodes for which is returns true. Nodes are one shape if
// they have the same instance type, taints, size and keys of labels.
func (s *Set) shapes(is func(corev1.Node) bool) (all []Shape) {
	known := map[string]map[string][]string{}
	for _, n := range lists.Filter(s.Nodes, is) {
		one := Shape{Name: cmp.Or(n.Labels[corev1.LabelInstanceTypeStable], n.Name), Labels: values(n.Labels), Taints: lasting(n.Spec.Taints)}
		one.Capacity = amounts(n.Status.Capacity)
		one.Allocatable = amounts(n.Status.Allocatable)
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

// An origin starts nodes.
type origin struct {
	Holder
	label, value string // of its nodes
	labels       map[string]string
	taints       []corev1.Taint
	require      []corev1.NodeSelectorRequirement // of an instance type and a capacity type
	subnets      []string
}

// pool returns a NodePool.
func (s *Set) pool(p NodePool) origin {
	t := p.Spec.Template
	o := origin{Holder: Holder{Name: "NodePool " + p.Metadata.Name, Has: amounts(p.Spec.Limits)}, label: poolLabel, value: p.Metadata.Name}
	if p.Spec.Replicas != nil {
		o.Has[Nodes] = *p.Spec.Replicas
	}
	o.labels = t.Metadata.Labels
	o.taints = lasting(t.Spec.Taints)
	o.require = t.Spec.Requirements
	o.subnets = s.subnets(p)
	return o
}

// group returns a managed node group.
func (s *Set) group(g Group) origin {
	o := origin{Holder: Holder{Name: "node group " + g.Name, Has: Amounts{Nodes: g.Desired}}, label: groupLabel, value: g.Name}
	for id, l := range s.live {
		if l.replicas > 0 && strings.Contains(id.Name, "cluster-autoscaler") {
			o.Has[Nodes] = g.Max
		}
	}
	o.labels = g.Labels
	o.taints = g.Taints
	o.require = []corev1.NodeSelectorRequirement{
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: append([]string{"of the launch template"}, g.Types...)},
		{Key: capacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{g.CapacityType}},
	}
	o.subnets = g.Subnets
	return o
}

// start adds the shapes of an origin to a case: the instance types of the account that it
// allows, and its present nodes. It returns the limits of the origin.
func (s *Set) start(c *Case, o origin, account *Account) Holder {
	own := values(o.labels)
	own[o.label] = []string{o.value}
	shapes := s.shapes(func(n corev1.Node) bool { return n.Labels[o.label] == o.value })
	for _, t := range account.Types {
		labels := map[string][]string{}
		for _, r := range o.require {
			if r.Operator == corev1.NodeSelectorOpIn {
				labels[r.Key] = r.Values
			}
		}
		maps.Copy(labels, t.Labels)
		maps.Copy(labels, own)
		if matches(o.require, labels) {
			t.Labels = labels
			shapes = append(shapes, t)
		}
	}
	if len(shapes) == 0 {
		o.Missing = "it has no node now, and gitlatch knows no instance type that it allows. Use --aws with the right ec2:DescribeInstanceTypes"
	}
	if len(shapes) == 0 || account.Types == nil {
		shapes = append(shapes, Shape{Labels: own, Open: true})
	}
	capacities := lists.Filter(o.require, func(r corev1.NodeSelectorRequirement) bool { return r.Key == capacityType })
	for _, one := range shapes {
		t, _ := lists.First(account.Types, func(t Shape) bool { return t.Name == one.Name })
		one.Toward = append(slices.Clone(o.subnets), o.Name)
		for capacity, quota := range t.Quotas {
			if matches(capacities, map[string][]string{capacityType: {capacity}}) {
				one.Toward = append(one.Toward, quota)
			}
		}
		one.Taints = o.taints
		c.Shapes = append(c.Shapes, one)
	}
	return o.Holder
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
