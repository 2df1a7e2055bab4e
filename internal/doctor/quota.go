package doctor

import (
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
)

// quotas reports the ResourceQuotas that are too small for the pods of a rebuild.
func (e *examination) quotas() {
	pods := map[string]int64{} // by namespace
	for id, level := range e.levels() {
		pods[id.Namespace] += int64(level)
	}
	for _, l := range e.report.Fit.Limits {
		if l.Answer != room.DoesNotFit || pods[l.Namespace] == 0 {
			continue
		}
		fits := int64(float64(pods[l.Namespace]) * float64(*l.There) / float64(*l.Asked))
		least, has := e.report.Room[l.Namespace]
		if !has || fits < least {
			e.report.Room[l.Namespace] = fits
		}
		sum, hard := l.Amount(l.Asked), l.Amount(l.There)
		e.find(Quota, l.Namespace, fmt.Sprintf("In namespace %s, a rebuild needs %s %s, but %s allows only %s. A rebuild cannot start all pods.", l.Namespace, sum, l.Resource, l.Name, hard),
			fmt.Sprintf("in spec.hard of %s, set %s to %q or more", l.Name, l.Resource, strings.ReplaceAll(sum, ",", "")))
	}
}
