package fit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A vec is an amount of each resource of a problem, in the order of problem.names.
type vec []int64

// The indexes of the resources that every problem has.
const (
	atCPU = iota
	atMemory
	atPods
)

// unlimited is the amount of a resource without a limit.
const unlimited = math.MaxInt64 / 4

func (v vec) add(o vec, times int64) {
	for i := range v {
		v[i] += o[i] * times
	}
}

// within reports whether v and o together are at most room.
func (v vec) within(o, room vec) bool {
	for i := range v {
		if v[i]+o[i] > room[i] {
			return false
		}
	}
	return true
}

// A problem is asks and a room in the form of the solver. It does not change while the
// solver runs.
type problem struct {
	space
	names     []string        // of the resources
	keys      map[string]bool // the labels of nodes that an ask or a DaemonSet refers to
	pods      []*pod          // in the order in which Karpenter places them
	templates []*template
	members   []member // the nodes at the start
	rules     []*rule
	taints    [][]Taint // the distinct lists of taints
	soft      bool      // a template has a taint with effect PreferNoSchedule
	spreads   bool      // the scheduler of Kubernetes places the pods, without Karpenter
	zero      vec
	room      Room
}

// A pod is an Ask.
type pod struct {
	*Ask
	index    int
	need     vec
	variants []variant // from all preferences to none
	marks    []*rule   // the rules that count the pod
}

// A variant is a pod after Karpenter dropped some of its preferences.
type variant struct {
	req, strict *req   // with and without preferred node labels
	tolerates   []bool // by list of taints
	obeys       []*rule
}

// A template is a source of new nodes: a Pool, a Group, or copies of present nodes, whose
// limit is 0 until Judge lifts it.
type template struct {
	name    string
	limit   string // the name of the limit: LimitPool, LimitGroup or LimitNodes
	req     *req
	labels  map[string]string
	taints  int
	options []*option
	limits  vec   // unlimited for a resource without a limit
	nodes   int64 // limit of the nodes that it adds
	size    int64 // the nodes that exist at the start
	mins    Term  // requirements with a minimum of values
	subnets []string
	zones   []string // of a Group: the zones, the one of its next member first
}

// An option is an instance type of a template.
type option struct {
	*Shape
	index     int // in template.options
	cap, free vec // free is for pods that no DaemonSet owns
	daemons   int64
}

// A member is a node that exists at the start.
type member struct {
	name     string
	req      *req
	taints   int
	free     vec
	daemons  int64
	template *template // of its Group; nil without one
	zone     string
}

func (p *problem) vec(r Resources) vec {
	v := make(vec, len(p.names))
	for i, name := range p.names {
		v[i] = r[name]
	}
	return v
}

// compile returns the problem of asks and a room.
func compile(asks []Ask, room Room) *problem {
	p := &problem{keys: map[string]bool{}, space: space{map[string]*req{}, map[merge]*req{}}, names: []string{CPU, Memory, Pods}, room: room}
	keys := p.keys
	known := func(amounts Resources) {
		for _, name := range slices.Sorted(maps.Keys(amounts)) {
			if !slices.Contains(p.names, name) {
				p.names = append(p.names, name)
			}
		}
	}
	for _, a := range asks {
		known(a.Requests)
		a.mentions(keys)
	}
	for _, d := range room.Daemons {
		known(d.Requests)
		mention(keys, d.Where...)
	}
	for _, pool := range room.Pools {
		limits := maps.Clone(pool.Limits)
		delete(limits, Nodes)
		known(limits)
		p.soft = p.soft || slices.ContainsFunc(pool.Taints, func(t Taint) bool { return t.Effect == "PreferNoSchedule" })
	}
	p.spreads = len(room.Pools) == 0
	p.zero = make(vec, len(p.names))
	p.sources(room)
	p.present(room)
	p.ask(asks)
	return p
}

func mention(keys map[string]bool, terms ...Term) {
	for _, term := range terms {
		for _, m := range term {
			keys[cmp.Or(aliases[m.Key], m.Key)] = true
		}
	}
}

// mentions adds the labels of nodes that an Ask refers to.
func (a Ask) mentions(keys map[string]bool) {
	mention(keys, a.Where...)
	for _, pref := range a.Prefers {
		mention(keys, pref.Term)
	}
	for _, r := range a.Rules {
		if r.Key != Hostname {
			keys[r.Key] = true
		}
	}
}

// tainted returns the index of a list of taints.
func (p *problem) tainted(taints []Taint) int {
	at := slices.IndexFunc(p.taints, func(t []Taint) bool { return slices.Equal(t, taints) })
	if at < 0 {
		p.taints = append(p.taints, taints)
		at = len(p.taints) - 1
	}
	return at
}

// sources adds the templates of the pools and groups.
func (p *problem) sources(room Room) {
	pools := slices.SortedFunc(slices.Values(room.Pools), func(a, b Pool) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Name, a.Name))
	})
	for _, pool := range pools {
		labels := maps.Clone(pool.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, map[string]string{PoolLabel: pool.Name, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"})
		t := &template{name: "NodePool " + pool.Name, limit: LimitPool, labels: labels, taints: p.tainted(pool.Taints), req: p.of(labels, pool.Require...), nodes: unlimited, subnets: pool.Subnets}
		t.mins = slices.DeleteFunc(slices.Clone(pool.Require), func(m Match) bool { return m.Min == 0 })
		t.limits = p.vec(nil)
		for i, name := range p.names {
			t.limits[i] = limited(pool.Limits, name)
		}
		t.nodes = limited(pool.Limits, Nodes)
		p.offer(t, pool.Shapes, room.Daemons)
	}
	slices.SortStableFunc(room.Groups, func(a, b Group) int { return cmp.Compare(order(b.Autoscaled), order(a.Autoscaled)) })
	for _, g := range room.Groups {
		t := &template{name: "node group " + g.Name, limit: LimitGroup, labels: g.Labels, taints: p.tainted(g.Taints), req: p.of(g.Labels), subnets: g.Subnets, limits: p.vec(nil), size: g.Size}
		if g.Autoscaled {
			t.nodes = max(g.Max-g.Size, 0)
		}
		for i := range t.limits {
			t.limits[i] = unlimited
		}
		p.offer(t, g.Shapes[:min(len(g.Shapes), 1)], room.Daemons)
	}
}

func order(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// limited returns a limit, or unlimited for a resource without a limit.
func limited(limits Resources, name string) int64 {
	if limit, ok := limits[name]; ok {
		return limit
	}
	return unlimited
}

// offer adds a template with those shapes that its requirements allow.
func (p *problem) offer(t *template, shapes []Shape, daemons []Daemon) {
	for i := range shapes {
		o := &option{Shape: &shapes[i], cap: p.vec(shapes[i].Capacity), free: p.vec(shapes[i].Allocatable)}
		for _, d := range daemons {
			if tolerates(d.Tolerations, p.taints[t.taints]) && p.anyTerm(d.Where, func(r *req) bool {
				both := p.and(t.req, r, false)
				return both != nil && t.allows(o, both, nil)
			}) {
				p.daemon(d, o.free, &o.daemons)
			}
		}
		if t.allows(o, t.req, nil) {
			o.index = len(t.options)
			t.options = append(t.options, o)
		}
	}
	if t.limit == LimitGroup && len(t.options) > 0 {
		for _, o := range t.options[0].Offers {
			t.zones = append(t.zones, o.Zone)
		}
		slices.Sort(t.zones)
		t.zones = slices.Compact(t.zones)
	}
	p.templates = append(p.templates, t)
}

// daemon takes the share of a DaemonSet from a node.
func (p *problem) daemon(d Daemon, free vec, addresses *int64) {
	free.add(p.vec(d.Requests), -1)
	free[atPods]--
	if !d.HostNetwork {
		*addresses++
	}
}

// anyTerm reports whether yes is true for a term, or for the empty req without terms.
func (p *problem) anyTerm(where []Term, yes func(*req) bool) bool {
	return len(where) == 0 && yes(p.of(nil)) || slices.ContainsFunc(where, func(t Term) bool { return yes(p.of(nil, t...)) })
}

// allows reports whether a node with the labels of the req can have the instance type.
// closed excludes offers.
func (t *template) allows(o *option, r *req, closed map[closing]bool) bool {
	for key, s := range r.sets {
		value, has := o.Labels[key]
		if _, own := t.labels[key]; key == Zone || key == CapacityType || own && !has {
			continue
		}
		if has && !s.has(value) || !has && wellKnown(key) && !s.absent() {
			return false
		}
	}
	zone, kind := r.get(Zone), r.get(CapacityType)
	return slices.ContainsFunc(o.Offers, func(at Offer) bool {
		return zone.has(at.Zone) && kind.has(at.CapacityType) && !closed[closing{o, at}]
	})
}

// present adds the nodes that exist at the start. Nodes without a group that can grow get
// a template with a limit of 0 nodes for each distinct node.
func (p *problem) present(room Room) {
	for _, n := range room.Nodes {
		labels := map[string]string{}
		for key := range p.keys {
			if value, ok := n.Labels[key]; ok {
				labels[key] = value
			}
		}
		m := member{name: n.Name, taints: p.tainted(n.Taints), free: p.vec(n.Allocatable), zone: n.Labels[Zone]}
		group := n.Labels[GroupLabel]
		for _, t := range p.templates {
			if t.name == "node group "+group && len(t.options) > 0 {
				m.template = t
			}
		}
		m.req = p.of(labels)
		for _, d := range room.Daemons {
			if tolerates(d.Tolerations, n.Taints) && p.anyTerm(d.Where, func(r *req) bool { return p.and(m.req, r, true) != nil }) {
				p.daemon(d, m.free, &m.daemons)
			}
		}
		p.members = append(p.members, m)
		if m.template == nil {
			delete(labels, Hostname)
			p.copies(n, labels, m)
		}
	}
	slices.SortStableFunc(p.members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
}

// copies adds the template of nodes like a present node, with a limit of 0 nodes.
func (p *problem) copies(n Node, labels map[string]string, m member) {
	name := "nodes like " + n.Name
	if kind := n.Labels[InstanceType]; kind != "" {
		name = "nodes of type " + kind
	}
	shape := &Shape{Name: name, Labels: labels, Capacity: n.Allocatable, Allocatable: n.Allocatable}
	shape.Offers = []Offer{{Zone: labels[Zone], CapacityType: labels[CapacityType]}}
	t := &template{name: name, limit: LimitNodes, labels: labels, taints: m.taints, req: p.of(labels), limits: p.vec(nil)}
	for i := range t.limits {
		t.limits[i] = unlimited
	}
	at := slices.IndexFunc(p.templates, func(o *template) bool {
		return o.limit == LimitNodes && o.req == t.req && o.taints == t.taints && slices.Equal(o.options[0].free, m.free)
	})
	if at < 0 {
		t.options = []*option{{Shape: shape, cap: p.vec(n.Allocatable), free: m.free, daemons: m.daemons}}
		p.templates = append(p.templates, t)
		at = len(p.templates) - 1
	}
	p.templates[at].size++
}

// ask adds the pods, the largest CPU request first and then the largest memory request.
func (p *problem) ask(asks []Ask) {
	for i := range asks {
		one := &pod{Ask: &asks[i], need: p.vec(asks[i].Requests)}
		one.need[atPods] = 1
		p.pods = append(p.pods, one)
	}
	slices.SortStableFunc(p.pods, func(a, b *pod) int {
		bySize := slices.Compare(b.need[:atPods], a.need[:atPods])
		return cmp.Or(bySize, workload.Compare(a.Workload, b.Workload))
	})
	known := map[string]*rule{}
	owned := make([][]*rule, len(p.pods)) // by position in Ask.Rules
	for i, one := range p.pods {
		one.index = i
		for _, r := range one.Rules {
			owned[i] = append(owned[i], p.rule(known, one, r, false))
			if r.Kind == Apart && !r.Soft {
				one.marks = append(one.marks, p.rule(known, one, r, true))
			}
		}
	}
	by := indexed(p.rules)
	for i, one := range p.pods {
		var avoids []*rule
		for _, r := range by.selecting(one) {
			r.selects[one] = true
			if r.inverse {
				avoids = append(avoids, r)
			} else {
				one.marks = append(one.marks, r)
			}
		}
		p.vary(one, owned[i], avoids)
	}
}

// vary sets the variants of a pod in the order in which Karpenter drops preferences: first
// the alternatives of required node labels, then preferred affinity, anti-affinity and
// node labels, then soft topology spread, then taints with effect PreferNoSchedule.
func (p *problem) vary(one *pod, owned, avoids []*rule) {
	where := one.Where
	if len(where) == 0 {
		where = []Term{nil}
	}
	prefers := slices.SortedStableFunc(slices.Values(one.Prefers), func(a, b Preference) int { return cmp.Compare(b.Weight, a.Weight) })
	var rules []int // indexes of the rules that are left
	for i := range one.Rules {
		rules = append(rules, i)
	}
	tolerations := slices.Clone(one.Tolerations)
	soft := Toleration{Op: "Exists", Effect: "PreferNoSchedule"}
	if p.spreads { // the scheduler of Kubernetes only scores preferences
		prefers, tolerations = nil, append(tolerations, soft)
		rules = slices.DeleteFunc(rules, func(i int) bool { return one.Rules[i].Soft })
	}
	add := func(term Term) {
		v := variant{strict: p.of(nil, term...), req: p.of(nil, term...)}
		if len(prefers) > 0 {
			v.req = p.of(nil, slices.Concat(term, prefers[0].Term)...)
		}
		for _, t := range p.taints {
			v.tolerates = append(v.tolerates, tolerates(tolerations, t))
		}
		for _, i := range rules {
			v.obeys = append(v.obeys, owned[i])
		}
		v.obeys = append(v.obeys, avoids...)
		one.variants = append(one.variants, v)
	}
	for _, term := range where {
		add(term)
	}
	last := where[len(where)-1]
	drop := func(kind string) {
		for {
			at := -1
			for i, r := range rules {
				if of := one.Rules[r]; of.Kind == kind && of.Soft && (at < 0 || of.Weight > one.Rules[rules[at]].Weight) {
					at = i
				}
			}
			if at < 0 {
				return
			}
			rules = slices.Delete(rules, at, at+1)
			add(last)
		}
	}
	drop(Near)
	drop(Apart)
	for len(prefers) > 0 {
		prefers = prefers[1:]
		add(last)
	}
	drop(Spread)
	if p.soft && !p.spreads {
		tolerations = append(tolerations, soft)
		add(last)
	}
}
