package fit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// The names of limits.
const (
	LimitResourceQuota = "resource-quota"    // a ResourceQuota
	LimitPool          = "nodepool-limit"    // spec.limits of a NodePool
	LimitGroup         = "node-group-size"   // the maximum of a node group, or its size without an autoscaler
	LimitNodes         = "nodes"             // nodes that no autoscaler adds
	LimitVCPUs         = "vcpu-quota"        // a quota of the account
	LimitAddresses     = "subnet-addresses"  // the free addresses of the subnets of a zone
	LimitNodeSize      = "node-size"         // the pod is larger than any node that it can use
	LimitRule          = "topology"          // topology spread, pod affinity or anti-affinity
	LimitLabels        = "no-matching-node"  // no node has the labels that the pod requires
	LimitTaints        = "no-tolerated-node" // the pod does not tolerate the taints of any node
)

// Judge reports whether the room is enough for the asks. The verdict is Fits only if no
// reading failed. It is DoesNotFit in spite of a failed reading that could not add room, and
// in spite of any failed reading if a ResourceQuota refuses pods.
func Judge(asks []Ask, room Room) Answer {
	a := Answer{Verdict: Fits, Pending: []Pending{}, Unknown: append([]Reading{}, room.Unknown...)}
	for _, one := range asks {
		a.Pods += int64(one.Pods)
		if one.Live {
			a.Live++
		}
		a.Unknown = append(a.Unknown, one.contends(room.Daemons)...)
	}
	excesses := Excesses(asks, room.Quotas)
	p := compile(admitted(asks, excesses), room)
	s := p.solve(nil)
	pend(&a, asks, s)
	if len(a.Pending) == 0 {
		if len(a.Unknown) > 0 {
			a.Verdict = Unknown
		}
		a.Near = s.nearest()
		return a
	}
	if len(excesses) == 0 && slices.ContainsFunc(a.Unknown, func(r Reading) bool { return r.Adds }) {
		a.Verdict = Unknown
		return a
	}
	a.Verdict = DoesNotFit
	if len(excesses) > 0 {
		e := excesses[0]
		a.Limit = &Limit{Name: LimitResourceQuota, Object: e.Quota.Namespace + "/" + e.Quota.Name, Resource: e.Resource, Have: e.Quota.Hard[e.Resource], Need: e.Sum}
	} else {
		a.Limit = p.first(s, a.Pending[0].Workload)
	}
	a.Limit.Text, a.Remedy = describe(*a.Limit, a.Pending[0], p.full(s, a.Pending[0].Workload))
	return a
}

// contends returns the readings of the nodes on which a DaemonSet leaves no port of the host
// to the pods.
func (a Ask) contends(daemons []Daemon) (unknown []Reading) {
	for _, d := range daemons {
		if slices.ContainsFunc(d.Ports, func(port string) bool { return a.Labels[port] != "" }) {
			unknown = append(unknown, Reading{Name: "nodes without DaemonSet " + d.Name + " for " + a.Workload.Short(), Why: "both use the same port of the host"})
		}
	}
	return unknown
}

// pend sets the pods of an answer that have a node, and the workloads with pending pods.
func pend(a *Answer, asks []Ask, s *state) {
	placed := map[workload.ID]int32{}
	for _, n := range s.nodes {
		for _, on := range n.placed {
			placed[on.pod.Workload] += on.n
			a.Placed += int64(on.n)
		}
		a.Nodes += min(int64(n.pods), 1)
	}
	for _, one := range asks {
		if missing := one.Pods - placed[one.Workload]; missing > 0 {
			a.Pending = append(a.Pending, Pending{Workload: one.Workload, Pods: missing, Of: one.Pods, Priority: one.Priority})
		}
	}
	slices.SortStableFunc(a.Pending, func(a, b Pending) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), workload.Compare(a.Workload, b.Workload))
	})
}

// seeds returns the number of runs with other choices where Karpenter has no order: among
// equal pods, and among zones with equally few pods. In a large fleet, fewer runs are enough,
// because the choices of many pods average out.
func (p *problem) seeds() uint64 {
	pods := int64(0)
	for _, one := range p.pods {
		pods += int64(one.Pods)
	}
	return uint64(min(max(12*interleaved/max(pods, 1), 2), 12))
}

// solve runs the solver with lifted limits. It returns the run with the most pending pods.
// If pods stay pending, it is a run in the order of priorities, which the Kubernetes
// scheduler enforces by preemption.
func (p *problem) solve(lifted lift) *state {
	s := p.once(lifted, 0, false)
	for seed, seeds := uint64(1), p.seeds(); seed <= seeds && s.pending() == 0 && s.close(); seed++ {
		s = p.once(lifted, seed, false)
	}
	if s.pending() > 0 && !p.spreads && !slices.IsSortedFunc(p.pods, byPriority) {
		if again := p.once(lifted, 0, true); again.pending() > 0 {
			return again
		}
	}
	return s
}

func byPriority(a, b *pod) int { return cmp.Compare(b.Priority, a.Priority) }

// once runs the solver once. Karpenter places pods by size. The scheduler of Kubernetes
// places them by priority and then by age, so the seeds try the smallest first, which is the
// worst order, then the workloads in any order, and then their pods in any order.
func (p *problem) once(lifted lift, seed uint64, priority bool) *state {
	s := p.start(lifted, seed)
	s.binds = seed%2 == 1 && !p.spreads
	order, mixed := slices.Clone(p.pods), seed > 0
	equal := func(a, b *pod) bool { return a.need[atCPU] == b.need[atCPU] && a.need[atMemory] == b.need[atMemory] }
	if p.spreads {
		slices.Reverse(order)
		mixed = seed%3 == 0 && seed > 0
		equal = func(a, b *pod) bool { return seed%3 != 1 && seed > 0 && a.Priority == b.Priority }
	}
	if priority || p.spreads {
		slices.SortStableFunc(order, byPriority)
	}
	s.arrange(order, equal, mixed)
	s.run()
	return s
}

// close reports whether other choices could leave pods pending: a limit leaves less than the
// run used, or less than the largest node of its template, or the nodes that exist are the
// only room. Pods that the scheduler of Kubernetes moves to other nodes than Karpenter chose
// can need many more nodes.
func (s *state) close() bool {
	near := s.spreads || len(s.closed) > 0
	for i := range s.sources {
		from := &s.sources[i]
		for at, left := range from.left {
			near = near || left < from.used[at]
		}
		for _, o := range from.options {
			near = near || from.fits(o) >= 0
		}
		near = near || from.full() || from.nodes < from.made
	}
	for _, quota := range s.room.VCPUs {
		left := s.vcpus[quota.Name]
		near = near || left < quota.Limit-quota.Used-left
	}
	for i, net := range s.room.Subnets {
		near = near || s.free[i] < net.Free-s.free[i]
	}
	return near
}

// full reports whether the limit allows no further node.
func (s *source) full() bool { return s.nodes <= 0 && s.limit != LimitNodes }

// nearest returns the object of a limit that does not allow one more node like a node that
// started; "" without such a limit.
func (s *state) nearest() string {
	for i := range s.sources {
		if s.sources[i].full() {
			return s.sources[i].name
		}
	}
	for _, n := range s.nodes {
		if n.source == nil {
			continue
		}
		o := n.source.options[slices.IndexFunc(n.source.options, func(o *option) bool { return o.Shape == n.shape })]
		if n.source.fits(o) >= 0 {
			return n.source.name
		}
		after := &state{problem: s.problem, free: slices.Clone(s.free), vcpus: maps.Clone(s.vcpus)}
		for _, at := range o.Offers {
			if !n.req.get(Zone).has(at.Zone) || !n.req.get(CapacityType).has(at.CapacityType) {
				continue
			}
			if limit, ok := after.begin(&node{placed: n.placed}, n.source.template, o, at); !ok {
				return limit.spell()
			}
		}
	}
	return ""
}

// first returns the limit that keeps a workload pending: the one that its pods reach
// last on their way to a new node.
func (p *problem) first(s *state, id workload.ID) *Limit {
	one := p.pods[slices.IndexFunc(p.pods, func(one *pod) bool { return one.Workload == id })]
	best := verdict{}
	for i := range s.sources {
		for v := range one.variants {
			if found := s.refuses(&s.sources[i], one, &one.variants[v]); found.stage > best.stage {
				best = found
			}
		}
	}
	if best.stage < stageLimit {
		l := &Limit{Name: cmp.Or(best.name, LimitLabels), Object: cmp.Or(best.object, one.Workload.Short())}
		l.Resource = best.resource
		l.Have, l.Need = best.have, best.need
		return l
	}
	return p.lift(best.key)
}

// full returns the resource that most of the nodes that a workload can use have too little
// of, or "" if the nodes have enough of every resource.
func (p *problem) full(s *state, id workload.ID) string {
	one := p.pods[slices.IndexFunc(p.pods, func(one *pod) bool { return one.Workload == id })]
	short := make([]int, len(p.names)+1)
	for _, n := range s.nodes {
		for _, v := range one.variants {
			if !v.tolerates[n.taints] || p.and(n.req, v.req, true) == nil {
				continue
			}
			at := 0
			for at < len(p.names) && one.need[at] <= n.free[at] {
				at++
			}
			short[at]++
			break
		}
	}
	best := slices.Index(short, slices.Max(short))
	if best == len(p.names) || short[best] == 0 {
		return ""
	}
	return p.names[best]
}

// A verdict is the reason why a source has no node for a pod. Stages are ordered: a source
// that refuses a pod later is closer to a node.
type verdict struct {
	stage int
	key
	have, need int64
}

const (
	stageTaints = iota + 1
	stageLabels
	stageSize
	stageRule
	stageLimit
	stageAccount
)

// refuses returns the reason why a source has no node for a pod.
func (s *state) refuses(from *source, one *pod, v *variant) verdict {
	at := func(stage int, name, object, resource string) verdict {
		return verdict{stage: stage, key: key{name, object, resource}}
	}
	if !v.tolerates[from.taints] {
		return at(stageTaints, LimitTaints, from.name, "")
	}
	r := s.and(from.req, v.req, false)
	var fitting []*option
	largest := verdict{}
	for _, o := range from.options {
		if r == nil || !from.allows(o, r, nil) {
			continue
		}
		short := slices.IndexFunc(s.names, func(name string) bool { i := slices.Index(s.names, name); return one.need[i] > o.free[i] })
		if short < 0 {
			fitting = append(fitting, o)
			continue
		}
		if found := at(stageSize, LimitNodeSize, from.name, s.names[short]); o.free[short] >= largest.have {
			found.have, found.need = o.free[short], one.need[short]
			largest = found
		}
	}
	switch {
	case len(fitting) == 0 && largest.stage == 0:
		return at(stageLabels, LimitLabels, from.name, s.unmatched(from, v))
	case len(fitting) == 0:
		return largest
	}
	n := s.claim(from, fitting)
	after, open := s.narrowed(one, v, n, fitting)
	if len(open) == 0 {
		return at(stageRule, LimitRule, one.Workload.Short(), after)
	}
	refused, account := s.refused[from.template]
	if from.nodes <= 0 {
		return at(stageLimit, from.limit, from.name, Nodes)
	}
	if slices.ContainsFunc(open, func(o *option) bool { return from.fits(o) < 0 }) {
		if !account {
			return at(stageRule, LimitRule, one.Workload.Short(), after)
		}
		return at(stageAccount, refused.name, refused.object, refused.resource)
	}
	return at(stageLimit, from.limit, from.name, s.names[from.fits(open[0])])
}

// unmatched returns the conditions of a pod on labels that no instance type of a source
// satisfies, or all conditions if each has an instance type.
func (s *state) unmatched(from *source, v *variant) string {
	var none, all []string
	for _, label := range slices.Sorted(maps.Keys(v.req.sets)) {
		values := v.req.sets[label]
		text := label + values.String()
		one := s.and(from.req, s.intern(map[string]set{label: values}), false)
		all = append(all, text)
		if one == nil || !slices.ContainsFunc(from.options, func(o *option) bool { return from.allows(o, one, nil) }) {
			none = append(none, text)
		}
	}
	if len(none) == 0 {
		none = all
	}
	return strings.Join(none, ", ")
}

// narrowed returns the options of a new claim that the rules of a pod allow, and the label
// whose domains the rules limit.
func (s *state) narrowed(one *pod, v *variant, n *node, options []*option) (string, []*option) {
	label := ""
	for _, rule := range v.obeys {
		label = cmp.Or(label, rule.Key)
	}
	r := s.and(n.req, v.req, false)
	if r != nil {
		r = s.narrow(one, v, n, r)
	}
	if r == nil {
		return label, nil
	}
	return label, slices.DeleteFunc(slices.Clone(options), func(o *option) bool { return !n.source.allows(o, r, nil) })
}

// lift returns a limit with the value that it needs: the largest amount that a run without the
// limit uses, or more if a run with this amount leaves more pods pending.
func (p *problem) lift(k key) *Limit {
	l := &Limit{Name: k.name, Object: k.object, Resource: k.resource}
	l.Have = p.have(k)
	pending := int64(0)
	for seed := range p.seeds() + 1 {
		s := p.once(lift{k: unlimited}, seed, false)
		l.Need = max(l.Need, s.used(k))
		pending = max(pending, s.pending())
	}
	step := int64(1)
	for range 12 {
		if p.solve(lift{k: p.value(k, l.Need)}).pending() <= pending {
			break
		}
		l.Need += step
		step = max(step*2, p.largest(k))
	}
	return l
}

// source returns the source of a limit, or nil for a limit of the account.
func (s *state) source(k key) *source {
	for i := range s.sources {
		if s.sources[i].limit == k.name && s.sources[i].name == k.object {
			return &s.sources[i]
		}
	}
	return nil
}

// have returns the value of a limit.
func (p *problem) have(k key) (have int64) {
	for _, v := range p.room.VCPUs {
		if k.name == LimitVCPUs && v.Name == k.object {
			have += v.Limit
		}
	}
	for _, net := range p.room.Subnets {
		if k.name == LimitAddresses && net.Zone == k.object {
			have += net.Free
		}
	}
	for _, t := range p.templates {
		switch {
		case t.limit != k.name || t.name != k.object:
		case k.resource == Nodes:
			have = t.size + t.nodes
		default:
			have = t.limits[slices.Index(p.names, k.resource)]
		}
	}
	return have
}

// used returns the amount of a limit that a run used, if the run lifted the limit.
func (s *state) used(k key) (used int64) {
	from := s.source(k)
	switch {
	case k.name == LimitVCPUs:
		return unlimited - s.vcpus[k.object]
	case k.name == LimitAddresses:
		for i, net := range s.room.Subnets {
			if net.Zone == k.object {
				used += unlimited - s.free[i]
			}
		}
		return used
	case k.resource == Nodes:
		return from.size + from.made
	}
	return from.used[slices.Index(s.names, k.resource)]
}

// value returns a limit in the form of a lift: the nodes that a template may add, and the
// addresses of each subnet of a zone.
func (p *problem) value(k key, need int64) int64 {
	nets := int64(0)
	for _, net := range p.room.Subnets {
		if k.name == LimitAddresses && net.Zone == k.object {
			nets++
		}
	}
	for _, t := range p.templates {
		if t.limit == k.name && t.name == k.object && k.resource == Nodes {
			need -= t.size
		}
	}
	return ceil(need, max(nets, 1))
}

// largest returns the largest amount of a limit that one instance type takes.
func (p *problem) largest(k key) int64 {
	most := int64(1)
	for _, t := range p.templates {
		at := slices.Index(p.names, k.resource)
		for _, o := range t.options {
			if t.limit == k.name && t.name == k.object && at >= 0 {
				most = max(most, o.cap[at])
			}
		}
	}
	return most
}
