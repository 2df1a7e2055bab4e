// Package limits compares the pods of a rebuild with each limit of a cluster and its account.
// It does no I/O, and it does not imitate a scheduler.
package limits

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	helpers "k8s.io/component-helpers/resource"
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
	Apart    bool    // a required anti-affinity allows one of the pods on a node
	Spec     *corev1.PodSpec
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

// Unknown returns a limit that could not be read: "vCPU quotas in eu-west-1". A name that starts
// with "node" means further nodes. why names the right, or the reason.
func Unknown(name, why string) room.Limit { return room.Limit{Name: name, Why: why} }

// Judge returns the answer for each limit of a rebuild.
func (s *Set) Judge(of Rebuild, account Account) room.Report {
	if account.Subnets != nil && !s.addressed() {
		account.Subnets = nil
		account.Missing = append(slices.Clip(account.Missing), Unknown("addresses of pods", "gitlatch knows their subnets only with the VPC CNI on IPv4, without custom networking"))
	}
	sources, missing := s.sources(account, of)
	pods := lists.Map(of.pods, func(p Pods) *placed { return place(p, sources) })
	answers := slices.Concat(s.quotas(of.pods), largest(pods),
		limits(pods, sources, lists.Map(sources, func(o Source) Holder { return o.Holder }), func(o Source) []string { return []string{o.Name} }),
		limits(pods, sources, account.VCPUs, func(o Source) []string { return o.Quotas }),
		limits(pods, sources, account.Subnets, func(o Source) []string { return o.Subnets }))
	partial := slices.ContainsFunc(missing, func(l room.Limit) bool { return strings.HasPrefix(l.Name, "node") })
	for i, l := range answers {
		// Other nodes can take the pods, and more requests can exceed a limit.
		if l.Answer == room.DoesNotFit && partial && l.Namespace == "" || l.Answer != room.DoesNotFit && len(of.unasked) > 0 {
			answers[i].Answer = room.Unknown
			answers[i].Why = "other values are unknown"
		}
	}
	return room.ReportOf(slices.Concat(answers, missing, of.unasked), of.count)
}

// use returns the amount that one pod uses of a ResourceQuota. name is as in spec.hard:
// "limits.memory", "requests.cpu" or "cpu", "count/pods" or "pods".
func (s *Set) use(p Pods, name string) int64 {
	resource, limited := strings.CutPrefix(name, "limits.")
	if limited {
		pod := s.created(p.Workload.Namespace, *p.Spec)
		return amounts(helpers.PodLimits(&pod, helpers.PodResourcesOptions{}))[resource]
	}
	return p.Requests[strings.TrimPrefix(strings.TrimPrefix(name, "requests."), "count/")]
}

// quotas returns the answer for each resource of the ResourceQuotas that pods use. The
// estimate is the present use, which includes DaemonSets and Jobs, and the pods that the
// rebuild has beyond the live ones.
func (s *Set) quotas(pods []Pods) (all []room.Limit) {
	for _, q := range s.Quotas {
		own := lists.Filter(pods, func(p Pods) bool { return p.Workload.Namespace == q.Namespace })
		of := fmt.Sprintf("ResourceQuota %s/%s", q.Namespace, q.Name)
		if len(own) > 0 && (q.Spec.Scopes != nil || q.Spec.ScopeSelector != nil) {
			all = append(all, room.Limit{Name: of, Namespace: q.Namespace, Why: "it has scopes, and gitlatch does not know which pods they match"})
			continue
		}
		hard := amounts(q.Spec.Hard)
		for _, name := range slices.Sorted(maps.Keys(hard)) {
			now, counted := amounts(q.Status.Used)[name]
			asked := int64(0)
			for _, p := range own {
				each := s.use(p, name)
				asked += each * p.Count
				now += each * max(0, p.Count-p.Live)
			}
			l := room.Limit{Name: of, Resource: name, Namespace: q.Namespace, Asked: &asked, There: new(hard[name]), Estimate: new(max(asked, now))}
			if !counted {
				l.Estimate = nil
			}
			l = l.Judged(100)
			if l.Answer == room.Unknown {
				l.Why = "the status of the quota does not contain the current usage"
			}
			if asked > 0 {
				all = append(all, l)
			}
		}
	}
	return all
}
