package doctor

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// quotas notes quotas that are too small for the checkpoints together.
func (e *examination) quotas() {
	for _, q := range e.Cluster.quotas {
		for _, name := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
			hard, m := q.Spec.Hard[name], measureOf(name)
			if !m.of(q) {
				continue
			}
			d := e.demand(q.Namespace, m)
			if d.sum.Cmp(hard) <= 0 {
				continue
			}
			fits := int64(float64(d.pods) * hard.AsApproximateFloat64() / d.sum.AsApproximateFloat64())
			if room, ok := e.report.Room[q.Namespace]; !ok || fits < room {
				e.report.Room[q.Namespace] = fits
			}
			e.find(Quota, q.Namespace, fmt.Sprintf("its checkpoints ask for %s together, and ResourceQuota %s allows %s %s: a rebuild stops there; raise it", m.say(d), q.Name, hard.String(), name))
		}
	}
}

// A measure is what a line of a ResourceQuota counts of each pod. The zero value
// is the pod itself.
type measure struct {
	asks corev1.ResourceName // of Asks; "" counts pods
}

func measureOf(name corev1.ResourceName) measure {
	if name == corev1.ResourcePods || name == "count/pods" {
		return measure{}
	}
	return measure{gitops.QuotaName(name)}
}

// A demand is what the checkpoints of a namespace ask for together.
type demand struct {
	sum     resource.Quantity
	pods    int64
	unknown int64 // pods of which it is not known what they ask for
}

// demand sums up what the checkpoints of a namespace ask for.
func (e *examination) demand(namespace string, m measure) (d demand) {
	for id, entry := range e.Tree.Entries() {
		if id.Namespace != namespace {
			continue
		}
		pods := int64(entry.Replicas)
		d.pods += pods
		each, known := m.each(e, id)
		if !known {
			d.unknown += pods
			continue
		}
		each.Mul(pods)
		d.sum.Add(each)
	}
	return d
}

// each is what one pod of a workload counts for.
func (m measure) each(e *examination, id workload.ID) (q resource.Quantity, known bool) {
	if m.asks == "" {
		return *resource.NewQuantity(1, resource.DecimalSI), true
	}
	_, w := e.given(id)
	return w.Asks[m.asks].DeepCopy(), w.Asks != nil
}

// say says a demand.
func (m measure) say(d demand) string {
	switch {
	case m.asks == "":
		return fmt.Sprintf("%d pods", d.pods)
	case d.unknown > 0:
		return fmt.Sprintf("%s %s, without %d of their %d pods, of which nothing that is built says what they ask for,", d.sum.String(), m.asks, d.unknown, d.pods)
	}
	return fmt.Sprintf("%s %s", d.sum.String(), m.asks)
}

// of reports whether a quota is known to count all pods of workloads that have
// the measure. None of them has a deadline, as a Job's may, so that NotTerminating
// leaves none out; what asks for anything is not best effort; priorities are not
// known here.
func (m measure) of(q corev1.ResourceQuota) bool {
	// some is true of a scope that leaves some of the pods out.
	some := func(scope corev1.ResourceQuotaScope) bool {
		return scope != corev1.ResourceQuotaScopeNotTerminating && (scope != corev1.ResourceQuotaScopeNotBestEffort || m.asks == "")
	}
	scopes := slices.Clone(q.Spec.Scopes)
	if by := q.Spec.ScopeSelector; by != nil {
		for _, one := range by.MatchExpressions {
			scopes = append(scopes, one.ScopeName)
		}
	}
	return !slices.ContainsFunc(scopes, some)
}
