package limits

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The labels that gitlatch reads: of the nodes of a NodePool and of a managed node group, and
// with the capacity type of a node. Karpenter names the capacity types.
const (
	PoolLabel    = "karpenter.sh/nodepool"
	GroupLabel   = "eks.amazonaws.com/nodegroup"
	CapacityType = "karpenter.sh/capacity-type"
	OnDemand     = "on-demand"
	Spot         = "spot"
)

// An Account is the limits of an AWS account for one cluster.
type Account struct {
	Read    bool         // false if nobody read the account
	Groups  []Source     // the managed node groups, without present nodes
	VCPUs   []Holder     // the vCPU quotas, with the CPU that a rebuild can have; nil is unknown
	Subnets []Holder     // the ID of a subnet, and the addresses that a rebuild can have; nil is unknown
	Missing []room.Limit // limits that could not be read
}

// sources returns the sources of nodes, and the limits that are missing.
func (s *Set) sources(account Account, of Rebuild) (all []Source, missing []room.Limit) {
	missing = slices.Concat(s.Missing, account.Missing)
	all = append(lists.Map(s.Pools, s.pool), account.Groups...)
	autoscaled := slices.ContainsFunc(of.pods, func(p Pods) bool { return strings.Contains(p.Workload.Name, "cluster-autoscaler") })
	quotas := lists.Map(account.VCPUs, func(h Holder) string { return h.Name })
	for i, o := range all {
		if o.Own == GroupLabel && !autoscaled {
			o.Has = Amounts{Nodes: o.Desired}
		}
		all[i] = s.present(o, of.daemons)
		if account.Subnets != nil && len(o.Subnets) == 0 {
			missing = append(missing, Unknown("free addresses for "+o.Name, "gitlatch does not know its subnets"))
		}
		unread := lists.Filter(all[i].Quotas, func(name string) bool { return !slices.Contains(quotas, name) })
		if account.VCPUs != nil && len(unread) > 0 {
			missing = append(missing, Unknown(strings.Join(unread, ", ")+" of "+o.Name, "the account did not return its value, or the CPUs of an instance"))
		}
		if account.VCPUs != nil && all[i].Quotas == nil {
			missing = append(missing, Unknown("vCPU quota of "+o.Name, "gitlatch does not know its instance types or their quota. List types, families or categories in its requirements"))
		}
	}
	others := lists.Count(s.Nodes, func(n corev1.Node) bool {
		return !slices.ContainsFunc(all, func(o Source) bool { return o.started(n) })
	})
	aws := len(s.Classes) > 0 || slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool { return strings.HasPrefix(n.Spec.ProviderID, "aws:") })
	switch {
	case aws && !account.Read:
		missing = append(missing, Unknown("node groups, vCPU quotas and free addresses", "gitlatch did not read the AWS account. Use --aws"))
	case others > 0:
		missing = append(missing, Unknown("nodes", fmt.Sprintf("%d of %d nodes belong to no NodePool and no managed node group, so their limit is unknown", others, len(s.Nodes))))
	case len(all)+len(missing) == 0:
		missing = append(missing, Unknown("nodes", "the cluster lists no nodes and no NodePools"))
	}
	return all, missing
}

// pool returns a NodePool without present nodes.
func (s *Set) pool(p NodePool) Source {
	t := p.Spec.Template
	o := Source{Holder: Holder{"NodePool " + p.Metadata.Name, amounts(p.Spec.Limits)}, Own: PoolLabel, Taints: t.Spec.Taints}
	o.Labels = map[string][]string{PoolLabel: {p.Metadata.Name}}
	for key, value := range t.Metadata.Labels {
		o.Labels[key] = []string{value}
	}
	if p.Spec.Replicas != nil {
		o.Has[Nodes] = *p.Spec.Replicas
	}
	for _, r := range t.Spec.Requirements {
		o.Labels[r.Key] = nil
		if r.Operator == corev1.NodeSelectorOpIn {
			o.Labels[r.Key] = r.Values
		}
	}
	class, _ := lists.First(s.Classes, func(c NodeClass) bool { return c.Metadata.Name == t.Spec.NodeClassRef.Name })
	o.Subnets = lists.Map(class.Status.Subnets, func(subnet struct{ ID string }) string { return subnet.ID })
	return o
}

// Subnets returns the IDs of the subnets of the NodePools.
func (s *Set) Subnets() []string {
	return slices.Concat(lists.Map(s.Pools, func(p NodePool) []string { return s.pool(p).Subnets })...)
}

// started reports whether a source started a node.
func (o Source) started(n corev1.Node) bool { return slices.Contains(o.Labels[o.Own], n.Labels[o.Own]) }

// present returns a source with its present nodes, as one shape for each instance type and
// zone. A taint that one of them does not have is a taint of starting nodes.
func (s *Set) present(o Source, daemons []Pods) Source {
	o.Quotas = slices.Compact(slices.Sorted(slices.Values(o.quotas())))
	o.seen = map[string]bool{}
	nodes := lists.Filter(s.Nodes, o.started)
	for _, n := range nodes {
		for key := range n.Labels {
			o.seen[key] = true
		}
		o.Taints = lists.Filter(o.Taints, func(t corev1.Taint) bool {
			return slices.ContainsFunc(n.Spec.Taints, func(has corev1.Taint) bool { return t.MatchTaint(&has) })
		})
	}
	own := lists.Filter(daemons, func(d Pods) bool { return o.starts(d.Spec) })
	for i := range nodes {
		known := func(one Shape) bool { return kind(one.Node) == kind(&nodes[i]) }
		if !slices.ContainsFunc(o.Shapes, known) {
			o.Shapes = append(o.Shapes, shape(&nodes[i], own))
		}
	}
	types := o.Labels[corev1.LabelInstanceTypeStable]
	o.Complete = len(types) > 0 && !slices.ContainsFunc(types, func(name string) bool {
		return !slices.ContainsFunc(o.Shapes, func(one Shape) bool { return kind(one.Node)[0] == name })
	})
	return o
}

// kind returns the instance type and the zone of a node.
func kind(n *corev1.Node) [2]string {
	return [2]string{n.Labels[corev1.LabelInstanceTypeStable], n.Labels[corev1.LabelTopologyZone]}
}

// shape returns the shape of a node.
func shape(n *corev1.Node, daemons []Pods) Shape {
	one := Shape{n, amounts(n.Status.Capacity), amounts(n.Status.Allocatable), amounts(n.Status.Allocatable)}
	one.Capacity[Nodes] = 1
	one.Capacity[Addresses] = 1
	for _, d := range daemons {
		if matches, err := d.Affinity.Match(n); err == nil && matches {
			for name, n := range d.Requests {
				one.Room[name] -= n
			}
			one.Capacity[Addresses] += d.Requests[Addresses]
		}
	}
	return one
}

// A vcpus is the vCPU quotas of some families of instances.
type vcpus struct{ names, onDemand, spot string }

// families are the vCPU quotas of EC2 by the families of instances. gitlatch does not know the
// quotas of other families.
var families = []vcpus{
	{"a c d h i im is m r t z", "vCPU quota L-1216C47A", "vCPU quota L-34B43A08"},
	{"g gr vt", "vCPU quota L-DB2E81BA", "vCPU quota L-3819A6DF"},
	{"inf", "vCPU quota L-1945791B", "vCPU quota L-B5D1601B"},
	{"trn", "vCPU quota L-2C3B7624", "vCPU quota L-6B0D517C"},
	{"x", "vCPU quota L-7295265B", "vCPU quota L-E3A00192"},
}

// Quota returns the name of the vCPU quota of an instance type, a family or a category, or "".
func Quota(kind, capacityType string) string {
	family := kind[:strings.IndexAny(kind+"0", "0123456789-.")]
	of, _ := lists.First(families, func(f vcpus) bool { return slices.Contains(strings.Fields(f.names), family) })
	return map[string]string{OnDemand: of.onDemand, Spot: of.spot}[capacityType]
}

// typed are the labels that show the vCPU quota of a node.
var typed = []string{corev1.LabelInstanceTypeStable, "karpenter.k8s.aws/instance-family", "karpenter.k8s.aws/instance-category", "eks.amazonaws.com/instance-family", "eks.amazonaws.com/instance-category"}

// quotas returns the names of the vCPU quotas that nodes can count toward; nil if they are
// unknown.
func (o Source) quotas() (names []string) {
	capacities := o.Labels[CapacityType]
	if capacities == nil {
		capacities = []string{OnDemand, Spot}
	}
	key, _ := lists.First(typed, func(key string) bool { return len(o.Labels[key]) > 0 })
	for _, kind := range o.Labels[key] {
		for _, capacity := range capacities {
			name := Quota(kind, capacity)
			if name == "" {
				return nil
			}
			names = append(names, name)
		}
	}
	return names
}

// addressed reports whether the pods certainly take the addresses of their node's subnet: with
// the VPC CNI on IPv4 and without custom networking.
func (s *Set) addressed() bool {
	cni := s.live[workload.ID{Namespace: "kube-system", Kind: workload.DaemonSet, Name: "aws-node"}].Template
	other := func(e corev1.EnvVar) bool {
		return e.Value == "true" && (e.Name == "ENABLE_IPv6" || e.Name == "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG")
	}
	return cni != nil && !slices.ContainsFunc(cni.Spec.Containers, func(c corev1.Container) bool { return slices.ContainsFunc(c.Env, other) })
}
