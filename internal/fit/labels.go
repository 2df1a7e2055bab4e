package fit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A set is a set of values of a label. It is the complement of values within lo and hi if
// not is true. The zero value is the empty set, which only a node without the label has.
type set struct {
	not    bool
	values []string // sorted
	lo, hi int64    // inclusive; only of a complement
}

// every is the set of all values.
var every = set{not: true, lo: math.MinInt64, hi: math.MaxInt64}

// setOf returns the values that satisfy a Match.
func setOf(m Match) set {
	s, values := every, slices.Clone(m.Values)
	slices.Sort(values)
	number := int64(0)
	if len(values) > 0 {
		number, _ = strconv.ParseInt(values[0], 10, 64)
	}
	switch m.Op {
	case "In":
		return set{values: slices.Compact(values)}
	case "DoesNotExist":
		return set{}
	case "NotIn":
		s.values = slices.Compact(values)
	case "Gt":
		s.lo = number + 1
	case "Gte":
		s.lo = number
	case "Lt":
		s.hi = number - 1
	case "Lte":
		s.hi = number
	}
	return s
}

// in reports whether a number is within the bounds of the set.
func (s set) in(value string) bool {
	if !s.not || s.lo == math.MinInt64 && s.hi == math.MaxInt64 {
		return true
	}
	n, err := strconv.ParseInt(value, 10, 64)
	return err == nil && s.lo <= n && n <= s.hi
}

func (s set) has(value string) bool {
	_, listed := slices.BinarySearch(s.values, value)
	return listed != s.not && s.in(value)
}

// String formats a set: "=arm64", " in (a, b)", " not in (a)", " exists".
func (s set) String() string {
	switch list := "(" + strings.Join(s.values, ", ") + ")"; {
	case s.only() != "":
		return "=" + s.only()
	case !s.not && len(s.values) == 0:
		return " does not exist"
	case !s.not:
		return " in " + list
	case len(s.values) > 0:
		return " not in " + list
	case s.lo == every.lo && s.hi == every.hi:
		return " exists"
	}
	return fmt.Sprintf(" in %d..%d", s.lo, s.hi)
}

// absent reports whether a node without the label satisfies the set.
func (s set) absent() bool {
	return s.not == (len(s.values) > 0)
}

// only returns the value of a set with one value, or "".
func (s set) only() string {
	if s.not || len(s.values) != 1 {
		return ""
	}
	return s.values[0]
}

// and returns the intersection. ok is false if no value satisfies both sets, unless a node
// without the label does.
func (s set) and(o set) (both set, ok bool) {
	switch {
	case s.not && o.not:
		both = set{not: true, lo: max(s.lo, o.lo), hi: min(s.hi, o.hi)}
		both.values = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.values, o.values))))
		if both.lo > both.hi {
			both = set{}
		}
	case s.not:
		return o.and(s)
	default:
		both.values = slices.DeleteFunc(slices.Clone(s.values), func(v string) bool { return !o.has(v) })
	}
	empty := !both.not && len(both.values) == 0
	return both, !empty || s.absent() && o.absent()
}

// A req is a conjunction of sets by label. Equal reqs have one address.
type req struct {
	sets map[string]set
	text string
}

// get returns the set of a label; every if the req does not limit the label.
func (r *req) get(key string) set {
	if s, ok := r.sets[key]; ok {
		return s
	}
	return every
}

// A space owns the reqs of a problem, and caches their conjunctions.
type space struct {
	reqs   map[string]*req
	merged map[merge]*req
}

type merge struct {
	a, b  *req
	fixed bool
}

func (p *space) intern(sets map[string]set) *req {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(sets)) {
		fmt.Fprintf(&b, "%s%s %d %d\n", key, sets[key], sets[key].lo, sets[key].hi)
	}
	text := b.String()
	if _, ok := p.reqs[text]; !ok {
		p.reqs[text] = &req{sets, text}
	}
	return p.reqs[text]
}

// of returns the conjunction of the matches and of the labels.
func (p *space) of(labels map[string]string, terms ...Match) *req {
	sets := map[string]set{}
	for key, value := range labels {
		sets[key] = set{values: []string{value}}
	}
	for _, m := range terms {
		key := m.Key
		if stable, old := aliases[key]; old {
			key = stable
		}
		s := setOf(m)
		if have, limited := sets[key]; limited {
			s, _ = have.and(s)
		}
		sets[key] = s
	}
	return p.intern(sets)
}

// and returns the conjunction of a node's labels a and a pod's conditions b, or nil if the
// node can never satisfy them. If fixed is true, the node exists and has no other labels.
// If it is false, the instance type decides the well-known labels.
func (p *space) and(a, b *req, fixed bool) *req {
	if len(b.sets) == 0 {
		return a
	}
	key := merge{a, b, fixed}
	if r, ok := p.merged[key]; ok {
		return r
	}
	sets := maps.Clone(a.sets)
	for label, s := range b.sets {
		have, limited := a.sets[label]
		ok := limited || s.absent() || !fixed && wellKnown(label)
		if limited && ok {
			s, ok = have.and(s)
		}
		if !ok {
			p.merged[key] = nil
			return nil
		}
		sets[label] = s
	}
	p.merged[key] = p.intern(sets)
	return p.merged[key]
}

// aliases are the old names of labels.
var aliases = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   Zone,
	"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"beta.kubernetes.io/arch":                  Arch,
	"beta.kubernetes.io/os":                    "kubernetes.io/os",
	"beta.kubernetes.io/instance-type":         InstanceType,
}

// wellKnown reports whether the instance type of a node decides a label.
func wellKnown(label string) bool {
	return slices.Contains([]string{Zone, Arch, InstanceType, CapacityType, PoolLabel, "kubernetes.io/os", "topology.kubernetes.io/region", "node.kubernetes.io/windows-build"}, label) ||
		strings.HasPrefix(label, "karpenter.k8s.aws/") || strings.HasPrefix(label, "eks.amazonaws.com/instance-") || label == "topology.k8s.aws/zone-id"
}

// selects reports whether a term matches labels.
func (t Term) selects(labels map[string]string) bool {
	return !slices.ContainsFunc(t, func(m Match) bool {
		value, has := labels[m.Key]
		s := setOf(m)
		return has && !s.has(value) || !has && !s.absent()
	})
}

// tolerates reports whether pods with the tolerations run on a node with the taints. A
// taint with effect PreferNoSchedule counts like the other taints, as in Karpenter.
func tolerates(tolerations []Toleration, taints []Taint) bool {
	return !slices.ContainsFunc(taints, func(t Taint) bool {
		return !slices.ContainsFunc(tolerations, func(o Toleration) bool {
			exists := o.Op == "Exists"
			return (o.Effect == "" || o.Effect == t.Effect) && (o.Key == t.Key || o.Key == "" && exists) && (exists || o.Value == t.Value)
		})
	})
}
