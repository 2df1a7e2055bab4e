package fit

import (
	"cmp"
	"maps"
	"slices"
)

// An Excess is a ResourceQuota that does not admit all pods of its namespace.
type Excess struct {
	Quota    Quota
	Resource string // in Quota.Hard
	Sum      int64  // of the pods that count
	Pods     int64  // that count
}

// Excesses returns the quotas that do not admit all asks, by namespace, name and resource.
func Excesses(asks []Ask, quotas []Quota) []Excess {
	var all []Excess
	for _, q := range quotas {
		for _, name := range slices.Sorted(maps.Keys(q.Hard)) {
			e := Excess{Quota: q, Resource: name}
			for _, a := range asks {
				if q.counts(a) {
					e.Sum += int64(a.Pods) * a.Counts[name]
					e.Pods += int64(a.Pods)
				}
			}
			if e.Sum > q.Hard[name] {
				all = append(all, e)
			}
		}
	}
	return all
}

// counts reports whether a quota counts the pods of an Ask. The pods have no deadline, so
// NotTerminating counts them.
func (q Quota) counts(a Ask) bool {
	return q.Namespace == a.Workload.Namespace && !slices.ContainsFunc(q.Scopes, func(s Scope) bool {
		switch s.Name {
		case "BestEffort":
			return !a.BestEffort
		case "NotBestEffort":
			return a.BestEffort
		case "PriorityClass":
			return !Term{{Key: "class", Op: s.Op, Values: s.Values}}.selects(a.class())
		case "NotTerminating":
			return false
		}
		return true
	})
}

// class returns the PriorityClass as a label.
func (a Ask) class() map[string]string {
	if a.Class == "" {
		return nil
	}
	return map[string]string{"class": a.Class}
}

// admitted returns the asks with the pods that the quotas admit. The quotas refuse the
// pods with the lowest priority.
func admitted(asks []Ask, excesses []Excess) []Ask {
	asks = slices.Clone(asks)
	order := make([]int, len(asks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(asks[b].Priority, asks[a].Priority) })
	for _, e := range excesses {
		left := e.Quota.Hard[e.Resource]
		for _, i := range order {
			a := &asks[i]
			if each := a.Counts[e.Resource]; each > 0 && e.Quota.counts(*a) {
				a.Pods = int32(min(int64(a.Pods), left/each))
				left -= int64(a.Pods) * each
			}
		}
	}
	return asks
}
