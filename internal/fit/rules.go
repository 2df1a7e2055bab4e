package fit

import (
	"fmt"
	"slices"
)

// A rule is a Rule of one or more asks. Equal rules are one rule, with one tally.
type rule struct {
	Rule
	index   int
	inverse bool          // an Apart that the pods of Peers obey, with a tally of the pods that have it
	filter  []*req        // the nodes that count for a Spread match one; empty counts all nodes
	honored []Toleration  // of a Spread that honors taints
	spaces  []string      // the namespaces of the peers
	selects map[*pod]bool // the pods that Peers selects
	domains []string      // sorted; empty for Hostname, which has a domain for each node
	at      []*req        // the req of each domain
}

// rule returns the rule of an Ask, which it adds to the problem if it is new.
func (p *problem) rule(known map[string]*rule, one *pod, of Rule, inverse bool) *rule {
	r := &rule{Rule: of, index: len(p.rules), inverse: inverse, spaces: of.Namespaces, selects: map[*pod]bool{}}
	if len(r.spaces) == 0 {
		r.spaces = []string{one.Workload.Namespace}
	}
	r.HonorTaints = of.HonorTaints && of.Kind == Spread
	if of.Kind == Spread {
		for _, term := range one.Where {
			r.filter = append(r.filter, p.of(nil, term...))
		}
		if of.AllNodes {
			r.filter = nil
		}
		if of.HonorTaints {
			r.honored = one.Tolerations
		}
	}
	text := fmt.Sprint(of.Kind, of.Key, of.Peers == nil, of.Peers, of.Skew, of.MinDomains, inverse)
	text += fmt.Sprint(r.spaces, r.filter, r.HonorTaints, r.honored)
	if same, ok := known[text]; ok {
		return same
	}
	known[text] = r
	p.rules = append(p.rules, r)
	if r.Key != Hostname {
		r.domains = p.domains(r)
	}
	for _, d := range r.domains {
		r.at = append(r.at, p.intern(map[string]set{r.Key: {values: []string{d}}}))
	}
	return r
}

// domains returns the domains of a rule, which templates and present nodes have.
func (p *problem) domains(r *rule) []string {
	var all []string
	for _, t := range p.templates {
		if t.nodes == 0 || r.HonorTaints && !tolerates(r.honored, p.taints[t.taints]) {
			continue
		}
		have := t.req.get(r.Key)
		if !have.not {
			all = append(all, have.values...)
		}
		for _, o := range t.options {
			values := []string{o.Labels[r.Key]}
			for _, at := range o.Offers {
				if r.Key == Zone {
					values = append(values, at.Zone)
				}
			}
			all = append(all, slices.DeleteFunc(values, func(v string) bool { return v == "" || !have.has(v) })...)
		}
	}
	for _, m := range p.members {
		if value := m.req.get(r.Key).only(); value != "" && p.counts(r, m.req, m.taints) {
			all = append(all, value)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// counts reports whether the pods on a node count for a rule.
func (p *problem) counts(r *rule, node *req, taints int) bool {
	if r.HonorTaints && !tolerates(r.honored, p.taints[taints]) {
		return false
	}
	return len(r.filter) == 0 || slices.ContainsFunc(r.filter, func(f *req) bool { return p.and(node, f, true) != nil })
}

// An index finds the rules that select a pod.
type index struct {
	equal map[string][]*rule // by namespace and one label that Peers requires
	rest  []*rule
}

func indexed(rules []*rule) index {
	by := index{equal: map[string][]*rule{}}
	for _, r := range rules {
		at := slices.IndexFunc(r.Peers, func(m Match) bool { return m.Op == "In" && len(m.Values) == 1 })
		if at < 0 {
			by.rest = append(by.rest, r)
			continue
		}
		for _, namespace := range r.spaces {
			key := namespace + "\n" + r.Peers[at].Key + "\n" + r.Peers[at].Values[0]
			by.equal[key] = append(by.equal[key], r)
		}
	}
	return by
}

func (x index) selecting(one *pod) []*rule {
	all := slices.Clone(x.rest)
	for key, value := range one.Labels {
		all = append(all, x.equal[one.Workload.Namespace+"\n"+key+"\n"+value]...)
	}
	slices.SortFunc(all, func(a, b *rule) int { return a.index - b.index })
	return slices.DeleteFunc(all, func(r *rule) bool {
		return r.Peers == nil || !slices.Contains(r.spaces, one.Workload.Namespace) || !r.Peers.selects(one.Labels)
	})
}

// A tally counts the pods of a rule by domain.
type tally struct {
	at    []int32          // by index of rule.domains
	hosts map[string]int32 // by node; of a rule for Hostname
	total int64
	least int32 // the fewest pods of a node, if known
	known bool
}

// narrow returns the labels of a node after it takes a pod, or nil if a rule forbids it. r
// are the labels of the node and the conditions of the pod.
func (s *state) narrow(one *pod, v *variant, n *node, r *req) *req {
	base := r
	for _, rule := range v.obeys {
		t := &s.tallies[rule.index]
		self := int32(0)
		if rule.selects[one] {
			self = 1
		}
		if rule.Key == Hostname {
			have := t.hosts[n.host]
			ok := map[string]bool{Spread: have+self-s.fewest(rule, t) <= rule.Skew, Apart: have == 0, Near: have > 0 || self == 1 && t.total == 0}
			if !ok[rule.Kind] {
				return nil
			}
			continue
		}
		to := s.next(rule, t, self, v.strict.get(rule.Key), base.get(rule.Key))
		if to == nil {
			return nil
		}
		r = s.and(r, to, n.options == nil)
		if r == nil {
			return nil
		}
	}
	return r
}

// fewest returns the number of pods on the node with the fewest of a Spread by Hostname. It
// is 0 if new nodes can start, as Karpenter assumes.
func (s *state) fewest(r *rule, t *tally) int32 {
	if !s.spreads {
		return 0
	}
	if !t.known {
		t.least, t.known = int32(unlimited>>32), true
		eligible := int32(0)
		for _, n := range s.nodes {
			if s.counts(r, n.req, n.taints) {
				t.least = min(t.least, t.hosts[n.host])
				eligible++
			}
		}
		if eligible < r.MinDomains {
			t.least = 0
		}
	}
	return t.least
}

// next returns the domains of a rule that a pod can use on a node, or nil for no domain. For a Spread, this is the domain with the fewest pods.
func (s *state) next(r *rule, t *tally, self int32, pod, node set) *req {
	switch r.Kind {
	case Spread:
		least, eligible := int32(unlimited>>32), int32(0)
		for i, d := range r.domains {
			if pod.has(d) {
				least, eligible = min(least, t.at[i]), eligible+1
			}
		}
		if eligible < r.MinDomains {
			least = 0
		}
		best, ties := -1, 0
		for i, d := range r.domains {
			if !node.has(d) || t.at[i]+self-least > r.Skew || best >= 0 && t.at[i] > t.at[best] {
				continue
			}
			if best < 0 || t.at[i] < t.at[best] {
				best, ties = i, 1
				continue
			}
			ties++
			if s.draw(ties) == 1 {
				best = i
			}
		}
		if best < 0 {
			return nil
		}
		return r.at[best]
	case Near:
		return s.near(r, t, self, pod, node)
	}
	return s.which(r, func(i int) bool { return t.at[i] == 0 && pod.has(r.domains[i]) && node.has(r.domains[i]) })
}

// near returns the domains with a peer. The first pod that selects itself can use any
// domain.
func (s *state) near(r *rule, t *tally, self int32, pod, node set) *req {
	both := func(i int) bool { return pod.has(r.domains[i]) && node.has(r.domains[i]) }
	if to := s.which(r, func(i int) bool { return t.at[i] > 0 && both(i) }); to != nil {
		return to
	}
	elsewhere := s.which(r, func(i int) bool { return t.at[i] > 0 && pod.has(r.domains[i]) }) != nil
	if self == 0 || t.total > 0 && elsewhere {
		return nil
	}
	for i := range r.domains {
		if both(i) {
			return r.at[i]
		}
	}
	return nil
}

// which returns the req of the domains for which yes is true, or nil for no domain.
func (s *state) which(r *rule, yes func(i int) bool) *req {
	var values []string
	for i, d := range r.domains {
		if yes(i) {
			values = append(values, d)
		}
	}
	if len(values) == 0 {
		return nil
	}
	return s.intern(map[string]set{r.Key: {values: values}})
}

// record counts pods on a node. A Spread and a Near count a pod only if the node has one
// domain, and an Apart counts it in every domain that the node can have.
func (s *state) record(one *pod, n *node, times int32) {
	for _, r := range one.marks {
		t := &s.tallies[r.index]
		if r.Kind == Spread && !s.counts(r, n.req, n.taints) {
			continue
		}
		if r.Key == Hostname {
			t.hosts[n.host] += times
			t.known = false
			t.total += int64(times)
			continue
		}
		have := n.req.get(r.Key)
		for i, d := range r.domains {
			if have.only() == d || r.Kind == Apart && have.has(d) {
				t.at[i] += times
				t.total += int64(times)
			}
		}
	}
}
