package limits_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A cluster is a line of testdata/clusters.jsonl: a cluster with one limit, and the smallest
// limit at which a scheduler places all pods. See testdata/README.md.
type cluster struct {
	Name   string
	Limit  string // cpu (in CPUs), memory (in bytes) or nodes
	Needs  int64  // the smallest limit that places all pods; 0 if no limit does
	Drawn  int64  // a limit from a quarter to four times of Needs
	Places bool   // the scheduler places all pods at the drawn limit
	Pool   json.RawMessage
	Node   *struct {
		Labels map[string]string
		Taints []corev1.Taint
	}
	Types   map[string][]string // the zones of each instance type
	Daemons []json.RawMessage   // pod specs
	Pods    []struct {
		Replicas int32
		Labels   json.RawMessage
		Spec     json.RawMessage
	}
}

// recorded returns the recorded clusters and the instance types.
func recorded(t testing.TB) (clusters []cluster, types map[string]limits.Shape) {
	t.Helper()
	f, err := os.Open("testdata/clusters.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	var kinds map[string]struct {
		Labels   map[string]string
		Capacity corev1.ResourceList
	}
	if err := json.Unmarshal(lines.Bytes(), &kinds); err != nil {
		t.Fatal(err)
	}
	types = map[string]limits.Shape{}
	for name, k := range kinds {
		// EC2 states the memory of the instance type, which is more than the node has.
		memory, err := strconv.ParseInt(k.Labels["karpenter.k8s.aws/instance-memory"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		one := limits.Shape{Name: name, Quotas: map[string]string{}, Labels: map[string][]string{"node.kubernetes.io/instance-type": {name}}}
		for key, value := range k.Labels {
			one.Labels[key] = []string{value}
		}
		one.Capacity = limits.Amounts{limits.CPU: k.Capacity.Cpu().MilliValue(), limits.Memory: memory << 20, limits.Count: k.Capacity.Pods().Value()}
		one.Allocatable = one.Capacity
		types[name] = one
	}
	for lines.Scan() {
		var c cluster
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		clusters = append(clusters, c)
	}
	return clusters, types
}

// set returns the objects and the account of a cluster without the limit.
func (c cluster) set(t testing.TB, types map[string]limits.Shape) (limits.Set, limits.Account) {
	t.Helper()
	var s limits.Set
	add := func(kind workload.Kind, name string, replicas int32, labels, spec []byte) {
		object := fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "shop"}, "spec": {"replicas": %d, "template": {"metadata": {"labels": %s}, "spec": %s}}}`, name, replicas, labels, spec)
		if err := s.AddWorkload(kind, workload.Replicas, []byte(object)); err != nil {
			t.Fatal(err)
		}
	}
	for i, spec := range c.Daemons {
		add(workload.DaemonSet, fmt.Sprint("agent-", i), 0, []byte("{}"), spec)
	}
	for i, p := range c.Pods {
		add(workload.Deployment, fmt.Sprint("app-", i), p.Replicas, p.Labels, p.Spec)
	}
	var a limits.Account
	for _, name := range slices.Sorted(maps.Keys(c.Types)) {
		a.Types = append(a.Types, types[name])
	}
	if c.Node != nil {
		g := limits.Group{Name: "group", Labels: c.Node.Labels, Taints: c.Node.Taints}
		for name := range c.Types {
			g.Types = append(g.Types, name)
		}
		a.Groups = []limits.Group{g}
		return s, a
	}
	object := fmt.Sprintf(`{"metadata": {"name": "default"}, "spec": {"limits": {%q: "0"}, "template": %s}}`, c.Limit, c.Pool)
	s.Pools = make([]limits.NodePool, 1)
	if err := json.Unmarshal([]byte(object), &s.Pools[0]); err != nil {
		t.Fatal(err)
	}
	return s, a
}

// answers returns the answer of a cluster at each limit.
func (c cluster) answers(t testing.TB, types map[string]limits.Shape, amounts ...int64) (all []room.Answer) {
	t.Helper()
	s, a := c.set(t, types)
	one := s.Case(nil, &a)
	has := one.Holders[0][0].Has
	for _, limit := range amounts {
		for name := range has {
			has[name] = limit
			if name == limits.CPU {
				has[name] *= 1000
			}
		}
		all = append(all, limits.Judge(one).Answer)
	}
	return all
}

// The pods of the two clusters that were corrected by hand match no node: the library of
// Kubernetes refuses each label set that the NodePool can give its nodes.
func TestCorrectedClusters(t *testing.T) {
	clusters, types := recorded(t)
	checked := 0
	for _, c := range clusters {
		if c.Name != "karpenter-35" && c.Name != "karpenter-104" {
			continue
		}
		checked++
		var spec corev1.PodSpec
		if err := json.Unmarshal(c.Pods[0].Spec, &spec); err != nil {
			t.Fatal(err)
		}
		required := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: spec})
		matches := func(labels map[string]string) bool {
			ok, err := required.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}})
			return ok && err == nil
		}
		for name, zones := range c.Types {
			for _, zone := range zones {
				labels := map[string]string{"topology.kubernetes.io/zone": zone}
				for key, values := range types[name].Labels {
					labels[key] = values[0]
				}
				if matches(labels) {
					t.Errorf("%s: a pod matches %s in %s", c.Name, name, zone)
				}
			}
		}
		if c.Needs != 0 || strings.Contains(string(c.Pool), "example.com/team") {
			t.Errorf("%s needs %d, and its NodePool is %s", c.Name, c.Needs, c.Pool)
		}
	}
	if checked != 2 {
		t.Errorf("%d clusters, want 2", checked)
	}
}

// A tally counts answers, and the wrong ones.
type tally struct{ all, wrong [4]int }

func (y *tally) add(a room.Answer, places bool) {
	y.all[a]++
	if a == room.DoesNotFit && places || a == room.LikelyFits && !places {
		y.wrong[a]++
	}
}

// check reports answers that are wrong or "close" too often.
func (y tally) check(t *testing.T) {
	t.Helper()
	likely, sum := y.all[room.LikelyFits], y.all[room.DoesNotFit]+y.all[room.Close]+y.all[room.LikelyFits]
	t.Logf("%d answers: %d do not fit, %d wrong; %d likely fit, %d wrong (%.1f %%); %d close (%.1f %%)", sum, y.all[room.DoesNotFit], y.wrong[room.DoesNotFit],
		likely, y.wrong[room.LikelyFits], 100*float64(y.wrong[room.LikelyFits])/float64(likely), y.all[room.Close], 100*float64(y.all[room.Close])/float64(sum))
	if y.all[room.Unknown] > 0 || y.wrong[room.DoesNotFit] > 0 {
		t.Errorf("%d answers are unknown, and %d \"does not fit\" are wrong, want 0", y.all[room.Unknown], y.wrong[room.DoesNotFit])
	}
	if 20*y.wrong[room.LikelyFits] > likely {
		t.Errorf("%d of %d \"likely fits\" are wrong, want at most 5 %%", y.wrong[room.LikelyFits], likely)
	}
	if 100*y.all[room.Close] > 35*sum {
		t.Errorf("%d of %d answers are close, want at most 35 %%", y.all[room.Close], sum)
	}
}

// On the recorded clusters, "does not fit" is never wrong, "likely fits" seldom, and few
// answers are "close": at the drawn limits, and at 41 limits of each cluster that a limit can
// help.
func TestRecordedClusters(t *testing.T) {
	clusters, types := recorded(t)
	if len(clusters) != 200 {
		t.Fatalf("%d clusters, want 200", len(clusters))
	}
	var drawn, many tally
	for _, c := range clusters {
		drawn.add(c.answers(t, types, c.Drawn)[0], c.Places)
		if c.Needs == 0 {
			continue
		}
		var amounts []int64
		for k := -20; k <= 20; k++ {
			amounts = append(amounts, max(1, int64(math.Round(float64(c.Needs)*math.Pow(4, float64(k)/20)))))
		}
		for i, a := range c.answers(t, types, amounts...) {
			many.add(a, amounts[i] >= c.Needs)
		}
	}
	drawn.check(t)
	many.check(t)
}
