package doctor

import (
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// quotas reports ResourceQuotas that are too small for the levels of their namespace. It
// counts a workload without a pod template as pods without requests.
func (e *examination) quotas() {
	asks, _ := e.Cluster.Objects.Only(e.levels())
	known := map[workload.ID]bool{}
	for _, a := range asks {
		known[a.Workload] = true
	}
	without := map[string]int64{} // pods by namespace
	for _, w := range e.levels() {
		if !known[w.ID] {
			without[w.ID.Namespace] += int64(w.Pods)
			asks = append(asks, fit.Ask{Workload: w.ID, Pods: w.Pods, Counts: fit.Resources{"pods": 1, "count/pods": 1}})
		}
	}
	for _, x := range fit.Excesses(asks, e.Cluster.Objects.ResourceQuotas()) {
		q := x.Quota
		sum, hard := fit.Amount(x.Resource, x.Sum), q.Hard[x.Resource]
		fits := int64(float64(x.Pods) * float64(hard) / float64(x.Sum))
		if room, ok := e.report.Room[q.Namespace]; !ok || fits < room {
			e.report.Room[q.Namespace] = fits
		}
		pods := slices.Contains([]string{"pods", "count/pods"}, x.Resource)
		asked := fmt.Sprintf("%s %s", sum, x.Resource)
		if pods {
			asked = sum + " pods"
		}
		if n := without[q.Namespace]; n > 0 && !pods {
			asked += fmt.Sprintf(" (without %d of %d pods, which are not live)", n, x.Pods)
		}
		e.find(Quota, q.Namespace, fmt.Sprintf("The levels of the namespace add up to %s, but ResourceQuota %s allows only %s %s. A rebuild cannot start the remaining pods.", asked, q.Name, fit.Amount(x.Resource, hard), x.Resource),
			fmt.Sprintf("set %s: %q or more in spec.hard of ResourceQuota %s", x.Resource, sum, q.Name))
	}
}

// levels returns the workloads with a level in git.
func (e *examination) levels() (all []objects.Want) {
	for id, entry := range e.Tree.Entries() {
		all = append(all, objects.Want{ID: id, Pods: entry.Replicas})
	}
	return all
}
