// Package fit computes whether a cluster can place the pods of a rebuild. It does no I/O:
// the pods, the room for them and the readings that failed go in as values, and an Answer
// comes out.
//
// A rebuilt cluster starts without pods and without nodes of Karpenter. The answer covers
// requests, and not usage, prices or the capacity that a cloud provider has left.
package fit

import (
	"cmp"

	"github.com/gitlatch/gitlatch/internal/placement"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Resources are amounts by the name that Kubernetes gives the resource: "cpu" in
// thousandths of a CPU, "memory" and "ephemeral-storage" in bytes, "pods", and extended
// resources in their own unit. A missing resource is 0.
type Resources map[string]int64

// The names of common resources. Nodes is a resource of Pool.Limits only.
const (
	CPU     = "cpu"
	Memory  = "memory"
	Storage = "ephemeral-storage"
	Pods    = "pods"
	Nodes   = "nodes"
)

// The labels of a node that have a meaning for the solver.
const (
	Hostname     = "kubernetes.io/hostname"
	Zone         = "topology.kubernetes.io/zone"
	InstanceType = "node.kubernetes.io/instance-type"
	Arch         = "kubernetes.io/arch"
	CapacityType = "karpenter.sh/capacity-type"
	PoolLabel    = "karpenter.sh/nodepool"
	GroupLabel   = "eks.amazonaws.com/nodegroup"
)

// An Ask is a number of identical pods of one workload.
type Ask struct {
	Workload workload.ID
	Pods     int32
	Priority int32 // of the pods; 0 without a PriorityClass
	// Live is true if the requests come from the live template, because no build has the
	// workload.
	Live bool

	// Requests are the requests of one pod, without "pods". Counts are the amounts that
	// one pod uses of a ResourceQuota, by the names in spec.hard: "requests.cpu",
	// "limits.memory", "pods".
	Requests Resources
	Counts   Resources
	// Class is the name of the PriorityClass, and BestEffort is true without requests and
	// limits. They decide which ResourceQuotas count the pods.
	Class      string
	BestEffort bool
	// HostNetwork is true if the pods take no addresses of a subnet.
	HostNetwork bool

	Labels      map[string]string // of the pods
	Where       []Term            // the node must match one term; empty matches every node
	Prefers     []Preference      // of node labels
	Tolerations []Toleration
	Rules       []Rule // about the other pods in a topology domain
}

// A Term is a list of conditions that all have to be true.
type Term []Match

// A Match is a condition on a label. Op is In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or
// Lte. Min is used in a Pool only: the number of values that the instance types of a new
// node must have at least; 0 requires none.
type Match struct {
	Key    string
	Op     string
	Values []string
	Min    int
}

// A Preference is a Term that a node should match. Karpenter drops the heaviest preference
// first if it cannot place the pod.
type Preference struct {
	Weight int32
	Term   Term
}

// A Toleration lets pods run on nodes with a Taint, as in Kubernetes. An empty Key with Op
// Exists tolerates every taint, and an empty Effect every effect.
type Toleration struct{ Key, Op, Value, Effect string }

// A Taint keeps pods without a Toleration from a node.
type Taint struct{ Key, Value, Effect string }

// The kinds of a Rule.
const (
	Spread = "spread" // a topology spread constraint
	Near   = "near"   // pod affinity
	Apart  = "apart"  // pod anti-affinity
)

// A Rule limits the topology domains of a pod by the pods that are already there.
type Rule struct {
	Kind string // Spread, Near or Apart
	Key  string // the label of the nodes whose values are the domains
	// Peers selects the pods that count, by their labels, in Namespaces. A nil Peers
	// selects no pod, and an empty Peers every pod. Empty Namespaces are the namespace of
	// the workload.
	Peers      Term
	Namespaces []string
	// Soft is true for a rule that is only preferred. Weight orders preferred affinity.
	Soft   bool
	Weight int32

	Skew       int32 // maximum difference of a Spread in pods
	MinDomains int32 // minimum number of domains of a Spread; 0 requires none
	// HonorTaints excludes nodes whose taints the pod does not tolerate from a Spread.
	// AllNodes includes nodes that do not match Ask.Where.
	HonorTaints, AllNodes bool
}

// A Room is the capacity for the pods of a rebuild. A nil list is an empty list: a reading
// that failed is in Unknown.
type Room struct {
	Nodes   []Node
	Pools   []Pool
	Groups  []Group
	Daemons []Daemon
	Quotas  []Quota
	VCPUs   []VCPUs
	Subnets []Subnet
	CNI     CNI

	Unknown []Reading
}

// A Node is a node that a rebuilt cluster has from its start, or keeps: a member of a node
// group or a node that no autoscaler manages. Nodes of Karpenter do not belong here.
type Node struct {
	Name        string
	Labels      map[string]string
	Taints      []Taint // without the taints of the node lifecycle
	Allocatable Resources
}

// A Shape is an instance type as a node of a pool or group would have it.
type Shape struct {
	Name string // the instance type, "m7g.large"
	// Labels are the labels of the instance type, one value each: InstanceType, Arch,
	// "kubernetes.io/os", "karpenter.k8s.aws/instance-cpu". Zone and CapacityType are in
	// Offers.
	Labels      map[string]string
	Offers      []Offer   // where and how it can start, in the order of preference
	Capacity    Resources // with "pods"; Karpenter counts it toward the limits
	Allocatable Resources // with "pods"; before the share of DaemonSets
	VCPUs       int64     // for the quotas of the account
	// Interfaces is the maximum number of network interfaces, and PerInterface the
	// addresses of each, including its own. If Interfaces is 0, a node takes no addresses
	// from Subnets.
	Interfaces, PerInterface int64
}

// An Offer is a zone and a capacity type in which a Shape can start. Quota is the name of
// the VCPUs that it counts toward, or "" without a quota.
// Karpenter starts the offer with the lowest Price. Offers without prices start in the order
// of Pool.Shapes.
type Offer struct {
	Zone, CapacityType, Quota string
	Price                     float64 // in any unit; 0 is unknown
}

// A Pool is a NodePool of Karpenter. Karpenter tries pools with a higher Weight first. For
// equal weights, it tries the name that is later in the alphabet first.
type Pool struct {
	Name    string
	Weight  int32
	Limits  Resources // by resource of Shape.Capacity, or Nodes; a missing resource has no limit
	Require Term      // spec.template.spec.requirements
	Labels  map[string]string
	Taints  []Taint  // without startup taints
	Shapes  []Shape  // the cheapest first; Require may exclude some
	Subnets []string // IDs; empty if unknown or without limit
}

// A Group is a managed node group. The room has its present members as Nodes. An
// autoscaler can add Max - Size members of the first of its Shapes.
type Group struct {
	Name       string
	Size, Max  int64 // nodes
	Autoscaled bool  // an autoscaler adds nodes; if false, the group keeps its Size
	Labels     map[string]string
	Taints     []Taint
	Shapes     []Shape
	Subnets    []string
}

// A Daemon is the pod of a DaemonSet, which each matching node runs once.
type Daemon struct {
	Name        string // "kube-system/aws-node"
	Requests    Resources
	Where       []Term
	Tolerations []Toleration
	HostNetwork bool // the pod takes no address of a subnet
	// Ports are labels that an Ask has if its pods use a port of the host that the pod also
	// uses.
	Ports []string
}

// A Quota is a ResourceQuota.
type Quota struct {
	Namespace, Name string
	Hard            Resources // by the names of Ask.Counts
	Scopes          []Scope   // a pod counts if all scopes match
}

// A Scope is a scope of a ResourceQuota: Name is Terminating, NotTerminating, BestEffort,
// NotBestEffort, PriorityClass or CrossNamespacePodAffinity. Op and Values are of a
// scopeSelector; Op is "" for a plain scope.
type Scope struct {
	Name, Op string
	Values   []string
}

// VCPUs is a quota of an account for running instances, in vCPUs.
type VCPUs struct {
	Name  string // as Service Quotas names it
	Limit int64
	Used  int64 // by instances that a rebuild does not replace
}

// A Subnet has addresses for the nodes and pods of a zone. Free includes the addresses of
// the nodes that a rebuild replaces. It does not include the addresses of Room.Nodes.
type Subnet struct {
	ID, Zone string
	Free     int64
}

// A CNI describes how many addresses a node takes. The zero value is the VPC CNI with
// secondary addresses and without warm interfaces.
type CNI struct {
	// Prefix is true if the CNI assigns blocks of 16 addresses.
	Prefix bool
	// WarmInterfaces, WarmPrefixes and WarmAddresses are the spare capacity of a node, and
	// MinAddresses is the minimum number of addresses for its pods. If WarmAddresses or
	// MinAddresses is positive, the CNI ignores the other two.
	WarmInterfaces, WarmPrefixes, WarmAddresses, MinAddresses int64
	// Apart is true if the pods take their addresses from other subnets than the nodes
	// (custom networking), so that Subnets limit only the nodes.
	Apart bool
}

// The types of the answer.
type (
	Answer  = placement.Answer
	Limit   = placement.Limit
	Pending = placement.Pending
	Reading = placement.Reading
	Verdict = placement.Verdict
)

// The verdicts.
const (
	Fits       = placement.Fits
	DoesNotFit = placement.DoesNotFit
	Unknown    = placement.Unknown
)

// Smaller compares shapes by vCPUs, memory and name. It is the order of Pool.Shapes if
// the prices are unknown.
func Smaller(a, b Shape) int {
	for _, resource := range []string{CPU, Memory} {
		if order := cmp.Compare(a.Capacity[resource], b.Capacity[resource]); order != 0 {
			return order
		}
	}
	return cmp.Compare(a.Name, b.Name)
}
