// Package limits compares the pods of a rebuild with each limit of a cluster and its account.
// It does no I/O, and it does not imitate a scheduler.
package limits

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Amounts are amounts by the name that Kubernetes gives the resource: "cpu" in thousandths
// of a CPU, "memory" in bytes, and others in their own unit. A missing amount is 0 in the
// requests of a pod and in a node, and unlimited in a limit.
type Amounts map[string]int64

// The names of common resources. Nodes are only in limits.
const (
	CPU       = "cpu"
	Count     = "pods"
	Nodes     = "nodes"
	Addresses = "addresses"
)

// Pods are the identical pods of one workload in a rebuild, or of a DaemonSet.
type Pods struct {
	Workload workload.ID
	Count    int64   // 0 for a DaemonSet, which has one pod on each matching node
	Live     int64   // the pods that the cluster of the rebuild has now
	Requests Amounts // of one pod, with 1 of Count, and of Addresses without the network of the host
	// Counts are the amounts that one pod uses of a ResourceQuota, by the names in
	// spec.hard: "requests.cpu", "limits.memory", "pods".
	Counts Amounts
	Apart  bool // a required anti-affinity allows one of the pods on a node
	Spec   *corev1.PodSpec
	// Affinity is the node selector and the required node affinity.
	Affinity nodeaffinity.RequiredNodeAffinity
}

// A Shape is a kind of node that the cluster has now.
type Shape struct {
	Node *corev1.Node // one of the nodes
	// Capacity counts toward the limits, with 1 of Nodes and the Addresses of the node and its
	// DaemonSets. Pods can request Allocatable at most, and Room beside the DaemonSets.
	Capacity, Allocatable, Room Amounts
}

// A Source starts nodes: a NodePool or a managed node group.
type Source struct {
	Holder
	Labels map[string][]string // the possible values of each label; nil is unknown
	Taints []corev1.Taint
	Shapes []Shape // of its present nodes
	// seen are the label keys of its present nodes.
	seen map[string]bool
	// Complete is true if Shapes has all its instance types.
	Complete bool
	// Quotas and Subnets are the names of the vCPU quotas and subnets that its nodes can count
	// toward.
	Quotas, Subnets []string
	// Own is the label of its nodes that has its name.
	Own string
	// Desired is the present number of nodes of a node group.
	Desired int64
}

// A Holder has limits: a source of nodes, a vCPU quota or a subnet.
type Holder struct {
	Name string
	Has  Amounts
}

// A Missing is a value that could not be read.
type Missing struct {
	Value string `json:"value"` // "vCPU quotas in eu-west-1"; "node" at its start means further nodes
	Why   string `json:"why"`   // names the right, or the reason
}

// Judge returns the answer for each limit of a rebuild.
func (s *Set) Judge(of Rebuild, account Account) room.Report {
	if account.Subnets != nil && !s.addressed() {
		account.Subnets = nil
		account.Missing = append(slices.Clip(account.Missing), Missing{"addresses of pods", "gitlatch knows their subnets only with the VPC CNI on IPv4, without custom networking"})
	}
	sources, missing := s.sources(account, of.daemons)
	pods := lists.Map(of.pods, func(p Pods) *placed { return place(p, sources) })
	answers := slices.Concat(quotas(of.pods, s.Quotas), largest(pods),
		limits(pods, sources, lists.Map(sources, func(o Source) Holder { return o.Holder }), func(o Source) []string { return []string{o.Name} }),
		limits(pods, sources, account.VCPUs, func(o Source) []string { return o.Quotas }),
		limits(pods, sources, account.Subnets, func(o Source) []string { return o.Subnets }))
	partial := slices.ContainsFunc(missing, func(m Missing) bool { return strings.HasPrefix(m.Value, "node") })
	for i, l := range answers {
		// Other nodes can take the pods, and more requests can exceed a limit.
		if l.Answer == room.DoesNotFit && partial && l.Namespace == "" || l.Answer != room.DoesNotFit && len(of.unasked) > 0 {
			answers[i].Answer = room.Unknown
			answers[i].Why = "other values are unknown"
		}
	}
	for _, m := range slices.Concat(missing, of.unasked) {
		answers = append(answers, room.Limit{Name: m.Value, Why: m.Why})
	}
	return room.ReportOf(answers, of.count)
}

// quotas returns the answer for each resource of the ResourceQuotas that pods use. The
// estimate is the present use, which includes DaemonSets and Jobs, and the pods that the
// rebuild has beyond the live ones.
func quotas(pods []Pods, quotas []corev1.ResourceQuota) (all []room.Limit) {
	for _, q := range quotas {
		own := lists.Filter(pods, func(p Pods) bool { return p.Workload.Namespace == q.Namespace })
		one := room.Limit{Name: fmt.Sprintf("ResourceQuota %s/%s", q.Namespace, q.Name), Namespace: q.Namespace}
		if len(own) > 0 && (q.Spec.Scopes != nil || q.Spec.ScopeSelector != nil) {
			all = append(all, room.Limit{Name: one.Name, Namespace: one.Namespace, Why: "it has scopes, and gitlatch does not know which pods they match"})
			continue
		}
		hard := amounts(q.Spec.Hard)
		for _, name := range slices.Sorted(maps.Keys(hard)) {
			now, counted := amounts(q.Status.Used)[name]
			asked := int64(0)
			for _, p := range own {
				asked += p.Counts[name] * p.Count
				now += p.Counts[name] * max(0, p.Count-p.Live)
			}
			l := one
			l.Resource = name
			l.Asked = &asked
			l.There = new(hard[name])
			l.Estimate = new(max(asked, now))
			if !counted {
				l.Estimate = nil
				l.Why = "its status does not have the present use"
			}
			if asked > 0 {
				all = append(all, l.Judged(100))
			}
		}
	}
	return all
}
