package fit

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// describe returns the limit and its remedy as sentences. p is the first workload with
// pending pods, and full the resource that the nodes have too little of.
func describe(l Limit, p Pending, full string) (text, remedy string) {
	have, need := Amount(l.Resource, l.Have), AtLeast(l.Resource, l.Need)
	name := p.Workload.Short()
	start := p.Of - p.Pods
	if full != "" {
		full = fmt.Sprintf(", and these nodes have too little %s left for %s", spell(full), name)
	}
	switch l.Name {
	case LimitPool:
		return fmt.Sprintf("%s reaches its limit of %s %s", l.Object, have, l.Resource), fmt.Sprintf("raise the %s limit of %s from %s to at least %s", l.Resource, l.Object, have, need)
	case LimitGroup:
		return fmt.Sprintf("the maximum size of %s is %s%s", l.Object, have, full), fmt.Sprintf("raise the maximum size of %s from %s to at least %s", l.Object, have, need)
	case LimitNodes:
		return fmt.Sprintf("the number of %s is %s, and no autoscaler adds nodes%s", l.Object, have, full), fmt.Sprintf("raise the number of %s from %s to at least %s", l.Object, have, need)
	case LimitVCPUs:
		return fmt.Sprintf("the account's quota %q allows %s vCPUs", l.Object, have), fmt.Sprintf("raise the quota %q from %s to at least %s vCPUs", l.Object, have, need)
	case LimitAddresses:
		return fmt.Sprintf("the subnets of zone %s have %s free addresses", l.Object, have), fmt.Sprintf("raise the free addresses of the subnets of zone %s from %s to at least %s", l.Object, have, need)
	case LimitResourceQuota:
		return fmt.Sprintf("ResourceQuota %s allows %s %s, and the pods need %s", l.Object, have, l.Resource, need), fmt.Sprintf("raise %s in ResourceQuota %s from %s to at least %s", l.Resource, l.Object, have, need)
	case LimitNodeSize:
		return fmt.Sprintf("a pod of %s requests %s %s, and the largest node of %s has %s for it", name, Amount(l.Resource, l.Need), l.Resource, l.Object, have),
			fmt.Sprintf("lower the %s request of %s from %s to at most %s, or add a larger instance type to %s", l.Resource, name, Amount(l.Resource, l.Need), have, l.Object)
	case LimitRule:
		return fmt.Sprintf("the pod affinity, anti-affinity or topology spread of %s by %s allows no further pod", name, l.Resource), fmt.Sprintf("lower the replicas of %s from %d to %d, or relax its rule for %s", name, p.Of, start, l.Resource)
	case LimitTaints:
		return fmt.Sprintf("%s does not tolerate the taints of any node (the closest is %s)", name, l.Object), fmt.Sprintf("add a toleration for the taints of %s to %s, or lower its replicas from %d to %d", l.Object, name, p.Of, start)
	}
	return fmt.Sprintf("no node can have the labels that %s requires: %s", name, l.Resource), fmt.Sprintf("add nodes with %s (the closest is %s), or change the node selector of %s", l.Resource, l.Object, name)
}

// spell returns the name of a limit of the account in a sentence.
func (k key) spell() string {
	if k.name == LimitVCPUs {
		return fmt.Sprintf("the quota %q", k.object)
	}
	return "the subnets of zone " + k.object
}

// spell returns the name of a resource in a sentence.
func spell(resource string) string {
	return cmp.Or(map[string]string{CPU: "CPU", Pods: "capacity for pods", Storage: "ephemeral storage"}[resource], resource)
}

// Amount formats an amount of a resource exactly: "1500m", "61Gi".
func Amount(resource string, n int64) string {
	resource = resource[strings.LastIndexByte(resource, '.')+1:]
	switch {
	case resource == CPU && n%1000 == 0:
		return strconv.FormatInt(n/1000, 10)
	case resource == CPU:
		return fmt.Sprintf("%dm", n)
	case resource != Memory && resource != Storage:
		return strconv.FormatInt(n, 10)
	}
	for i, unit := range []string{"Ti", "Gi", "Mi", "Ki"} {
		if size := int64(1) << (40 - 10*i); n%size == 0 && n > 0 {
			return fmt.Sprintf("%d%s", n/size, unit)
		}
	}
	return strconv.FormatInt(n, 10)
}

// AtLeast formats an amount like Amount, rounded up to CPUs or to Gi.
func AtLeast(resource string, n int64) string {
	plain := resource[strings.LastIndexByte(resource, '.')+1:]
	unit := map[string]int64{CPU: 1000, Memory: 1 << 30, Storage: 1 << 30}[plain]
	return Amount(resource, ceil(n, max(unit, 1))*max(unit, 1))
}
