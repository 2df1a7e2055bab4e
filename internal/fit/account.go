package fit

import "slices"

// begin takes the vCPUs and addresses of a node that starts. If a quota or the subnets of
// the zone have not enough, it takes nothing, and returns the limit and false.
func (s *state) begin(n *node, t *template, o *option, at Offer) (key, bool) {
	left, counted := s.vcpus[at.Quota]
	if counted && left < o.VCPUs {
		return key{LimitVCPUs, at.Quota, "vcpus"}, false
	}
	s.join(n, t, o, at.Zone)
	if n.subnet >= 0 {
		if s.free[n.subnet] < n.taken {
			return key{LimitAddresses, at.Zone, "addresses"}, false
		}
		s.free[n.subnet] -= n.taken
	}
	if counted {
		s.vcpus[at.Quota] -= o.VCPUs
	}
	return key{}, true
}

// join selects the subnet of a node, the one with the most free addresses, and sets the
// addresses that the node has for its present pods.
func (s *state) join(n *node, t *template, o *option, zone string) {
	n.subnet = -1
	for i, net := range s.room.Subnets {
		if o.Interfaces > 0 && slices.Contains(t.subnets, net.ID) && net.Zone == zone && (n.subnet < 0 || s.free[i] > s.free[n.subnet]) {
			n.subnet = i
		}
	}
	n.shape = o.Shape
	n.addressed = o.daemons
	for _, on := range n.placed {
		if !on.pod.HostNetwork {
			n.addressed += int64(on.n)
		}
	}
	n.taken = s.room.CNI.addresses(o.Shape, n.addressed)
}

// addresses returns the addresses that a node takes for one more pod, or -1 if its subnet
// has not enough.
func (s *state) addresses(n *node, one *pod) int64 {
	if n.subnet < 0 || one.HostNetwork {
		return 0
	}
	more := s.room.CNI.addresses(n.shape, n.addressed+1) - n.taken
	if more > s.free[n.subnet] {
		return -1
	}
	return max(more, 0)
}

// charge takes the addresses of one more pod.
func (s *state) charge(n *node, one *pod) {
	if n.subnet < 0 || one.HostNetwork {
		return
	}
	more := s.addresses(n, one)
	s.free[n.subnet] -= more
	n.taken += more
	n.addressed++
}

// block is the number of addresses in a prefix.
const block = 16

// addresses returns the number of addresses that a node with pods takes from its subnet.
// Each interface takes one address in addition to the addresses of pods.
func (c CNI) addresses(shape *Shape, pods int64) int64 {
	if shape.Interfaces == 0 {
		return 0
	}
	per := shape.PerInterface - 1
	switch {
	case c.Apart:
		return 1
	case c.Prefix:
		blocks := ceil(max(pods+c.WarmAddresses, c.MinAddresses), block)
		if c.WarmAddresses+c.MinAddresses == 0 {
			blocks += c.WarmPrefixes
		}
		blocks = min(max(blocks, 1), per*shape.Interfaces)
		return ceil(blocks, per) + blocks*block
	case c.WarmAddresses+c.MinAddresses > 0:
		wanted := min(max(pods+c.WarmAddresses, c.MinAddresses), per*shape.Interfaces)
		return ceil(wanted, per) + wanted
	}
	return min(max(ceil(pods, per), 1)+c.WarmInterfaces, shape.Interfaces) * shape.PerInterface
}

func ceil(n, by int64) int64 { return (n + by - 1) / by }
