package doctor

import (
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// quotas reports ResourceQuotas that are too small for the levels of their namespace. It
// counts a workload without a pod template as pods without requests.
func (e *examination) quotas() {
	levels := e.levels()
	all, _ := e.Cluster.Objects.Pods(levels)
	pods := lists.Filter(all, func(p limits.Pods) bool { return levels[p.Workload] > 0 })
	known := lists.Index(pods, func(p limits.Pods) workload.ID { return p.Workload })
	without := map[string]int64{} // pods by namespace
	for id, level := range levels {
		_, has := known[id]
		if !has && level > 0 {
			without[id.Namespace] += int64(level)
			pods = append(pods, limits.Pods{Workload: id, Count: int64(level), Counts: limits.Amounts{"pods": 1, "count/pods": 1}})
		}
	}
	for _, l := range limits.QuotaLimits(pods, e.Cluster.Objects.Quotas) {
		if l.Answer != room.DoesNotFit {
			continue
		}
		sum, hard := l.Amount(*l.Asked), l.Amount(*l.There)
		fits := int64(float64(l.Pods) * float64(*l.There) / float64(*l.Asked))
		least, has := e.report.Room[l.Namespace]
		if !has || fits < least {
			e.report.Room[l.Namespace] = fits
		}
		counted := slices.Contains([]string{"pods", "count/pods"}, l.Resource)
		asked := fmt.Sprintf("%s %s", sum, l.Resource)
		if counted {
			asked = sum + " pods"
		}
		if n := without[l.Namespace]; n > 0 && !counted {
			asked += fmt.Sprintf(" (without %d of %d pods, which are not live)", n, l.Pods)
		}
		e.find(Quota, l.Namespace, fmt.Sprintf("The levels of the namespace add up to %s, but %s allows only %s %s. A rebuild cannot start the remaining pods.", asked, l.Name, hard, l.Resource),
			fmt.Sprintf("set %s: %q or more in spec.hard of %s", l.Resource, sum, l.Name))
	}
}
