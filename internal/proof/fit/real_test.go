//go:build cluster

package fit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const agent = `
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      priorityClassName: system-node-critical # otherwise the pods that wait for a node take it first
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: "main:1", resources: {requests: {cpu: "1", memory: 128Mi}}}]
`

// deployment returns a Deployment, with further fields of its pods.
func deployment(name string, replicas int, cpu, fields string) string {
	return fmt.Sprintf(`
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: shop}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {%[4]s terminationGracePeriodSeconds: 0, containers: [{name: main, image: "main:1", resources: {requests: {cpu: %[3]s, memory: 1Gi}}}]}
`, name, replicas, cpu, fields)
}

const nodePool = `
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default, namespace: default}
spec:
  limits: {cpu: "%d"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m6i.2xlarge]}]
`

const (
	urgent = "priorityClassName: urgent,"
	apart  = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}},"
	even   = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}],"
)

// On a real control plane, the answer names the pods that stay pending, and its remedy
// places them.
func TestFleetsOnARealControlPlane(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	c.Define(t, controlplane.Definition{Group: "karpenter.sh", Version: "v1", Kind: "NodePool"})
	c.Apply(t, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 1000}")
	small, large := families[1].machine(sizes[1]), families[1].machine(sizes[2])
	for _, zone := range []string{"a", "b", "c"} {
		large.Offerings = append(large.Offerings, offering{zone, "on-demand", 0.4})
	}
	for _, test := range []struct {
		name      string
		nodes     int // m6i.xlarge, each with 2.92 CPU beside the agent
		cpu       int // limit of a NodePool of m6i.2xlarge, each with 6.91 CPU beside the agent
		manifests string
		want      fit.Limit // with Name, Have and Need; zero if the fleet fits
		pending   map[string]int
	}{
		{
			name: "nodes that no autoscaler adds", nodes: 3, manifests: deployment("web", 3, "500m", apart) + deployment("api", 7, "1", ""),
			want: fit.Limit{Name: fit.LimitNodes, Have: 3, Need: 4}, pending: map[string]int{"shop/api": 1},
		},
		{name: "a NodePool with room", cpu: 40, manifests: deployment("web", 9, "1", even) + deployment("api", 12, "1", "")},
		{
			name: "a NodePool at its limit", cpu: 23, manifests: deployment("web", 11, "1", urgent) + deployment("api", 7, "1", ""),
			want: fit.Limit{Name: fit.LimitPool, Have: 23000, Need: 24000}, pending: map[string]int{"shop/api": 6},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := parsed(t, agent+test.manifests)
			f.InstanceTypes = []machine{large}
			for range test.nodes {
				f.Objects = append(f.Objects, small.node(fmt.Sprintf("node-%d", c.launched.Add(1)), "a"))
			}
			c.limit(t, &f, test.cpu)
			c.check(t, f, c.start(t, f), test.want, test.pending)

			if test.want.Name == fit.LimitPool {
				c.limit(t, &f, int(test.want.Need/1000))
			} else {
				for range test.want.Need - test.want.Have {
					c.create(t, []any{small.node(fmt.Sprintf("node-%d", c.launched.Add(1)), "a")})
				}
			}
			c.check(t, f, c.grow(t, f), fit.Limit{}, nil)
			c.stop(t)
			c.Kubectl(t, "", "delete", "nodepools.karpenter.sh", "--all")
		})
	}
}

// limit sets the CPU limit of the NodePool of a fleet. If cpu is 0, the fleet has no
// NodePool.
func (c cluster) limit(t *testing.T, f *fleet, cpu int) {
	t.Helper()
	if cpu == 0 {
		return
	}
	manifest := fmt.Sprintf(nodePool, cpu)
	c.Apply(t, manifest)
	p := parsed(t, manifest).Objects[0].(*pool)
	p.Metadata.Namespace = "" // the kind of the API server is one of a namespace, and Karpenter's is not
	f.Objects = append(slices.DeleteFunc(f.Objects, func(object any) bool { _, is := object.(*pool); return is }), p)
}

// check compares the answer for the objects in the cluster with the pods of the cluster.
func (c cluster) check(t *testing.T, f fleet, r run, limit fit.Limit, pending map[string]int) {
	t.Helper()
	got := c.judge(t, f)
	answered, real := map[string]int{}, map[string]int{}
	for _, p := range got.Pending {
		answered[p.Workload.Short()] = int(p.Pods)
	}
	for _, p := range r.Pending {
		_, name, _ := strings.Cut(p.Workload, "/")
		real[name] = p.Pods
	}
	if !maps.Equal(answered, pending) || !maps.Equal(real, pending) {
		t.Errorf("pods %v are pending, and the answer has %v, want %v\n%+v", real, answered, pending, got)
	}
	if got.Limit == nil {
		got.Limit = &fit.Limit{}
	}
	if got.Limit.Name != limit.Name || got.Limit.Have != limit.Have || got.Limit.Need != limit.Need {
		t.Errorf("limit %+v, want %+v", *got.Limit, limit)
	}
}

// parsed returns the fleet of manifests.
func parsed(t *testing.T, manifests string) (f fleet) {
	t.Helper()
	kinds := map[string]func() any{
		"NodePool": func() any { return &pool{} }, "Deployment": func() any { return &appsv1.Deployment{} }, "DaemonSet": func() any { return &appsv1.DaemonSet{} },
	}
	for manifest := range strings.SplitSeq(manifests, "\n---\n") {
		var kind struct{ Kind string }
		if err := yaml.Unmarshal([]byte(manifest), &kind); err != nil {
			t.Fatal(err)
		}
		if kind.Kind == "" {
			continue
		}
		object := kinds[kind.Kind]()
		if err := yaml.UnmarshalStrict([]byte(manifest), object); err != nil {
			t.Fatal(err)
		}
		f.Objects = append(f.Objects, object)
	}
	return f
}

// judge returns the answer for the objects that the API server returns.
func (c cluster) judge(t *testing.T, f fleet) fit.Answer {
	t.Helper()
	from, err := kube.NewObjects(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	s := &objects.Set{}
	read := func(path, resource, kind string) {
		all, err := from.List(t.Context(), path, resource, kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range all {
			if err := add(s, kind, object); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, k := range objects.Kinds() {
		read(k.Path, k.Resource, k.Kind)
	}
	read("/api/v1", "resourcequotas", "ResourceQuota")
	for _, kind := range []workload.Kind{workload.Deployment, workload.StatefulSet, workload.DaemonSet} {
		o, _ := workload.Kinds{}.Object(kind)
		read("/apis/apps/v1", o.Resource, o.Kind)
	}
	return answerOf(s, f.InstanceTypes)
}
