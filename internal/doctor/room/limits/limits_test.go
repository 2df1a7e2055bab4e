package limits_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// web is a rebuild of 10 pods on a NodePool with a limit of CPUs. Each pod requests 1 CPU and
// a node has 4.
func web(cpus int64) limits.Case {
	id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	s := limits.Shape{Name: "m6i.xlarge", Toward: []string{"NodePool default"}, Labels: map[string][]string{"kubernetes.io/arch": {"amd64"}}}
	s.Capacity = limits.Amounts{limits.CPU: 4000}
	s.Allocatable = s.Capacity
	return limits.Case{
		Pods:    []limits.Pods{{Workload: id, Count: 10, Requests: limits.Amounts{limits.CPU: 1000, limits.Count: 1}}},
		Shapes:  []limits.Shape{s},
		Holders: [][]limits.Holder{{{Name: "NodePool default", Has: limits.Amounts{limits.CPU: cpus * 1000}}}},
	}
}

// second adds a NodePool with a limit of CPUs that takes the same pods.
func second(c *limits.Case, cpus int64) {
	other := c.Shapes[0]
	other.Toward = []string{"NodePool other"}
	c.Shapes = append(c.Shapes, other)
	c.Holders[0] = append(c.Holders[0], limits.Holder{Name: "NodePool other", Has: limits.Amounts{limits.CPU: cpus * 1000}})
}

func where(key string) []corev1.NodeSelectorTerm {
	return []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpExists}}}}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cpus int64
		edit func(c *limits.Case)
		want room.Answer
	}{
		"the sum exceeds the limit":         {9, func(*limits.Case) {}, room.DoesNotFit},
		"the sum is the limit":              {10, func(*limits.Case) {}, room.Close},
		"less than 1.4 times 3 nodes":       {16, func(*limits.Case) {}, room.Close},
		"1.4 times 3 nodes":                 {17, func(*limits.Case) {}, room.LikelyFits},
		"10 nodes of pods that are apart":   {39, func(c *limits.Case) { c.Pods[0].Apart = true }, room.DoesNotFit},
		"less than 1.4 times 10 nodes":      {55, func(c *limits.Case) { c.Pods[0].Apart = true }, room.Close},
		"1.4 times 10 nodes":                {56, func(c *limits.Case) { c.Pods[0].Apart = true }, room.LikelyFits},
		"a pod is larger than the node":     {100, func(c *limits.Case) { c.Pods[0].Requests[limits.CPU] = 4001 }, room.DoesNotFit},
		"no node has the label":             {100, func(c *limits.Case) { c.Pods[0].Where = where("team") }, room.DoesNotFit},
		"a label that AWS may set":          {100, func(c *limits.Case) { c.Pods[0].Where = where("karpenter.k8s.aws/x") }, room.LikelyFits},
		"no pod tolerates the taint":        {100, func(c *limits.Case) { c.Shapes[0].Taints = []corev1.Taint{{Key: "a", Effect: "NoSchedule"}} }, room.DoesNotFit},
		"unknown instance types":            {100, func(c *limits.Case) { c.Holders[0][0].Missing = "ec2:DescribeInstanceTypes" }, room.Unknown},
		"unknown types, and a sum too high": {9, func(c *limits.Case) { c.Holders[0][0].Missing = "ec2:DescribeInstanceTypes" }, room.DoesNotFit},
		"another limit is unknown":          {100, func(c *limits.Case) { c.Missing = []limits.Missing{{Value: "vCPU quotas"}} }, room.Unknown},
		"requests are unknown":              {100, func(c *limits.Case) { c.Unasked = []limits.Missing{{Value: "requests of db"}} }, room.Unknown},
		"no limits":                         {100, func(c *limits.Case) { *c = limits.Case{} }, room.Unknown},
		"another pool takes the pods":       {9, func(c *limits.Case) { second(c, 100) }, room.LikelyFits},
		"two pools together are too small":  {4, func(c *limits.Case) { second(c, 5) }, room.DoesNotFit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := web(c.cpus)
			c.edit(&one)
			if r := limits.Judge(one); r.Answer != c.want {
				t.Errorf("%s, want %s: %v", r.Answer, c.want, r.Limits)
			}
		})
	}
}

// A missing or unknown answer of a document is never fine.
func TestAnUnknownAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"answer": "fits"}`, `{"answer": ""}`} {
		var r room.Report
		if err := json.Unmarshal([]byte(text), &r); err != nil || r.Answer != room.Unknown {
			t.Errorf("%s: %s, %v", text, r.Answer, err)
		}
	}
}

// large returns a rebuild of 5,000 workloads with 50,000 pods on a NodePool of 36 instance
// types in an account. Every tenth workload selects an architecture.
func large() limits.Case {
	const gi = 1 << 30
	c := limits.Case{
		Holders: [][]limits.Holder{
			{{Name: "NodePool default", Has: limits.Amounts{limits.CPU: 1e8, limits.Memory: 1 << 50}}},
			{{Name: "quota", Has: limits.Amounts{limits.CPU: 1e8}}},
			{{Name: "subnet-1", Has: limits.Amounts{limits.Addresses: 1e6}}},
		},
		Daemons: []limits.Pods{{Requests: limits.Amounts{limits.CPU: 100, limits.Count: 1, limits.Addresses: 1}}},
	}
	for i := range 5000 {
		id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("app-%d", i)}
		p := limits.Pods{Workload: id, Count: int64(2 + i%17), Counts: limits.Amounts{"pods": 1}}
		p.Requests = limits.Amounts{limits.CPU: int64(50 + i*37%1950), limits.Memory: int64(1+i%5) * gi, limits.Count: 1, limits.Addresses: 1}
		if i%10 == 0 {
			p.Where = where("kubernetes.io/arch")
		}
		c.Pods = append(c.Pods, p)
	}
	for _, family := range []string{"c6i", "m6i", "r6i", "c7i", "m7i", "r7i"} {
		for cpus := int64(2); cpus <= 64; cpus *= 2 {
			memory := cpus * map[byte]int64{'c': 2, 'm': 4, 'r': 8}[family[0]] * gi
			s := limits.Shape{Name: fmt.Sprint(family, cpus), Labels: map[string][]string{"kubernetes.io/arch": {"amd64"}}}
			s.Capacity = limits.Amounts{limits.CPU: cpus * 1000, limits.Memory: memory, limits.Count: 58}
			s.Allocatable = s.Capacity
			s.Toward = []string{"NodePool default", "quota", "subnet-1"}
			c.Shapes = append(c.Shapes, s)
		}
	}
	return c
}

// The answer for 5,000 workloads allocates at most 20 MiB.
func TestAnswersForALargeClusterAreSmall(t *testing.T) {
	c := large()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := limits.Judge(c)
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 20<<20 {
		t.Errorf("an answer allocates %.1f MiB, want at most 20", float64(bytes)/(1<<20))
	}
	if r.Answer != room.LikelyFits || len(r.Limits) != 5 {
		t.Errorf("%s: %v", r.Answer, r.Limits)
	}
}
