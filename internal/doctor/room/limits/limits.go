// Package limits compares the pods of a rebuild with each limit of a cluster and its account.
// It does no I/O, and it does not imitate a scheduler.
package limits

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Amounts are amounts by the name that Kubernetes gives the resource: "cpu" in thousandths
// of a CPU, "memory" in bytes, and others in their own unit. A missing amount is 0 in the
// requests of a pod, and unlimited in a limit.
type Amounts map[string]int64

// The names of common resources. Nodes are only in limits.
const (
	CPU       = "cpu"
	Memory    = "memory"
	Count     = "pods"
	Nodes     = "nodes"
	Addresses = "addresses"
)

// Pods are the identical pods of one workload in a rebuild, or of a DaemonSet.
type Pods struct {
	Workload workload.ID
	Count    int64   // 0 for a DaemonSet, which has one pod on each matching node
	Requests Amounts // of one pod, with 1 of Count, and of Addresses without HostNetwork
	// Counts are the amounts that one pod uses of a ResourceQuota, by the names in
	// spec.hard: "requests.cpu", "limits.memory", "pods".
	Counts Amounts
	// Class is the name of the PriorityClass, and BestEffort is true without requests and
	// limits. They decide which ResourceQuotas count the pods.
	Class      string
	BestEffort bool
	Apart      bool // a required anti-affinity allows one of the pods on a node
	// Where are the node selector and the node affinity: the labels of a node must match one
	// of the terms. It is empty for all nodes.
	Where       []corev1.NodeSelectorTerm
	Tolerations []corev1.Toleration
}

// A Shape is a kind of node.
type Shape struct {
	Name   string              // the instance type
	Labels map[string][]string // the possible values of each label
	Taints []corev1.Taint
	// Capacity counts toward the limits. Pods can request Allocatable at most. A missing amount
	// is unlimited for pods.
	Capacity, Allocatable Amounts
	Quotas                map[string]string // of an instance type: its vCPU quota by capacity type
	// Fixed is true for nodes that are there: pods can take a part of one.
	Fixed bool
	// Open is true for the instance types that gitlatch does not know. They have no amounts.
	Open bool
	// Toward are the names of the holders that a node can count toward. It counts toward one
	// in each list of Case.Holders.
	Toward []string
}

// A Holder has limits: a NodePool, a node group, a vCPU quota or a subnet.
type Holder struct {
	Name string
	Has  Amounts
	// Missing is the reason why an estimate is impossible; "" if it is possible.
	Missing string
}

// A Missing is a value that could not be read.
type Missing struct {
	Value string `json:"value"` // "vCPU quotas in eu-west-1"
	Why   string `json:"why"`   // names the right, or the reason
}

// nodes reports whether the missing value can show further nodes.
func (m Missing) nodes() bool {
	return m.Value == "nodes" || m.Value == "nodepools.karpenter.sh" || strings.Contains(m.Value, "node group")
}

// A Case is a rebuild. A list that could not be read is in Missing.
type Case struct {
	Pods    []Pods
	Daemons []Pods
	Quotas  []corev1.ResourceQuota
	Shapes  []Shape
	Holders [][]Holder // the starters of nodes, the vCPU quotas, and the subnets
	// Partial is true if there may be nodes that Shapes does not have. Then only the limits of
	// a ResourceQuota are certain.
	Partial bool
	// Missing are unread limits. Unasked are unread requests, which every limit needs.
	Missing, Unasked []Missing
}

// Judge returns the answer for each limit.
func Judge(c Case) room.Report {
	all := QuotaLimits(c.Pods, c.Quotas)
	e := newEstimate(c)
	all = append(all, e.largest()...)
	for _, holders := range c.Holders {
		all = append(all, e.limits(holders)...)
	}
	for i, l := range all {
		if c.Partial && l.Namespace == "" && l.Answer == room.DoesNotFit {
			all[i].Answer = room.Unknown
			all[i].Why = "there may be other nodes, because not all of them could be read"
		}
		if len(c.Unasked) > 0 && l.Answer != room.DoesNotFit { // more requests can change the answer
			all[i].Answer = room.Unknown
			all[i].Why = c.Unasked[0].Value + ": " + c.Unasked[0].Why
		}
	}
	for _, m := range slices.Concat(c.Missing, c.Unasked) {
		all = append(all, room.Limit{Name: m.Value, Why: m.Why})
	}
	pods := int64(0)
	for _, p := range c.Pods {
		pods += p.Count
	}
	return room.ReportOf(all, pods)
}

// QuotaLimits returns the answer for each resource of the ResourceQuotas that pods use. A
// ResourceQuota counts requests and not nodes, so the sum is also the estimate.
func QuotaLimits(pods []Pods, quotas []corev1.ResourceQuota) (all []room.Limit) {
	for _, q := range quotas {
		sums := Amounts{}
		var counted int64
		for _, p := range pods {
			if p.Workload.Namespace != q.Namespace || !counts(q, p) {
				continue
			}
			counted += p.Count
			for name, n := range p.Counts {
				sums[name] += n * p.Count
			}
		}
		hard := amounts(q.Spec.Hard)
		for _, name := range slices.Sorted(maps.Keys(hard)) {
			sum, used := sums[name]
			if !used {
				continue
			}
			l := room.Limit{Name: fmt.Sprintf("ResourceQuota %s/%s", q.Namespace, q.Name), Resource: name, Asked: new(sum), There: new(hard[name]), Estimate: new(sum)}
			l.Namespace = q.Namespace
			l.Pods = counted
			all = append(all, l.Judged(100))
		}
	}
	return all
}

// counts reports whether all scopes of a ResourceQuota match pods. A scope that gitlatch
// does not know matches none.
func counts(q corev1.ResourceQuota, p Pods) bool {
	var selector []corev1.ScopedResourceSelectorRequirement
	if q.Spec.ScopeSelector != nil {
		selector = slices.Clone(q.Spec.ScopeSelector.MatchExpressions)
	}
	for _, name := range q.Spec.Scopes {
		selector = append(selector, corev1.ScopedResourceSelectorRequirement{ScopeName: name, Operator: corev1.ScopeSelectorOpExists})
	}
	for _, s := range selector {
		class := corev1.NodeSelectorRequirement{Key: "class", Operator: corev1.NodeSelectorOperator(s.Operator), Values: s.Values}
		matches := map[corev1.ResourceQuotaScope]bool{
			corev1.ResourceQuotaScopeNotTerminating: true,
			corev1.ResourceQuotaScopeBestEffort:     p.BestEffort,
			corev1.ResourceQuotaScopeNotBestEffort:  !p.BestEffort,
			corev1.ResourceQuotaScopePriorityClass:  allows(class, slices.DeleteFunc([]string{p.Class}, func(name string) bool { return name == "" })),
		}
		if !matches[s.ScopeName] {
			return false
		}
	}
	return true
}
