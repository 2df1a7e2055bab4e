package limits

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// A placed is the pods of one workload, and the nodes that they take.
type placed struct {
	Pods
	sources []Source // that may start nodes for them
	open    bool     // one of them may start larger or smaller nodes than the present ones
	largest int64    // the pods that fit on the largest present node
	on      *Shape   // with the least CPU for the pods; nil if no present node takes one
	from    Source   // of the shape
	nodes   float64
	fitting []*Shape // that are large enough for one of pods that are apart, in each of these sources
}

// place places the pods of a workload on nodes of one shape: the number of nodes is the
// replicas divided by the pods that one node takes beside the DaemonSets.
func place(p Pods, sources []Source) *placed {
	b := &placed{Pods: p, sources: lists.Filter(sources, func(s Source) bool { return s.starts(p.Spec) })}
	least := math.Inf(1)
	for _, source := range b.sources {
		b.open = b.open || !source.Complete
		for i := range source.Shapes {
			s := &source.Shapes[i]
			most := p.fit(s.Allocatable)
			b.largest = max(b.largest, most)
			if most > 0 && p.Apart {
				b.fitting = append(b.fitting, s)
			}
			matches, err := p.Affinity.Match(s.Node)
			fit := p.fit(s.Room)
			if p.Apart {
				fit = min(fit, 1)
			}
			each := float64(s.Capacity[CPU]) / float64(min(fit, p.Count))
			if err == nil && matches && fit > 0 && each < least {
				b.on = s
				b.from = source
				b.nodes = float64(p.Count) / float64(fit)
				least = each
			}
		}
	}
	return b
}

// fit returns the number of pods that fit into a node.
func (p Pods) fit(room Amounts) int64 {
	count := int64(math.MaxInt64)
	for name, n := range p.Requests {
		if n > 0 && name != Addresses {
			count = min(count, room[name]/n)
		}
	}
	return count
}

// never reports whether certainly no node takes the pods.
func (b *placed) never() bool { return b.largest == 0 && !b.open }

// unplaced returns the reason why no present node takes the pods; "" if one takes them.
func (b *placed) unplaced() string {
	switch {
	case b.on != nil:
		return ""
	case b.never():
		return "no node has the labels, the taints and the size that its pods need"
	}
	names := lists.Map(b.sources, func(s Source) string { return s.Name })
	return fmt.Sprintf("no present node takes a pod of %s. The answer is known when %s has one", b.Workload.Short(), strings.Join(names, " or "))
}

// largest returns the answer for the largest pod: the one that fits least often on the
// largest node that its labels and taints allow.
func largest(all []*placed) []room.Limit {
	if len(all) == 0 {
		return nil
	}
	// Of several pods that fit on no node, the first is one that certainly never fits.
	all = append(lists.Filter(all, (*placed).never), all...)
	b := slices.MinFunc(all, func(a, b *placed) int { return cmp.Compare(a.largest, b.largest) })
	l := room.Limit{Name: "largest node for " + b.Workload.Short(), Resource: Count, Asked: new(int64(1)), There: &b.largest, Why: b.unplaced()}
	if b.on != nil {
		l.Estimate = l.Asked
	}
	if b.largest > 0 || b.never() {
		l = l.Judged(100)
	}
	return []room.Limit{l}
}

// A group is holders that some pods have to choose from.
type group struct {
	holders []Holder
	sources []Source  // whose nodes count toward a holder
	only    []*placed // the pods that have no other holder
	placed  []*placed // the pods on nodes that count toward a holder
	why     string    // the reason why an estimate is impossible
}

// limits returns the answers for each set of holders that some pods have to choose from.
// toward returns the names of the holders that the nodes of a source can count toward.
func limits(pods []*placed, sources []Source, holders []Holder, toward func(Source) []string) (all []room.Limit) {
	choices := lists.Map(pods, func(b *placed) []string { return b.choice(toward) })
	sets := slices.Clone(choices)
	slices.SortFunc(sets, slices.Compare)
	for _, set := range slices.CompactFunc(sets, slices.Equal) {
		inside := func(holder string) bool { return slices.Contains(set, holder) }
		outside := func(holder string) bool { return !inside(holder) }
		g := group{holders: lists.Filter(holders, func(h Holder) bool { return inside(h.Name) })}
		if len(g.holders) == 0 || len(g.holders) < len(set) {
			continue
		}
		g.sources = lists.Filter(sources, func(s Source) bool { return slices.ContainsFunc(toward(s), inside) })
		for i, b := range pods {
			if !slices.ContainsFunc(choices[i], inside) {
				continue
			}
			g.why = cmp.Or(g.why, b.unplaced())
			if b.on != nil && slices.ContainsFunc(toward(b.from), inside) {
				g.placed = append(g.placed, b)
			}
			if !slices.ContainsFunc(choices[i], outside) {
				g.only = append(g.only, b)
			}
		}
		for _, resource := range slices.Sorted(maps.Keys(g.holders[0].Has)) {
			all = append(all, g.limit(room.Limit{Name: strings.Join(set, " + "), Resource: resource, Why: g.why})...)
		}
	}
	return all
}

// choice returns the holders that pods choose from; nil if a node counts toward none.
func (b *placed) choice(toward func(Source) []string) []string {
	all := lists.Map(b.sources, toward)
	if slices.ContainsFunc(all, func(names []string) bool { return len(names) == 0 }) {
		return nil
	}
	names := slices.Concat(all...)
	slices.Sort(names)
	return slices.Compact(names)
}

// limit returns the answer for a resource, unless a holder does not limit it.
func (g group) limit(l room.Limit) []room.Limit {
	l.There = new(int64(0))
	for _, h := range g.holders {
		n, limited := h.Has[l.Resource]
		if !limited {
			return nil
		}
		*l.There += n
	}
	l.Asked = new(g.asked(l.Resource))
	if l.Why == "" {
		l.Estimate = new(max(*l.Asked, g.estimate(l.Resource)))
	}
	l = l.Judged(room.Factor)
	if l.Answer == room.DoesNotFit && l.Resource == Nodes && slices.ContainsFunc(g.sources, func(s Source) bool { return !s.Complete }) {
		l.Answer = room.Unknown
		l.Why = "it has no node of some instance types, which may be larger"
	}
	return []room.Limit{l}
}

// estimate returns the sum of a resource of the nodes. Nodes and pods take addresses.
func (g group) estimate(resource string) (sum int64) {
	nodes := map[*Shape]float64{}
	for _, b := range g.placed {
		nodes[b.on] += b.nodes
		if resource == Addresses {
			sum += b.Count * b.Requests[Addresses]
		}
	}
	for s, n := range nodes {
		sum += int64(math.Ceil(n * float64(s.Capacity[resource])))
	}
	return sum
}

// asked returns the sum of the requests of pods for a resource. For nodes, it is the largest
// sum as a number of the largest nodes. Pods that are apart ask for the smallest node each.
func (g group) asked(resource string) (most int64) {
	sums := Amounts{}
	for _, b := range g.only {
		for name, n := range b.Requests {
			sums[name] += n * b.Count
		}
		if len(b.fitting) > 0 && (resource == Nodes || !b.open) {
			most = max(most, b.Count*slices.Min(lists.Map(b.fitting, func(s *Shape) int64 { return s.Capacity[resource] })))
		}
	}
	if resource != Nodes {
		return max(most, sums[resource])
	}
	delete(sums, Addresses)
	shapes := slices.Concat(lists.Map(g.sources, func(s Source) []Shape { return s.Shapes })...)
	for name, sum := range sums {
		largest := slices.Max(append(lists.Map(shapes, func(s Shape) int64 { return s.Allocatable[name] }), 0))
		if largest > 0 {
			most = max(most, (sum+largest-1)/largest)
		}
	}
	return most
}
