package doctor

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gitlatch/gitlatch/internal/gitops"
)

// quotas reports ResourceQuotas that are too small for the levels of their namespace.
func (e *examination) quotas() {
	for _, q := range e.Cluster.quotas {
		for _, name := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
			hard, asks := q.Spec.Hard[name], gitops.QuotaName(name)
			if name == corev1.ResourcePods || name == "count/pods" {
				asks = "" // such a quota limits the pods themselves
			}
			if !countsAll(q, asks) {
				continue
			}
			d := e.demand(q.Namespace, asks)
			if d.sum.Cmp(hard) <= 0 {
				continue
			}
			fits := int64(float64(d.pods) * hard.AsApproximateFloat64() / d.sum.AsApproximateFloat64())
			if room, ok := e.report.Room[q.Namespace]; !ok || fits < room {
				e.report.Room[q.Namespace] = fits
			}
			e.find(Quota, q.Namespace, fmt.Sprintf("The levels of the namespace add up to %s, but ResourceQuota %s allows only %s %s. A rebuild cannot start the remaining pods.", d.say(asks), q.Name, hard.String(), name),
				fmt.Sprintf("set %s: %q or more in spec.hard of ResourceQuota %s", name, d.sum.String(), q.Name))
		}
	}
}

// A demand is the sum of the requests of a namespace at its levels.
type demand struct {
	sum     resource.Quantity
	pods    int64
	unknown int64 // pods whose requests are unknown
}

// demand returns how much of a resource the workloads of a namespace request at their
// levels. asks is a resource as in gitops.Object.Asks; "" is the number of pods.
func (e *examination) demand(namespace string, asks corev1.ResourceName) (d demand) {
	for id, entry := range e.Tree.Entries() {
		if id.Namespace != namespace {
			continue
		}
		pods := int64(entry.Replicas)
		d.pods += pods
		each := *resource.NewQuantity(1, resource.DecimalSI)
		if asks != "" {
			_, w := e.given(id)
			each = w.Asks[asks].DeepCopy()
			if w.Asks == nil {
				d.unknown += pods
			}
		}
		each.Mul(pods)
		d.sum.Add(each)
	}
	return d
}

// say formats a demand.
func (d demand) say(asks corev1.ResourceName) string {
	switch {
	case asks == "":
		return fmt.Sprintf("%d pods", d.pods)
	case d.unknown > 0:
		return fmt.Sprintf("%s %s (without %d of %d pods, which have no requests in a built folder)", d.sum.String(), asks, d.unknown, d.pods)
	}
	return fmt.Sprintf("%s %s", d.sum.String(), asks)
}

// countsAll reports whether a quota applies to all pods that request the resource.
// NotTerminating does: unlike a Job, a latched workload has no deadline. NotBestEffort
// does if the pods have requests. Every other scope may exclude pods, for example by
// priority, which doctor does not read.
func countsAll(q corev1.ResourceQuota, asks corev1.ResourceName) bool {
	scopes := slices.Clone(q.Spec.Scopes)
	if by := q.Spec.ScopeSelector; by != nil {
		for _, one := range by.MatchExpressions {
			scopes = append(scopes, one.ScopeName)
		}
	}
	return !slices.ContainsFunc(scopes, func(scope corev1.ResourceQuotaScope) bool {
		return scope != corev1.ResourceQuotaScopeNotTerminating && (scope != corev1.ResourceQuotaScopeNotBestEffort || asks == "")
	})
}
