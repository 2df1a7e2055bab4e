package fit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A state is a run of the solver: it places pods on nodes that exist, and on new nodes of
// the templates, in rounds as Karpenter does.
type state struct {
	*problem
	visits  []visit
	seed    uint64   // of the choices that Karpenter leaves open; 0 takes the first of equal choices
	binds   bool     // the scheduler of Kubernetes chooses the pods of Karpenter's new nodes
	nodes   []*node  // that exist, in the order in which pods try them
	claims  []*node  // that this round adds, the fewest pods first
	left    []int32  // pods to place, by pod.index
	tallies []tally  // by rule.index
	sources []source // by position in templates
	closed  map[closing]bool
	refused map[*template]key // the limit that refused a claim
	vcpus   map[string]int64  // vCPUs that are left, by name of the quota
	free    []int64           // addresses that are left, by position in subnets
	serial  int               // of the visit of a pod
	first   int               // the nodes before it have no room for the pod
	made    int               // claims
}

// A visit is an attempt to place n pods.
type visit struct {
	*pod
	n int32
}

// A node exists or is a claim: a node that Karpenter is about to add. The labels and the
// instance type of a claim are open until its pods allow only one.
type node struct {
	host   string
	req    *req
	taints int
	free   vec // of a node that exists
	total  vec // free without pods

	source  *source
	options []*option // of a claim; nil for a node that exists
	used    vec       // of a claim
	most    vec       // the largest free of the options
	least   vec       // the smallest free of the options

	pods   int32
	placed []placed
	seen   int // the serial of the last visit of a pod for which it has no room

	shape     *Shape
	subnet    int   // position in subnets; -1 if the node takes no addresses
	addressed int64 // pods with an address
	taken     int64 // addresses
}

type placed struct {
	pod *pod
	n   int32
}

// A source is a template with the rest of its limits.
type source struct {
	*template
	cap   vec   // the limits
	count int64 // the limit of nodes
	used  vec   // of nodes that started
	made  int64 // nodes that started
	left  vec
	nodes int64     // that the limit leaves
	open  []*option // that the limits allow
	allow map[*req][]bool
	turn  int // of a Group: the position of its next zone
}

// A closing is an offer that could not start.
type closing struct {
	option *option
	offer  Offer
}

// A lift replaces limits, by their keys.
type lift map[key]int64

// A key identifies a limit.
type key struct{ name, object, resource string }

// start returns the state before the first round.
func (p *problem) start(lifted lift, seed uint64) *state {
	s := &state{problem: p, seed: seed, closed: map[closing]bool{}, refused: map[*template]key{}, vcpus: map[string]int64{}}
	get := func(name, object, resource string, value int64) int64 {
		if v, ok := lifted[key{name, object, resource}]; ok {
			return v
		}
		return value
	}
	for _, one := range p.pods {
		s.left = append(s.left, one.Pods)
	}
	for _, v := range p.room.VCPUs {
		s.vcpus[v.Name] = get(LimitVCPUs, v.Name, "vcpus", v.Limit) - v.Used
	}
	for _, net := range p.room.Subnets {
		s.free = append(s.free, get(LimitAddresses, net.Zone, "addresses", net.Free))
	}
	s.sources = make([]source, len(p.templates))
	for i, t := range p.templates {
		from := &s.sources[i]
		*from = source{template: t, cap: slices.Clone(t.limits), used: make(vec, len(p.names)), allow: map[*req][]bool{}}
		from.count = get(t.limit, t.name, Nodes, t.nodes)
		for at, name := range p.names {
			from.cap[at] = get(t.limit, t.name, name, t.limits[at])
		}
		from.left, from.nodes = slices.Clone(from.cap), from.count
		from.refresh()
	}
	s.clear()
	for _, m := range p.members {
		n := &node{host: m.name, req: m.req, taints: m.taints, free: slices.Clone(m.free), total: m.free, subnet: -1}
		if m.template != nil {
			s.join(n, m.template, m.template.options[0], m.zone)
		}
		s.nodes = append(s.nodes, n)
	}
	return s
}

// clear starts the tallies at 0.
func (s *state) clear() {
	s.tallies = make([]tally, len(s.rules))
	for i, r := range s.rules {
		s.tallies[i] = tally{at: make([]int32, len(r.domains)), hosts: map[string]int32{}}
	}
}

// refresh sets the options that the limits of a source still allow.
func (s *source) refresh() {
	s.open = s.open[:0]
	for _, o := range s.options {
		if s.fits(o) < 0 {
			s.open = append(s.open, o)
		}
	}
}

// fits returns the index of the first resource that an option has more of than the limit
// leaves, or -1.
func (s *source) fits(o *option) int {
	for i, left := range s.left {
		if o.cap[i] > left {
			return i
		}
	}
	return -1
}

// run places all pods that it can.
func (s *state) run() {
	for {
		s.round()
		if !s.launch() || s.pending() == 0 {
			return
		}
	}
}

// pending returns the number of pods that have no node.
func (s *state) pending() (pods int64) {
	for _, n := range s.left {
		pods += int64(n)
	}
	return pods
}

// round places pods until a pass over all of them places none.
func (s *state) round() {
	for again := true; again; {
		again = false
		for _, v := range s.visits {
			s.serial++
			s.first = 0
			for n := v.n; n > 0 && s.left[v.index] > 0 && s.place(v.pod); n-- {
				s.left[v.index]--
				again = true
			}
		}
	}
}

// place places one pod: on a node that exists, on a claim, or on a new claim.
func (s *state) place(one *pod) bool {
	for i := range one.variants {
		v := &one.variants[i]
		for s.first < len(s.nodes) && s.nodes[s.first].seen == s.serial {
			s.first++
		}
		if n, r := s.existing(one, v); n != nil {
			s.put(n, r, nil, one)
			return true
		}
		for at, n := range s.claims {
			if r, options := s.accepts(n, one, v); r != nil {
				s.put(n, r, options, one)
				s.move(at)
				return true
			}
		}
		if s.create(one, v) {
			return true
		}
	}
	return false
}

// existing returns a node that exists and accepts a pod: the first one, or, with the
// scheduler of Kubernetes, the one with the highest score.
func (s *state) existing(one *pod, v *variant) (best *node, labels *req) {
	most := -1.0
	for _, n := range s.nodes[s.first:] {
		r, _ := s.accepts(n, one, v)
		if r == nil {
			continue
		}
		if !s.spreads {
			return n, r
		}
		if score := n.score(one) + float64(s.draw(100))/1000; score > most {
			best, labels = n, r
			most = score
		}
	}
	return best, labels
}

// score returns the score of a node after it takes a pod, from 0 to 200. Like the scheduler
// of Kubernetes, it prefers nodes with free CPU and memory in equal parts.
func (n *node) score(one *pod) float64 {
	var part [2]float64
	for i := range part {
		part[i] = float64(n.free[i]-one.need[i]) / float64(max(n.total[i], 1))
	}
	return 50*(part[0]+part[1]) + 100 - 50*math.Abs(part[0]-part[1])
}

// draw returns a number below n: 0 for seed 0, and otherwise the next of a sequence.
func (s *state) draw(n int) int {
	if s.seed == 0 || n < 2 {
		return 0
	}
	s.seed += 0x9e3779b97f4a7c15 // splitmix64
	z := (s.seed ^ s.seed>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// interleaved is the maximum number of equal pods that arrange mixes one by one.
const interleaved = 4096

// arrange sets the visits: the pods in order. A seed mixes the workloads that equal reports
// to have no order, and their pods if one is true.
func (s *state) arrange(order []*pod, equal func(a, b *pod) bool, one bool) {
	for len(order) > 0 {
		n, pods := 1, int64(order[0].Pods)
		for n < len(order) && equal(order[0], order[n]) {
			pods += int64(order[n].Pods)
			n++
		}
		from := len(s.visits)
		for _, p := range order[:n] {
			if !one || pods > interleaved || n == 1 {
				s.visits = append(s.visits, visit{p, p.Pods})
				continue
			}
			for range p.Pods {
				s.visits = append(s.visits, visit{p, 1})
			}
		}
		mixed := s.visits[from:]
		for i := range mixed {
			j := i + s.draw(len(mixed)-i)
			mixed[i], mixed[j] = mixed[j], mixed[i]
		}
		order = order[n:]
	}
}

// accepts returns the labels and the options of a node after it takes a pod, or nil.
func (s *state) accepts(n *node, one *pod, v *variant) (*req, []*option) {
	if n.seen == s.serial || !v.tolerates[n.taints] {
		return nil, nil
	}
	exists := n.options == nil
	if exists && (!one.need.within(s.zero, n.free) || s.addresses(n, one) < 0) || !exists && !n.used.within(one.need, n.most) {
		n.seen = s.serial
		return nil, nil
	}
	r := s.and(n.req, v.req, exists)
	if r != nil {
		r = s.narrow(one, v, n, r)
	}
	if exists || r == nil {
		return r, nil
	}
	options := s.filter(n, r, one.need)
	if len(options) == 0 {
		return nil, nil
	}
	return r, options
}

// filter returns the options of a claim with the labels that have room for one more pod.
func (s *state) filter(n *node, r *req, need vec) []*option {
	if n.pods > 0 && r == n.req && n.used.within(need, n.least) {
		return n.options
	}
	allowed := n.source.allowed(r, s.closed)
	var options []*option
	for _, o := range n.options {
		if allowed[o.index] && n.used.within(need, o.free) {
			options = append(options, o)
		}
	}
	for _, m := range n.source.mins {
		if distinct(options, m.Key) < m.Min {
			return nil
		}
	}
	return options
}

// distinct returns the number of values that options have for a label.
func distinct(options []*option, label string) int {
	values := map[string]bool{}
	for _, o := range options {
		values[o.Labels[label]] = true
		for _, at := range o.Offers {
			values[map[string]string{Zone: at.Zone, CapacityType: at.CapacityType}[label]] = true
		}
	}
	delete(values, "")
	return len(values)
}

// allowed reports for each option of a template whether it can have the labels.
func (s *source) allowed(r *req, closed map[closing]bool) []bool {
	if _, ok := s.allow[r]; !ok {
		s.allow[r] = make([]bool, len(s.options))
		for i, o := range s.options {
			s.allow[r][i] = s.allows(o, r, closed)
		}
	}
	return s.allow[r]
}

// put adds a pod to a node.
func (s *state) put(n *node, r *req, options []*option, one *pod) {
	n.pods++
	if last := len(n.placed) - 1; last >= 0 && n.placed[last].pod == one {
		n.placed[last].n++
	} else {
		n.placed = append(n.placed, placed{one, 1})
	}
	if options == nil {
		n.free.add(one.need, -1)
		s.charge(n, one)
	} else {
		n.used.add(one.need, 1)
		n.req = r
		n.bound(options)
	}
	s.record(one, n, 1)
}

// bound sets the options of a claim, and the limits of their room.
func (n *node) bound(options []*option) {
	if len(options) == len(n.options) && n.most != nil {
		return
	}
	n.options = options
	n.most, n.least = slices.Clone(options[0].free), slices.Clone(options[0].free)
	for _, o := range options {
		for i, free := range o.free {
			n.most[i], n.least[i] = max(n.most[i], free), min(n.least[i], free)
		}
	}
}

// move moves a claim that got a pod behind the claims with fewer pods.
func (s *state) move(at int) {
	n := s.claims[at]
	to := at
	for to+1 < len(s.claims) && s.claims[to+1].pods < n.pods {
		to++
	}
	equal := 0
	for to+1+equal < len(s.claims) && s.claims[to+1+equal].pods == n.pods {
		equal++
	}
	to += s.draw(equal + 1)
	copy(s.claims[at:to], s.claims[at+1:to+1])
	s.claims[to] = n
}

// create places a pod on a new claim of the first source that accepts it.
func (s *state) create(one *pod, v *variant) bool {
	for i := range s.sources {
		from := &s.sources[i]
		if from.nodes <= 0 || len(from.open) == 0 {
			continue
		}
		n := s.claim(from, from.open)
		r, options := s.accepts(n, one, v)
		if r == nil {
			continue
		}
		s.made++
		s.put(n, r, options, one)
		at := len(s.claims)
		for at > 0 && s.claims[at-1].pods > 1 {
			at--
		}
		at -= s.draw(at + 1)
		s.claims = slices.Insert(s.claims, at, n)
		from.take(n.options)
		return true
	}
	return false
}

// claim returns a new claim of a source. The next member of a Group is in a given zone.
func (s *state) claim(from *source, options []*option) *node {
	n := &node{host: fmt.Sprint("new-", s.made), source: from, req: from.req, taints: from.taints, used: make(vec, len(s.names)), subnet: -1}
	if len(from.zones) > 0 {
		n.req = s.and(n.req, s.of(map[string]string{Zone: from.zones[from.turn%len(from.zones)]}), false)
	}
	n.bound(options)
	return n
}

// take subtracts the largest of the options from the limits of a source, as Karpenter does
// until it knows the instance type.
func (s *source) take(options []*option) {
	s.nodes--
	s.turn++
	for i := range s.left {
		most := int64(0)
		for _, o := range options {
			most = max(most, o.cap[i])
		}
		s.left[i] -= most
	}
	s.refresh()
}

// launch starts the claims with their cheapest instance type, and counts the pods of every
// node again. It returns false if no claim started and every offer was tried.
func (s *state) launch() bool {
	closed, started := len(s.closed), 0
	for _, n := range s.claims {
		if s.launches(n) {
			started++
			s.nodes = append(s.nodes, n)
			if s.binds {
				s.release(n)
			}
			continue
		}
		for _, on := range n.placed {
			s.left[on.pod.index] += on.n
		}
	}
	again := started > 0 || len(s.closed) > closed
	s.claims = nil
	for i := range s.sources {
		from := &s.sources[i]
		copy(from.left, from.cap)
		from.left.add(from.used, -1)
		from.nodes = from.count - from.made
		from.turn = int(from.made)
		from.refresh()
		if len(s.closed) > closed {
			from.allow = map[*req][]bool{}
		}
	}
	s.clear()
	for _, n := range s.nodes {
		for _, on := range n.placed {
			s.record(on.pod, n, on.n)
		}
	}
	if s.binds && started > 0 {
		s.bind()
	}
	return again
}

// release takes the pods off a node that started.
func (s *state) release(n *node) {
	for _, on := range n.placed {
		s.left[on.pod.index] += on.n
		if !on.pod.HostNetwork {
			n.addressed -= int64(on.n)
		}
	}
	n.placed, n.pods = nil, 0
	copy(n.free, n.total)
	if n.subnet >= 0 {
		s.free[n.subnet] += n.taken
		n.taken = s.room.CNI.addresses(n.shape, n.addressed)
		s.free[n.subnet] -= n.taken
	}
}

// bind places the pods on the nodes that exist as the scheduler of Kubernetes does: in any
// order, and not on the nodes that Karpenter chose for them.
func (s *state) bind() {
	order, visits := slices.Clone(s.pods), s.visits
	slices.SortStableFunc(order, byPriority)
	s.visits = nil
	s.arrange(order, func(a, b *pod) bool { return a.Priority == b.Priority }, true)
	for _, v := range s.visits {
		s.serial++
		for i := range v.variants {
			s.scatter(v, &v.variants[i])
		}
	}
	s.visits = visits
}

// feasible is the number of nodes that the scheduler of Kubernetes compares at least.
// Source: minFeasibleNodesToFind in pkg/scheduler/schedule_one.go of Kubernetes.
const feasible = 100

// scatter places pods on the nodes with the highest scores, one pod on each in turn.
func (s *state) scatter(v visit, as *variant) {
	type scored struct {
		*node
		score float64
	}
	var found []scored
	start := s.draw(len(s.nodes))
	for n := v.n; n > 0 && s.left[v.index] > 0; {
		found = found[:0]
		for i := 0; i < len(s.nodes) && len(found) < feasible; i++ {
			at := s.nodes[(start+i)%len(s.nodes)]
			if r, _ := s.accepts(at, v.pod, as); r != nil {
				found = append(found, scored{at, at.score(v.pod) + float64(s.draw(100))/1000})
			}
		}
		if len(found) == 0 {
			return
		}
		slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
		for _, at := range found[:min(len(found), int(n), int(s.left[v.index]))] {
			if r, _ := s.accepts(at.node, v.pod, as); r != nil {
				s.put(at.node, r, nil, v.pod)
				s.left[v.index]--
				n--
			}
		}
	}
}

// A start is an offer of an option.
type start struct {
	*option
	Offer
}

// starts returns the offers that can start a claim, the cheapest first. Offers with
// equal prices keep the order of the shapes, which a seed mixes within a shape.
func (s *state) starts(n *node) (all []start) {
	zone, kind := n.req.get(Zone), n.req.get(CapacityType)
	allowed := n.source.allowed(n.req, s.closed)
	for _, o := range n.options {
		from := s.draw(len(o.Offers))
		for i := range o.Offers {
			at := o.Offers[(from+i)%len(o.Offers)]
			if allowed[o.index] && zone.has(at.Zone) && kind.has(at.CapacityType) && !s.closed[closing{o, at}] {
				all = append(all, start{o, at})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b start) int { return cmp.Compare(a.Price, b.Price) })
	return all
}

// launches starts a claim. It closes the offers that a quota or a subnet refuses.
func (s *state) launches(n *node) bool {
	for _, with := range s.starts(n) {
		o, at := with.option, with.Offer
		if limit, ok := s.begin(n, n.source.template, o, at); !ok {
			s.closed[closing{o, at}] = true
			s.refused[n.source.template] = limit
			continue
		}
		n.free, n.total = slices.Clone(o.free), o.free
		n.free.add(n.used, -1)
		n.source.used.add(o.cap, 1)
		n.source.made++
		n.req, n.options = s.labeled(n, o, at), nil
		return true
	}
	return false
}

// labeled returns the labels of a node that started.
func (s *state) labeled(n *node, o *option, at Offer) *req {
	labels := map[string]string{}
	for label, values := range n.req.sets {
		if !values.not && len(values.values) > 0 {
			labels[label] = values.values[0]
		}
	}
	maps.Copy(labels, o.Labels)
	labels[Zone], labels[CapacityType] = at.Zone, at.CapacityType
	maps.DeleteFunc(labels, func(label, value string) bool { return !s.keys[label] || value == "" })
	return s.of(labels)
}
