package limits_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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

// A kind is an instance type.
type kind struct {
	Labels   map[string]string
	Capacity corev1.ResourceList
}

// recorded returns the recorded clusters and the instance types.
func recorded(t testing.TB) (clusters []cluster, types map[string]kind) {
	t.Helper()
	f, err := os.Open("testdata/clusters.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	if err := json.Unmarshal(lines.Bytes(), &types); err != nil {
		t.Fatal(err)
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

// set returns the objects and the account of a cluster without the limit. The cluster has
// one node of each instance type in each zone that the NodePool or the node group allows.
func (c cluster) set(t testing.TB, types map[string]kind) (limits.Set, limits.Account) {
	t.Helper()
	var s limits.Set
	var a limits.Account
	add := func(kind workload.Kind, name string, replicas int32, labels, spec []byte) {
		l := limits.Live{Replicas: replicas, Template: &corev1.PodTemplateSpec{}}
		if err := json.Unmarshal(fmt.Appendf(nil, `{"metadata": {"labels": %s}, "spec": %s}`, labels, spec), l.Template); err != nil {
			t.Fatal(err)
		}
		s.AddWorkload(workload.ID{Namespace: "shop", Kind: kind, Name: name}, l)
	}
	for i, spec := range c.Daemons {
		add(workload.DaemonSet, fmt.Sprint("agent-", i), 0, []byte("{}"), spec)
	}
	for i, p := range c.Pods {
		add(workload.Deployment, fmt.Sprint("app-", i), p.Replicas, p.Labels, p.Spec)
	}
	names := slices.Sorted(maps.Keys(c.Types))
	var require []corev1.NodeSelectorRequirement
	labels := map[string]string{limits.CapacityType: limits.OnDemand}
	var taints []corev1.Taint
	if c.Node != nil {
		g := limits.Source{Holder: limits.Holder{Name: "node group base"}, Own: limits.GroupLabel, Taints: c.Node.Taints}
		g.Labels = map[string][]string{limits.GroupLabel: {"base"}, corev1.LabelInstanceTypeStable: names}
		for key, value := range c.Node.Labels {
			g.Labels[key] = []string{value}
		}
		a.Groups = []limits.Source{g}
		taints = c.Node.Taints
		maps.Copy(labels, c.Node.Labels)
		labels[limits.GroupLabel] = "base"
	} else {
		var p limits.NodePool
		object := fmt.Sprintf(`{"metadata": {"name": "default"}, "spec": {"template": %s}}`, c.Pool)
		if err := json.Unmarshal([]byte(object), &p); err != nil {
			t.Fatal(err)
		}
		require = p.Spec.Template.Spec.Requirements
		taints = p.Spec.Template.Spec.Taints
		maps.Copy(labels, p.Spec.Template.Metadata.Labels)
		labels[limits.PoolLabel] = "default"
		for _, r := range require {
			if r.Key == limits.CapacityType {
				labels[r.Key] = r.Values[0]
			}
		}
		s.Pools = []limits.NodePool{p}
	}
	allowed := nodeaffinity.NewLazyErrorNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: append(require,
		corev1.NodeSelectorRequirement{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpExists})}}})
	var present []string
	for _, name := range names {
		for _, zone := range c.Types[name] {
			n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name + "-" + zone, Labels: maps.Clone(types[name].Labels)}, Spec: corev1.NodeSpec{Taints: taints}}
			maps.Copy(n.Labels, labels)
			n.Labels[corev1.LabelInstanceTypeStable] = name
			n.Labels[corev1.LabelTopologyZone] = zone
			n.Labels[corev1.LabelHostname] = n.Name
			n.Status.Capacity = types[name].Capacity
			n.Status.Allocatable = maps.Clone(n.Status.Capacity)
			memory := n.Status.Capacity.Memory().DeepCopy()
			memory.Sub(*resource.NewQuantity((255+11*n.Status.Capacity.Pods().Value()+100)<<20, resource.BinarySI)) // the kubelet takes a part
			n.Status.Allocatable[corev1.ResourceMemory] = memory
			if ok, err := allowed.Match(&n); ok && err == nil {
				s.Nodes = append(s.Nodes, n)
				present = append(present, name)
			}
		}
	}
	for i := range s.Pools {
		spec := &s.Pools[i].Spec.Template.Spec
		spec.Requirements = append(spec.Requirements, corev1.NodeSelectorRequirement{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: slices.Compact(present)})
	}
	return s, a
}

// answers returns the answer of a cluster at each limit.
func (c cluster) answers(t testing.TB, types map[string]kind, amounts ...int64) (all []room.Answer) {
	t.Helper()
	s, a := c.set(t, types)
	for _, limit := range amounts {
		for i := range s.Pools {
			s.Pools[i].Spec.Limits = corev1.ResourceList{corev1.ResourceName(c.Limit): *resource.NewQuantity(limit, resource.DecimalSI)}
		}
		for i := range a.Groups {
			a.Groups[i].Desired = limit
		}
		all = append(all, s.Judge(s.Rebuild(nil), a).Answer)
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
					labels[key] = values
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

// check reports answers that are wrong, or neither of both, too often.
func (y tally) check(t *testing.T) {
	t.Helper()
	likely, open := y.all[room.LikelyFits], y.all[room.Close]+y.all[room.Unknown]
	sum := y.all[room.DoesNotFit] + likely + open
	t.Logf("%d answers: %d do not fit, %d wrong; %d likely fit, %d wrong (%.1f %%); %d close and %d unknown (%.1f %%)", sum, y.all[room.DoesNotFit], y.wrong[room.DoesNotFit],
		likely, y.wrong[room.LikelyFits], 100*float64(y.wrong[room.LikelyFits])/float64(likely), y.all[room.Close], y.all[room.Unknown], 100*float64(open)/float64(sum))
	if y.wrong[room.DoesNotFit] > 0 {
		t.Errorf("%d \"does not fit\" are wrong, want 0", y.wrong[room.DoesNotFit])
	}
	if 20*y.wrong[room.LikelyFits] > likely {
		t.Errorf("%d of %d \"likely fits\" are wrong, want at most 5 %%", y.wrong[room.LikelyFits], likely)
	}
	if 100*open > 35*sum {
		t.Errorf("%d of %d answers are close or unknown, want at most 35 %%", open, sum)
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
