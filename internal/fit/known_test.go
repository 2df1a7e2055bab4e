package fit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const gi = 1 << 30

// ask returns pods with requests of milliCPU and GiB.
func ask(name string, pods int32, cpu, memory int64, edits ...func(*fit.Ask)) fit.Ask {
	a := fit.Ask{Workload: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}, Pods: pods,
		Requests: fit.Resources{fit.CPU: cpu, fit.Memory: memory * gi},
		Counts:   fit.Resources{"requests.cpu": cpu, "requests.memory": memory * gi, "pods": 1},
		Labels:   map[string]string{"app": name}}
	for _, edit := range edits {
		edit(&a)
	}
	return a
}

// shape returns an instance type with vCPUs and GiB in zones a, b and c.
func shape(name, arch string, vcpus, memory, pods int64) fit.Shape {
	s := fit.Shape{Name: name, VCPUs: vcpus, Interfaces: 3, PerInterface: 10,
		Labels:      map[string]string{fit.InstanceType: name, fit.Arch: arch},
		Capacity:    fit.Resources{fit.CPU: vcpus * 1000, fit.Memory: memory * gi, fit.Pods: pods},
		Allocatable: fit.Resources{fit.CPU: vcpus*1000 - 100, fit.Memory: (memory - 1) * gi, fit.Pods: pods}}
	for _, zone := range []string{"a", "b", "c"} {
		s.Offers = append(s.Offers, fit.Offer{Zone: zone, CapacityType: "on-demand", Quota: "standard"})
	}
	return s
}

// pool returns a NodePool with shapes of 4 and 8 vCPUs.
func pool(edits ...func(*fit.Pool)) fit.Pool {
	p := fit.Pool{Name: "default", Shapes: []fit.Shape{shape("m5.xlarge", "amd64", 4, 16, 58), shape("m5.2xlarge", "amd64", 8, 32, 58)}}
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

// nodes returns present nodes of 4 vCPUs and 16 GiB, in zones a, b and c in turn.
func nodes(n int, group string) (all []fit.Node) {
	for i := range n {
		labels := map[string]string{fit.Zone: string(rune('a' + i%3)), fit.InstanceType: "m5.xlarge", fit.Arch: "amd64", fit.GroupLabel: group}
		if group == "" {
			delete(labels, fit.GroupLabel)
		}
		all = append(all, fit.Node{Name: fmt.Sprintf("ip-%02d", i), Labels: labels,
			Allocatable: fit.Resources{fit.CPU: 3900, fit.Memory: 15 * gi, fit.Pods: 58}})
	}
	return all
}

func in(key string, values ...string) fit.Match {
	return fit.Match{Key: key, Op: "In", Values: values}
}

func subnet(p *fit.Pool) { p.Subnets = []string{"subnet-a"} }

func where(matches ...fit.Match) func(*fit.Ask) {
	return func(a *fit.Ask) { a.Where = []fit.Term{matches} }
}

// Each case fails, and fits after the remedy that the answer states.
func TestKnownFailures(t *testing.T) {
	t.Parallel()
	apart := func(a *fit.Ask) {
		a.Rules = []fit.Rule{{Kind: fit.Apart, Key: fit.Hostname, Peers: fit.Term{in("app", "web")}}}
	}
	spread := func(a *fit.Ask) {
		a.Rules = []fit.Rule{{Kind: fit.Spread, Key: fit.Zone, Skew: 1, Peers: fit.Term{in("app", "web")}}}
	}
	within := func(name, zones string, limits fit.Resources) fit.Pool {
		return pool(func(p *fit.Pool) {
			p.Name, p.Require, p.Limits = name, fit.Term{in(fit.Zone, strings.Split(zones, "")...)}, limits
		})
	}
	group := func(most int64) []fit.Group {
		return []fit.Group{{Name: "ng", Size: 3, Max: most, Autoscaled: true, Labels: map[string]string{fit.GroupLabel: "ng"}, Shapes: pool().Shapes[:1]}}
	}
	for name, c := range map[string]struct {
		ask, fixed   fit.Ask // fixed is zero if the remedy is about the room
		room, raised fit.Room
		limit        string
		pending      int32
		text, remedy string
	}{
		"a vCPU quota of 32": {ask: ask("web", 60, 900, 2),
			room:   fit.Room{Pools: []fit.Pool{pool()}, VCPUs: []fit.VCPUs{{Name: "standard", Limit: 32}}},
			raised: fit.Room{Pools: []fit.Pool{pool()}, VCPUs: []fit.VCPUs{{Name: "standard", Limit: 60}}},
			limit:  fit.LimitVCPUs, pending: 28,
			text:   `the account's quota "standard" allows 32 vCPUs`,
			remedy: `raise the quota "standard" from 32 to at least 60 vCPUs`},
		"a subnet with 11 addresses": {ask: ask("web", 60, 900, 2, where(in(fit.Zone, "a"))),
			room:   fit.Room{Pools: []fit.Pool{pool(subnet)}, Subnets: []fit.Subnet{{ID: "subnet-a", Zone: "a", Free: 11}}},
			raised: fit.Room{Pools: []fit.Pool{pool(subnet)}, Subnets: []fit.Subnet{{ID: "subnet-a", Zone: "a", Free: 80}}},
			limit:  fit.LimitAddresses, pending: 56,
			text:   "the subnets of zone a have 11 free addresses",
			remedy: "raise the free addresses of the subnets of zone a from 11 to at least 80"},
		"a NodePool of another architecture": {ask: ask("web", 6, 900, 2, where(in(fit.Arch, "arm64"))), fixed: ask("web", 6, 900, 2),
			room:  fit.Room{Pools: []fit.Pool{pool()}},
			limit: fit.LimitLabels, pending: 6,
			text:   "no node can have the labels that shop/web requires: kubernetes.io/arch=arm64",
			remedy: "add nodes with kubernetes.io/arch=arm64 (the closest is NodePool default), or change the node selector of shop/web"},
		"a limit that is reached in one zone of three": {ask: ask("web", 60, 900, 2, spread),
			room:   fit.Room{Pools: []fit.Pool{within("first", "a", fit.Resources{fit.CPU: 8000}), within("rest", "bc", nil)}},
			raised: fit.Room{Pools: []fit.Pool{within("first", "a", fit.Resources{fit.CPU: 20000}), within("rest", "bc", nil)}},
			limit:  fit.LimitPool, pending: 34,
			text:   "NodePool first reaches its limit of 8 cpu",
			remedy: "raise the cpu limit of NodePool first from 8 to at least 20"},
		"a node group at its maximum": {ask: ask("web", 20, 900, 2),
			room:   fit.Room{Nodes: nodes(3, "ng"), Groups: group(4)},
			raised: fit.Room{Nodes: nodes(3, "ng"), Groups: group(5)},
			limit:  fit.LimitGroup, pending: 4,
			text:   "the maximum size of node group ng is 4, and these nodes have too little CPU left for shop/web",
			remedy: "raise the maximum size of node group ng from 4 to at least 5"},
		"a ResourceQuota": {ask: ask("web", 20, 900, 2),
			room:   fit.Room{Pools: []fit.Pool{pool()}, Quotas: []fit.Quota{{Namespace: "shop", Name: "pods", Hard: fit.Resources{"requests.cpu": 10000}}}},
			raised: fit.Room{Pools: []fit.Pool{pool()}, Quotas: []fit.Quota{{Namespace: "shop", Name: "pods", Hard: fit.Resources{"requests.cpu": 18000}}}},
			limit:  fit.LimitResourceQuota, pending: 9,
			text:   "ResourceQuota shop/pods allows 10 requests.cpu, and the pods need 18",
			remedy: "raise requests.cpu in ResourceQuota shop/pods from 10 to at least 18"},
		"anti-affinity by host with too few nodes": {ask: ask("web", 5, 100, 1, apart),
			room:   fit.Room{Nodes: nodes(3, "")},
			raised: fit.Room{Nodes: nodes(5, "")},
			limit:  fit.LimitNodes, pending: 2,
			text:   "the number of nodes of type m5.xlarge is 3, and no autoscaler adds nodes",
			remedy: "raise the number of nodes of type m5.xlarge from 3 to at least 5"},
		"pods per node": {ask: ask("web", 200, 10, 0),
			room:   fit.Room{Nodes: nodes(3, "")},
			raised: fit.Room{Nodes: nodes(4, "")},
			limit:  fit.LimitNodes, pending: 26,
			text:   "the number of nodes of type m5.xlarge is 3, and no autoscaler adds nodes, and these nodes have too little capacity for pods left for shop/web",
			remedy: "raise the number of nodes of type m5.xlarge from 3 to at least 4"},
		"a request larger than any node": {ask: ask("web", 2, 900, 40), fixed: ask("web", 2, 900, 31),
			room:  fit.Room{Pools: []fit.Pool{pool()}},
			limit: fit.LimitNodeSize, pending: 2,
			text:   "a pod of shop/web requests 40Gi memory, and the largest node of NodePool default has 31Gi for it",
			remedy: "lower the memory request of shop/web from 40Gi to at most 31Gi, or add a larger instance type to NodePool default"},
		"requests that VPA lowered live and git has large": {ask: ask("web", 40, 900, 4), fixed: ask("web", 40, 100, 1, func(a *fit.Ask) { a.Live = true }),
			room:  fit.Room{Pools: []fit.Pool{within("default", "abc", fit.Resources{fit.CPU: 16000})}},
			limit: fit.LimitPool, pending: 26,
			text:   "NodePool default reaches its limit of 16 cpu",
			remedy: "raise the cpu limit of NodePool default from 16 to at least 48"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := fit.Judge([]fit.Ask{c.ask}, c.room)
			if a.Verdict != fit.DoesNotFit || a.Limit == nil || len(a.Pending) != 1 {
				t.Fatalf("want one workload that does not fit: %+v", a)
			}
			if a.Limit.Name != c.limit || a.Pending[0].Pods != c.pending || a.Limit.Text != c.text || a.Remedy != c.remedy {
				t.Errorf("want %s, %d pods, %q and %q:\n%s, %d pods, %q and %q", c.limit, c.pending, c.text, c.remedy, a.Limit.Name, a.Pending[0].Pods, a.Limit.Text, a.Remedy)
			}
			after := []fit.Ask{c.ask}
			if c.fixed.Pods > 0 {
				after, c.raised = []fit.Ask{c.fixed}, c.room
			}
			if a := fit.Judge(after, c.raised); a.Verdict != fit.Fits {
				t.Errorf("after the remedy: %+v", a)
			}
		})
	}
}

// A reading that failed never fits. It does not hide a limit that it could not lift.
func TestAFailedReadingIsUnknown(t *testing.T) {
	t.Parallel()
	limits, types := fit.Reading{Name: "quota L-1216C47A", Why: "denied"}, fit.Reading{Name: "instance types of NodePool arm", Why: "throttled", Adds: true}
	for name, c := range map[string]struct {
		pods    int32
		unknown []fit.Reading
		want    fit.Verdict
	}{
		"enough":                            {2, nil, fit.Fits},
		"enough, with an unknown limit":     {2, []fit.Reading{limits}, fit.Unknown},
		"enough, with unknown room":         {2, []fit.Reading{types}, fit.Unknown},
		"too little":                        {200, nil, fit.DoesNotFit},
		"too little, with an unknown limit": {200, []fit.Reading{limits}, fit.DoesNotFit},
		"too little, with unknown room":     {200, []fit.Reading{types}, fit.Unknown},
		"too little, with both":             {200, []fit.Reading{limits, types}, fit.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := fit.Judge([]fit.Ask{ask("web", c.pods, 900, 2)}, fit.Room{Nodes: nodes(3, ""), Unknown: c.unknown})
			if a.Verdict != c.want || len(a.Unknown) != len(c.unknown) || (a.Limit != nil) != (c.want == fit.DoesNotFit) {
				t.Errorf("want %q: %+v", c.want, a)
			}
		})
	}
}

// More nodes do not help pods that a ResourceQuota refuses.
func TestAResourceQuotaRefusesPodsWithoutAllReadings(t *testing.T) {
	t.Parallel()
	web := ask("web", 2, 900, 2)
	web.Counts = fit.Resources{"pods": 1}
	room := fit.Room{Nodes: nodes(3, ""), Unknown: []fit.Reading{{Name: "instance types of NodePool arm", Why: "throttled", Adds: true}}}
	for hard, want := range map[int64]fit.Verdict{1: fit.DoesNotFit, 2: fit.Unknown} {
		room.Quotas = []fit.Quota{{Namespace: web.Workload.Namespace, Name: "pods", Hard: fit.Resources{"pods": hard}}}
		if a := fit.Judge([]fit.Ask{web}, room); a.Verdict != want {
			t.Errorf("a quota of %d pods: %+v", hard, a)
		}
	}
}

// A DaemonSet may occupy the port of the host that pods need.
func TestAPortOfADaemonSetIsUnknown(t *testing.T) {
	t.Parallel()
	web := ask("web", 2, 900, 2)
	web.Labels = map[string]string{"host-port/TCP/80": "true"}
	for port, want := range map[string]fit.Verdict{"host-port/TCP/80": fit.Unknown, "host-port/TCP/81": fit.Fits} {
		room := fit.Room{Nodes: nodes(3, ""), Daemons: []fit.Daemon{{Name: "kube-system/proxy", Ports: []string{port}}}}
		if a := fit.Judge([]fit.Ask{web}, room); a.Verdict != want {
			t.Errorf("%s: %+v", port, a)
		}
	}
}
