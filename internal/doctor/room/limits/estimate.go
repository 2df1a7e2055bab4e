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

// An estimate is the pods and shapes of a Case, with resources by index.
type estimate struct {
	names   []string // of the resources of pods
	shapes  []shape
	classes []*class
	batches []*batch
}

type shape struct {
	Shape
	most []int64 // for pods, with the DaemonSets; math.MaxInt64 is unlimited
	room []int64 // for pods, without the DaemonSets
}

// A class is the pods with the same selectors and tolerations.
type class struct {
	allowed []bool   // by shape
	holders []string // of one list, that the pods choose from; nil if a node needs none
}

// A batch is the pods of one workload.
type batch struct {
	Pods
	*class
	needs []int64
	at    int     // the largest node; -1 if no shape takes it
	size  float64 // the part of the largest node that one pod takes; infinite if no shape takes it, and 0 if it is unknown
}

// newEstimate returns an estimate without answers.
func newEstimate(c Case) *estimate {
	e := &estimate{}
	seen := map[string]bool{}
	for _, p := range c.Pods {
		for name := range p.Requests {
			seen[name] = true
		}
	}
	e.names = slices.Sorted(maps.Keys(seen))
	for _, s := range c.Shapes {
		e.shapes = append(e.shapes, e.shape(s, c.Daemons))
	}
	known := map[string]*class{}
	for _, p := range c.Pods {
		key := ""
		if len(p.Where)+len(p.Tolerations) > 0 {
			key = fmt.Sprint(p.Where, p.Tolerations)
		}
		if known[key] == nil {
			known[key] = &class{allowed: lists.Map(c.Shapes, func(s Shape) bool { return s.takes(p) })}
			e.classes = append(e.classes, known[key])
		}
		b := &batch{Pods: p, class: known[key], needs: e.list(p.Requests, 0), at: -1, size: math.Inf(1)}
		for i, s := range e.shapes {
			if part := b.part(s); b.allowed[i] && part < b.size {
				b.at = i
				b.size = part
			}
		}
		e.batches = append(e.batches, b)
	}
	return e
}

// list returns amounts by index.
func (e *estimate) list(of Amounts, missing int64) []int64 {
	return lists.Map(e.names, func(name string) int64 {
		n, has := of[name]
		if !has {
			return missing
		}
		return n
	})
}

func (e *estimate) shape(s Shape, daemons []Pods) shape {
	one := shape{Shape: s, most: e.list(s.Allocatable, math.MaxInt64), room: e.list(s.Allocatable, math.MaxInt64)}
	for i, name := range e.names {
		if _, has := s.Allocatable[name]; !has && !s.Open && s.Quotas == nil && strings.Contains(name, "/") { // a node lists its extended resources
			one.most[i], one.room[i] = 0, 0
		}
	}
	if at := slices.Index(e.names, Memory); at >= 0 && s.Quotas != nil { // the hypervisor, EKS and the kubelet take a part
		one.room[at] = max(0, one.room[at]-s.Capacity[Memory]*75/1000-(255+11*s.Capacity[Count]+100)<<20)
	}
	one.Capacity = Amounts{Nodes: 1, Addresses: 1}
	maps.Copy(one.Capacity, s.Capacity)
	for _, d := range daemons {
		if !s.takes(d) {
			continue
		}
		for i, n := range e.list(d.Requests, 0) {
			one.room[i] = max(0, one.room[i]-n)
		}
		one.Capacity[Addresses] += d.Requests[Addresses]
	}
	return one
}

// part returns the largest part of a resource of a node that one pod takes; 0 if the shape is
// open.
func (b *batch) part(s shape) (largest float64) {
	for i, n := range b.needs {
		largest = max(largest, float64(n)/max(float64(s.most[i]), 0.5))
	}
	if s.Open {
		return 0
	}
	return largest
}

// largest returns the answer for the pod that takes the largest part of the largest node
// that its labels and taints allow.
func (e *estimate) largest() []room.Limit {
	if len(e.batches) == 0 || len(e.shapes) == 0 {
		return nil
	}
	b := slices.MaxFunc(e.batches, func(a, b *batch) int { return cmp.Compare(a.size, b.size) })
	if b.size == 0 {
		return nil
	}
	l := room.Limit{Name: "largest node for " + b.Workload.Short(), Resource: Nodes, Asked: new(int64(1)), There: new(int64(0)), Why: "no node has the labels and taints that its pods allow"}
	for i, n := range b.needs {
		if b.at >= 0 && float64(n)/max(float64(e.shapes[b.at].most[i]), 0.5) == b.size {
			s := e.shapes[b.at]
			l = room.Limit{Name: l.Name, Resource: e.names[i], Asked: new(n), There: new(s.most[i]), Estimate: new(n + s.most[i] - s.room[i]), Why: "the node is " + s.Name}
		}
	}
	return []room.Limit{l.Judged(100)}
}

// limits returns the answers for each set of holders that some pods have to choose from.
func (e *estimate) limits(holders []Holder) (all []room.Limit) {
	sets := map[string][]string{}
	for _, c := range e.classes {
		c.holders = e.choice(c, lists.Index(holders, func(h Holder) string { return h.Name }))
		sets[strings.Join(c.holders, " + ")] = c.holders
	}
	delete(sets, "")
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		inside := func(holder string) bool { return slices.Contains(sets[name], holder) }
		outside := func(holder string) bool { return !inside(holder) }
		only := lists.Filter(e.batches, func(b *batch) bool { return len(b.holders) > 0 && !slices.ContainsFunc(b.holders, outside) })
		usable := lists.Map(e.shapes, func(s shape) bool { return slices.ContainsFunc(s.Toward, inside) })
		group := lists.Filter(holders, func(h Holder) bool { return inside(h.Name) })
		taken := e.pack(usable)
		before := len(all)
		for _, resource := range slices.Sorted(maps.Keys(group[0].Has)) {
			all = append(all, e.limit(room.Limit{Name: name, Resource: resource}, group, only, usable, taken)...)
		}
		limited := func(h Holder) bool { return len(h.Has) > 0 }
		if len(all) == before && len(lists.Filter(group, limited)) == len(group) {
			all = append(all, room.Limit{Name: name, Why: "they limit different resources, and the pods may use any of them"})
		}
	}
	return all
}

// choice returns the holders that pods choose from; nil if a node counts toward none.
func (e *estimate) choice(c *class, holders map[string]Holder) (names []string) {
	for i, s := range e.shapes {
		if !c.allowed[i] {
			continue
		}
		some := lists.Filter(s.Toward, func(name string) bool { return holders[name].Name != "" })
		if some == nil {
			return nil
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// limit returns the answer for a resource, unless a holder does not limit it. only are the
// pods that have no other holder.
func (e *estimate) limit(l room.Limit, group []Holder, only []*batch, usable []bool, taken packing) []room.Limit {
	l.There = new(int64(0))
	for _, h := range group {
		n, limited := h.Has[l.Resource]
		if !limited {
			return nil
		}
		*l.There += n
		l.Why = cmp.Or(l.Why, h.Missing)
	}
	l.Asked = new(e.asked(only, usable, l.Resource))
	if l.Why == "" {
		estimate := taken.addresses[l.Resource]
		for i, n := range taken.nodes {
			if !e.shapes[i].Fixed {
				n = math.Ceil(n)
			}
			estimate += int64(n * float64(e.shapes[i].Capacity[l.Resource]))
		}
		l.Estimate = new(max(*l.Asked, estimate))
	}
	return []room.Limit{l.Judged(room.Factor)}
}

// asked returns the sum of the requests of pods for a resource. For nodes, it is the largest
// sum as a number of the largest nodes. Pods that are apart ask for the smallest node each.
func (e *estimate) asked(pods []*batch, usable []bool, resource string) (most int64) {
	sums := make([]int64, len(e.names))
	for _, b := range pods {
		for i, n := range b.needs {
			sums[i] += n * b.Count
		}
		if b.Apart && resource != Memory { // a node has less memory than its instance type
			most = max(most, b.Count*e.smallest(b, usable, resource))
		}
	}
	for i, sum := range sums {
		if e.names[i] == resource {
			most = max(most, sum)
		}
		largest := int64(1)
		for at, s := range e.shapes {
			if usable[at] {
				largest = max(largest, s.most[i])
			}
		}
		if resource == Nodes {
			most = max(most, int64(math.Ceil(float64(sum)/float64(largest))))
		}
	}
	return most
}

// smallest returns the smallest amount of a limit that a node for a pod takes; 0 if no shape
// takes the pod.
func (e *estimate) smallest(b *batch, usable []bool, resource string) int64 {
	least := int64(math.MaxInt64)
	for i, s := range e.shapes {
		if usable[i] && b.allowed[i] && b.part(s) <= 1 {
			least = min(least, s.Capacity[resource])
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// A packing is the nodes that pods take.
type packing struct {
	nodes     []float64 // by shape
	addresses Amounts   // of the pods
}

// pack returns the nodes that pods take. The pods of a workload fill nodes of one shape: the
// number of nodes is the replicas divided by the pods that one node takes.
func (e *estimate) pack(usable []bool) packing {
	p := packing{make([]float64, len(e.shapes)), Amounts{}}
	for _, b := range e.batches {
		at := e.choose(b, usable)
		if at < 0 {
			continue
		}
		p.nodes[at] += float64(b.Count) / float64(max(1, b.fits(e.shapes[at].room, math.MaxInt64)))
		p.addresses[Addresses] += b.Count * b.Requests[Addresses]
	}
	return p
}

// fits returns the number of pods, up to count, that a node takes.
func (b *batch) fits(room []int64, count int64) int64 {
	for i, n := range b.needs {
		if n > 0 {
			count = min(count, room[i]/n)
		}
	}
	return count
}

// choose returns the shape with the least CPU for the pods of a workload; -1 if labels and
// taints allow none.
func (e *estimate) choose(b *batch, usable []bool) int {
	best := -1
	least := math.Inf(1)
	for i, s := range e.shapes {
		if !usable[i] || !b.allowed[i] || s.Open {
			continue
		}
		each := float64(s.Capacity[CPU]) / max(float64(b.fits(s.room, b.Count)), 1e-9)
		if each < least {
			best = i
			least = each
		}
	}
	return best
}
