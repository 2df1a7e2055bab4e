package fit_test

import (
	"fmt"
	"testing"

	"github.com/gitlatch/gitlatch/internal/fit"
)

// Each case has room for a part of the pods, because of one property of the pods or the
// room. Without the property, all pods fit.
func TestAPropertyLimitsThePlaces(t *testing.T) {
	t.Parallel()
	web := func(edits ...func(*fit.Ask)) []fit.Ask { return []fit.Ask{ask("web", 6, 900, 2, edits...)} }
	rule := func(r fit.Rule) func(*fit.Ask) {
		return func(a *fit.Ask) {
			if r.Peers == nil {
				r.Peers = fit.Term{in("app", a.Labels["app"])}
			}
			a.Rules = append(a.Rules, r)
		}
	}
	pools := func(all ...fit.Pool) fit.Room { return fit.Room{Pools: all} }
	fixed := func(n int, edits ...func(*fit.Node)) fit.Room {
		r := fit.Room{Nodes: nodes(n, "")}
		for i := range r.Nodes {
			for _, edit := range edits {
				edit(&r.Nodes[i])
			}
		}
		return r
	}
	tainted := func(effect string) func(*fit.Node) {
		return func(n *fit.Node) {
			if n.Name == "ip-00" {
				n.Taints = []fit.Taint{{Key: "team", Value: "red", Effect: effect}}
			}
		}
	}
	daemon := fit.Room{Nodes: nodes(2, ""), Daemons: []fit.Daemon{
		{Requests: fit.Resources{fit.CPU: 1000}, Where: []fit.Term{{in(fit.Zone, "a")}}},
		{Requests: fit.Resources{fit.CPU: 3900}, Where: []fit.Term{{in(fit.Zone, "c")}}},
	}}
	limited := func(cpu int64, edits ...func(*fit.Pool)) fit.Room {
		return pools(pool(append(edits, func(p *fit.Pool) { p.Limits = fit.Resources{fit.CPU: cpu} })...))
	}
	for name, c := range map[string]struct {
		asks   []fit.Ask
		room   fit.Room
		placed int64
	}{
		"no property":                       {web(), fixed(2), 6},
		"a node selector":                   {web(where(in(fit.Zone, "b"))), fixed(2), 4},
		"a selector by a bound":             {web(where(fit.Match{Key: "cpu", Op: "Gt", Values: []string{"3"}})), fixed(2, func(n *fit.Node) { n.Labels["cpu"] = map[string]string{"a": "3", "b": "4"}[n.Labels[fit.Zone]] }), 4},
		"one of two terms":                  {web(func(a *fit.Ask) { a.Where = []fit.Term{{in(fit.Zone, "a")}, {in(fit.Zone, "b")}} }), fixed(2), 6},
		"a label that no node has":          {web(where(fit.Match{Key: "team", Op: "Exists"})), fixed(2), 0},
		"a label that a node must not have": {web(where(fit.Match{Key: fit.Zone, Op: "DoesNotExist"})), fixed(2), 0},
		"a taint":                           {web(), fixed(2, tainted("NoSchedule")), 4},
		"a soft taint":                      {web(), fixed(2, tainted("PreferNoSchedule")), 6},
		"a tolerated taint":                 {web(func(a *fit.Ask) { a.Tolerations = []fit.Toleration{{Key: "team", Op: "Equal", Value: "red"}} }), fixed(2, tainted("NoSchedule")), 6},
		"the toleration of another value":   {web(func(a *fit.Ask) { a.Tolerations = []fit.Toleration{{Key: "team", Value: "blue"}} }), fixed(2, tainted("NoSchedule")), 4},
		"ephemeral storage":                 {web(func(a *fit.Ask) { a.Requests[fit.Storage] = 5 }), fixed(2, func(n *fit.Node) { n.Allocatable[fit.Storage] = 9 }), 2},
		"an extended resource":              {web(func(a *fit.Ask) { a.Requests["example.com/gpu"] = 1 }), fixed(2), 0},
		"a DaemonSet of some nodes":         {web(), daemon, 6},
		"a DaemonSet that fills its nodes":  {[]fit.Ask{ask("web", 8, 900, 2)}, daemon, 7},
		"spread by zone":                    {web(rule(fit.Rule{Kind: fit.Spread, Key: fit.Zone, Skew: 1}), where(in("disk", "ssd"))), fixed(3, func(n *fit.Node) { n.Labels["disk"] = map[bool]string{true: "ssd", false: "hdd"}[n.Name != "ip-02"] }), 6},
		"spread by zone on a full zone": {web(rule(fit.Rule{Kind: fit.Spread, Key: fit.Zone, Skew: 1})), fixed(3, func(n *fit.Node) {
			n.Allocatable[fit.CPU] = map[string]int64{"a": 3900, "b": 3900, "c": 900}[n.Labels[fit.Zone]]
		}), 5},
		"spread over more zones": {web(rule(fit.Rule{Kind: fit.Spread, Key: fit.Zone, Skew: 1, MinDomains: 3})), fixed(2), 2},
		"a spread that does not count a node": {[]fit.Ask{
			ask("web", 2, 900, 2, rule(fit.Rule{Kind: fit.Spread, Key: fit.Zone, Skew: 1, Peers: fit.Term{}}), where(in("disk", "ssd"))),
			ask("api", 2, 1000, 2, where(in("disk", "hdd"))),
		}, fixed(4, func(n *fit.Node) {
			n.Labels["disk"] = map[bool]string{true: "hdd", false: "ssd"}[n.Name == "ip-03"]
			n.Allocatable[fit.CPU] = map[string]int64{"ip-00": 3900, "ip-01": 900, "ip-03": 3900}[n.Name]
		}), 4},
		"a DaemonSet without requests":     {web(), fit.Room{Nodes: fixed(1, func(n *fit.Node) { n.Allocatable[fit.Pods] = 3 }).Nodes, Daemons: []fit.Daemon{{}}}, 2},
		"a DaemonSet without a toleration": {[]fit.Ask{ask("web", 4, 900, 2, func(a *fit.Ask) { a.Tolerations = []fit.Toleration{{Op: "Exists"}} })}, fit.Room{Nodes: fixed(1, tainted("NoSchedule")).Nodes, Daemons: []fit.Daemon{{Requests: fit.Resources{fit.CPU: 1000}}}}, 4},
		"the soft taint of a pool":         {web(), pools(pool(func(p *fit.Pool) { p.Taints = []fit.Taint{{Key: "team", Effect: "PreferNoSchedule"}} })), 6},
		"addresses of a present node": {[]fit.Ask{ask("web", 12, 1, 0)}, fit.Room{Nodes: nodes(1, "ng"), Subnets: []fit.Subnet{{ID: "subnet-a", Zone: "a", Free: 9}},
			Groups: []fit.Group{{Name: "ng", Size: 1, Shapes: pool().Shapes[:1], Subnets: []string{"subnet-a"}}}}, 9},
		"spread by host":                    {web(rule(fit.Rule{Kind: fit.Spread, Key: fit.Hostname, Skew: 1})), fixed(2), 6},
		"spread by host, with a small node": {web(rule(fit.Rule{Kind: fit.Spread, Key: fit.Hostname, Skew: 1})), fixed(2, func(n *fit.Node) { n.Allocatable[fit.CPU] = map[string]int64{"ip-00": 900, "ip-01": 7000}[n.Name] }), 3},
		"a soft spread":                     {web(rule(fit.Rule{Kind: fit.Spread, Key: fit.Zone, Skew: 1, Soft: true, MinDomains: 3})), fixed(2), 6},
		"apart by zone":                     {web(rule(fit.Rule{Kind: fit.Apart, Key: fit.Zone})), pools(pool()), 3},
		"apart from another workload":       {[]fit.Ask{ask("web", 1, 900, 2, rule(fit.Rule{Kind: fit.Apart, Key: fit.Hostname, Peers: fit.Term{in("app", "api")}})), ask("api", 3, 900, 2)}, fixed(1), 1},
		"apart in another namespace":        {web(rule(fit.Rule{Kind: fit.Apart, Key: fit.Hostname, Namespaces: []string{"pay"}})), fixed(2), 6},
		"near a workload":                   {[]fit.Ask{ask("web", 4, 900, 2, rule(fit.Rule{Kind: fit.Near, Key: fit.Zone, Peers: fit.Term{in("app", "api")}})), ask("api", 1, 100, 2, where(in(fit.Zone, "a")))}, fixed(2), 5},
		"near a workload without pods":      {web(rule(fit.Rule{Kind: fit.Near, Key: fit.Zone, Peers: fit.Term{in("app", "api")}})), fixed(2), 0},
		"near itself":                       {web(rule(fit.Rule{Kind: fit.Near, Key: fit.Hostname})), fixed(2), 4},
		"a limit of CPUs":                   {web(), limited(4000), 4},
		"a limit of nodes":                  {[]fit.Ask{ask("web", 20, 900, 2)}, pools(pool(func(p *fit.Pool) { p.Limits = fit.Resources{fit.Nodes: 2} })), 16},
		"a limit that counts two rounds":    {web(), limited(12000), 6},
		"the taint of a pool":               {web(), limited(4000, func(p *fit.Pool) { p.Taints = []fit.Taint{{Key: "team", Effect: "NoSchedule"}} }), 0},
		"a second pool":                     {web(), pools(pool(func(p *fit.Pool) { p.Weight, p.Limits = 5, fit.Resources{fit.CPU: 4000} }), pool(func(p *fit.Pool) { p.Name = "second" })), 6},
		"a label that a pool can set":       {web(where(in("karpenter.k8s.aws/instance-family", "m5"))), pools(pool()), 0},
		"too few instance types":            {web(), pools(pool(func(p *fit.Pool) { p.Require = fit.Term{{Key: fit.InstanceType, Op: "Exists", Min: 3}} })), 0},
		"a preference that Karpenter drops": {web(func(a *fit.Ask) { a.Prefers = []fit.Preference{{Weight: 1, Term: fit.Term{in(fit.Arch, "arm64")}}} }), pools(pool()), 6},
		"a soft anti-affinity":              {web(rule(fit.Rule{Kind: fit.Apart, Key: fit.Hostname, Soft: true})), limited(8000), 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := fit.Judge(c.asks, c.room)
			if a.Placed != c.placed || (a.Verdict == fit.Fits) != (a.Placed == a.Pods) {
				t.Errorf("want %d pods placed: %+v %+v", c.placed, a, a.Limit)
			}
		})
	}
}

// Karpenter tries the pool with the higher weight first, and then the later name.
func TestKarpenterTriesPoolsInOrder(t *testing.T) {
	t.Parallel()
	small := pool(func(p *fit.Pool) { p.Name, p.Shapes = "small", p.Shapes[:1] })
	large := pool(func(p *fit.Pool) { p.Name, p.Shapes = "large", p.Shapes[1:] })
	for nodes, weight := range map[int64]int32{1: 5, 2: 0} {
		large.Weight = weight
		if a := fit.Judge([]fit.Ask{ask("web", 8, 900, 2)}, fit.Room{Pools: []fit.Pool{small, large}}); a.Nodes != nodes {
			t.Errorf("weight %d of the pool with the large nodes: want %d nodes: %+v", weight, nodes, a)
		}
	}
}

// After each remedy, all pods fit.
func TestARemedyIsEnough(t *testing.T) {
	t.Parallel()
	var asks []fit.Ask
	for i := range 40 {
		name := fmt.Sprintf("app-%d", i)
		asks = append(asks, ask(name, int32(2+i%17), int64(50+i*37%1950), int64(1+i%5), func(a *fit.Ask) {
			a.Rules = []fit.Rule{
				{Kind: fit.Spread, Key: fit.Zone, Skew: 1, Soft: i%3 > 0, Peers: fit.Term{in("app", name)}},
				{Kind: fit.Apart, Key: fit.Hostname, Soft: i%2 > 0, Peers: fit.Term{in("app", name)}},
			}[:i%3]
		}))
	}
	found := map[string]bool{}
	for limit := int64(2); limit < 400; limit += 23 {
		for _, resource := range []string{fit.CPU, fit.Memory} {
			unit := map[string]int64{fit.CPU: 1000, fit.Memory: 4 * gi}[resource]
			room := fit.Room{Pools: []fit.Pool{pool(func(p *fit.Pool) { p.Limits = fit.Resources{resource: limit * unit} })}}
			a := fit.Judge(asks, room)
			found[string(a.Verdict)] = true
			if a.Verdict == fit.Fits {
				continue
			}
			if a.Limit.Need <= a.Limit.Have {
				t.Errorf("%s limit %d: %+v", resource, limit, a.Limit)
			}
			room.Pools[0].Limits[resource] = a.Limit.Need
			if after := fit.Judge(asks, room); after.Verdict != fit.Fits {
				t.Errorf("%s limit %d -> %d: %+v", resource, limit, a.Limit.Need, after)
			}
		}
	}
	if len(found) != 2 {
		t.Errorf("verdicts: %v", found)
	}
}

// The answer names a limit that has room for less than one more node.
func TestALimitIsNear(t *testing.T) {
	t.Parallel()
	web := []fit.Ask{ask("web", 8, 900, 2)}
	limited := func(cpu int64) []fit.Pool {
		return []fit.Pool{pool(func(p *fit.Pool) { p.Limits = fit.Resources{fit.CPU: cpu} })}
	}
	inSubnet := func(free int64) fit.Room {
		inA := func(p *fit.Pool) { p.Require = fit.Term{in(fit.Zone, "a")} }
		return fit.Room{Pools: []fit.Pool{pool(subnet, inA)}, Subnets: []fit.Subnet{{ID: "subnet-a", Zone: "a", Free: free}}}
	}
	small := pool(func(p *fit.Pool) { p.Shapes = p.Shapes[:1] })
	for name, c := range map[string]struct {
		room fit.Room
		near string
	}{
		"a limit of 15 CPUs":                {fit.Room{Pools: limited(15000)}, "NodePool default"},
		"a limit of 16 CPUs":                {fit.Room{Pools: limited(16000)}, ""},
		"no limit":                          {fit.Room{Pools: []fit.Pool{pool()}}, ""},
		"a group at its maximum":            {fit.Room{Nodes: nodes(2, "ng"), Groups: []fit.Group{{Name: "ng", Size: 2, Max: 2, Autoscaled: true, Labels: map[string]string{fit.GroupLabel: "ng"}, Shapes: small.Shapes}}}, "node group ng"},
		"a group below its maximum":         {fit.Room{Nodes: nodes(2, "ng"), Groups: []fit.Group{{Name: "ng", Size: 2, Max: 3, Autoscaled: true, Labels: map[string]string{fit.GroupLabel: "ng"}, Shapes: small.Shapes}}}, ""},
		"a subnet with 13 addresses":        {inSubnet(13), "the subnets of zone a"},
		"a subnet with 100 addresses":       {inSubnet(100), ""},
		"nodes that no autoscaler adds":     {fit.Room{Nodes: nodes(3, "")}, ""},
		"a quota that refuses an instance":  {fit.Room{Pools: []fit.Pool{pool()}, VCPUs: []fit.VCPUs{{Name: "standard", Limit: 10}}}, `the quota "standard"`},
		"a quota that refuses no instances": {fit.Room{Pools: []fit.Pool{pool()}, VCPUs: []fit.VCPUs{{Name: "standard", Limit: 100}}}, ""},
	} {
		if a := fit.Judge(web, c.room); a.Near != c.near {
			t.Errorf("%s: want %q: %+v", name, c.near, a)
		}
	}
}

// The workloads with the highest priority keep their pods.
func TestPendingPodsHaveTheLowestPriority(t *testing.T) {
	t.Parallel()
	high := ask("high", 3, 900, 2, func(a *fit.Ask) { a.Priority = 1000 })
	low := ask("low", 2, 3000, 2)
	for name, room := range map[string]fit.Room{
		"nodes":     {Nodes: nodes(1, "")},
		"Karpenter": {Pools: []fit.Pool{pool(func(p *fit.Pool) { p.Limits = fit.Resources{fit.CPU: 4000} })}},
	} {
		a := fit.Judge([]fit.Ask{low, high}, room)
		if len(a.Pending) != 1 || a.Pending[0].Workload != low.Workload || a.Pending[0].Pods != 2 || a.Pending[0].Of != 2 {
			t.Errorf("%s: want the pods of low: %+v", name, a.Pending)
		}
	}
}

func TestAddressesOfANode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cni  fit.CNI
		pods int32
		free int64 // the smallest number of free addresses that fits
	}{
		"one interface":          {fit.CNI{}, 9, 10},
		"two interfaces":         {fit.CNI{}, 10, 20},
		"a warm interface":       {fit.CNI{WarmInterfaces: 1}, 9, 20},
		"a prefix":               {fit.CNI{Prefix: true}, 16, 17},
		"two prefixes":           {fit.CNI{Prefix: true}, 17, 33},
		"a warm prefix":          {fit.CNI{Prefix: true, WarmPrefixes: 1}, 16, 33},
		"a minimum of addresses": {fit.CNI{MinAddresses: 8}, 5, 9},
		"warm addresses":         {fit.CNI{WarmAddresses: 4}, 5, 10},
		"addresses of elsewhere": {fit.CNI{Apart: true}, 20, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for free, want := range map[int64]fit.Verdict{c.free: fit.Fits, c.free - 1: fit.DoesNotFit} {
				room := fit.Room{CNI: c.cni, Subnets: []fit.Subnet{{ID: "subnet-a", Zone: "a", Free: free}},
					Pools: []fit.Pool{pool(subnet, func(p *fit.Pool) { p.Require = fit.Term{in(fit.Zone, "a")} })}}
				if a := fit.Judge([]fit.Ask{ask("web", c.pods, 1, 0)}, room); a.Verdict != want {
					t.Errorf("%d free: want %s: %+v", free, want, a)
				}
			}
		})
	}
}

func TestAQuotaCountsThePodsOfItsScopes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scope fit.Scope
		edit  func(*fit.Ask)
		want  bool
	}{
		"none of its class":     {fit.Scope{Name: "PriorityClass", Op: "In", Values: []string{"high"}}, func(*fit.Ask) {}, false},
		"its class":             {fit.Scope{Name: "PriorityClass", Op: "In", Values: []string{"high"}}, func(a *fit.Ask) { a.Class = "high" }, true},
		"another class":         {fit.Scope{Name: "PriorityClass", Op: "NotIn", Values: []string{"high"}}, func(a *fit.Ask) { a.Class = "high" }, false},
		"pods with a deadline":  {fit.Scope{Name: "Terminating"}, func(*fit.Ask) {}, false},
		"pods without deadline": {fit.Scope{Name: "NotTerminating"}, func(*fit.Ask) {}, true},
		"best effort":           {fit.Scope{Name: "BestEffort"}, func(*fit.Ask) {}, false},
		"pods without requests": {fit.Scope{Name: "BestEffort"}, func(a *fit.Ask) { a.BestEffort = true }, true},
		"not best effort":       {fit.Scope{Name: "NotBestEffort"}, func(*fit.Ask) {}, true},
		"no requests":           {fit.Scope{Name: "NotBestEffort"}, func(a *fit.Ask) { a.BestEffort = true }, false},
		"another namespace":     {fit.Scope{Name: "NotTerminating"}, func(a *fit.Ask) { a.Workload.Namespace = "pay" }, false},
	} {
		q := fit.Quota{Namespace: "shop", Name: "q", Hard: fit.Resources{"pods": 1}, Scopes: []fit.Scope{c.scope}}
		if got := len(fit.Excesses([]fit.Ask{ask("web", 2, 900, 2, c.edit)}, []fit.Quota{q})) > 0; got != c.want {
			t.Errorf("%s: counts %v", name, got)
		}
	}
}

func TestAnAmountIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		resource string
		n        int64
		exact    string
		atLeast  string
	}{
		{fit.CPU, 1500, "1500m", "2"}, {"requests.cpu", 2000, "2", "2"}, {fit.CPU, 0, "0", "0"},
		{fit.Memory, 3 << 29, "1536Mi", "2Gi"}, {"limits.memory", 1000, "1000", "1Gi"}, {fit.Storage, 1 << 40, "1Ti", "1Ti"},
		{"example.com/gpu", 1024, "1024", "1024"}, {fit.Nodes, 7, "7", "7"},
	} {
		if got := fit.Amount(c.resource, c.n) + " " + fit.AtLeast(c.resource, c.n); got != c.exact+" "+c.atLeast {
			t.Errorf("%d %s: %s", c.n, c.resource, got)
		}
	}
}
