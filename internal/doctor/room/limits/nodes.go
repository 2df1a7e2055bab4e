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
	read := account != nil
	if !read {
		account = &Account{}
		if len(s.Classes) > 0 || slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool { return strings.HasPrefix(n.Spec.ProviderID, "aws:") }) {
			account.Missing = []Missing{{Value: "node groups, vCPU quotas and free addresses", Why: "gitlatch did not read the AWS account. Use --aws"}}
		}
	}
	pods, unasked := s.Pods(levels)
	c := Case{Pods: pods, Daemons: s.daemons(), Quotas: s.Quotas, Unasked: slices.Concat(s.Unasked, unasked)}
	c.Missing = slices.Concat(s.Missing, account.Missing)
	c.Partial = slices.ContainsFunc(c.Missing, Missing.nodes) || slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool {
		return n.Labels[poolLabel] != "" && !slices.ContainsFunc(s.Pools, func(p NodePool) bool { return p.Metadata.Name == n.Labels[poolLabel] })
	})
	var sources []Holder
	for _, p := range s.Pools {
		sources = append(sources, s.start(&c, s.pool(p), account))
	}
	for _, g := range account.Groups {
		sources = append(sources, s.start(&c, s.group(g), account))
	}
	sources = append(sources, s.fixed(&c, account, read)...)
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
	if s.autoscaled() {
		o.Has[Nodes] = g.Max
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

// cloudy are the prefixes of nodes of a cloud, which can add nodes.
var cloudy = []string{"aws:", "gce:", "azure:"}

// grows returns the reason why there may be more nodes than the fixed ones; "" if there are not.
func (s *Set) grows(read bool) string {
	cloud := slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool {
		return slices.ContainsFunc(cloudy, func(prefix string) bool { return strings.HasPrefix(n.Spec.ProviderID, prefix) })
	})
	switch {
	case slices.ContainsFunc(s.Nodes, fargate):
		return "the cluster has Fargate nodes, and gitlatch does not read Fargate profiles"
	case s.autoscaled():
		return "the Cluster Autoscaler may add nodes, and gitlatch does not read its limits"
	case cloud && !read:
		return "the cloud may add nodes. On AWS, use --aws"
	}
	return ""
}

// autoscaled reports whether the cluster runs the Cluster Autoscaler.
func (s *Set) autoscaled() bool {
	for id, l := range s.live {
		if l.replicas > 0 && strings.Contains(id.Name, "cluster-autoscaler") {
			return true
		}
	}
	return false
}

func fargate(n corev1.Node) bool { return n.Labels["eks.amazonaws.com/compute-type"] == "fargate" }

// usable reports whether a node takes pods: it is not cordoned, and not known to be unready.
func usable(n corev1.Node) bool {
	ready, found := lists.First(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	return !n.Spec.Unschedulable && (!found || ready.Status == corev1.ConditionTrue)
}

// fixed adds the nodes that belong to no NodePool and to no node group of the account. Nodes
// with equal taints have one limit: the sum of their allocatable resources.
func (s *Set) fixed(c *Case, account *Account, read bool) (all []Holder) {
	fixed := func(n corev1.Node) bool {
		grouped := slices.ContainsFunc(account.Groups, func(g Group) bool { return g.Name == n.Labels[groupLabel] })
		return n.Labels[poolLabel] == "" && !grouped && !fargate(n) && usable(n)
	}
	name := func(taints []corev1.Taint) string {
		text := "nodes"
		for _, t := range taints {
			text += " with taint " + t.ToString()
		}
		return text
	}
	if why := s.grows(read); why != "" {
		c.Missing = append(c.Missing, Missing{Value: "nodes", Why: why})
		c.Shapes = append(c.Shapes, Shape{Open: true})
		return nil
	}
	has := map[string]Amounts{}
	for _, n := range lists.Filter(s.Nodes, fixed) {
		at := name(lasting(n.Spec.Taints))
		if has[at] == nil {
			has[at] = Amounts{}
		}
		for resource, amount := range amounts(n.Status.Allocatable) {
			if slices.Contains([]string{CPU, Memory, Count}, resource) {
				has[at][resource] += amount
			}
		}
	}
	for _, one := range s.shapes(fixed) {
		one.Capacity = one.Allocatable
		one.Fixed = true
		one.Toward = []string{name(one.Taints)}
		c.Shapes = append(c.Shapes, one)
	}
	for _, at := range slices.Sorted(maps.Keys(has)) {
		all = append(all, Holder{Name: at, Has: has[at]})
	}
	return all
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
