package objects_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// set returns the objects of YAML documents. Documents of other kinds are workloads.
func set(t *testing.T, documents ...string) *objects.Set {
	t.Helper()
	s := &objects.Set{}
	for _, document := range documents {
		data, err := yaml.YAMLToJSON([]byte(document))
		var o struct{ Kind string }
		if err == nil {
			err = yaml.Unmarshal(data, &o)
		}
		kind := workload.Kind(strings.ToLower(o.Kind))
		if _, is := workload.Kinds(nil).Object(kind); err == nil && is {
			err = s.AddWorkload(kind, workload.Replicas, data)
		} else if err == nil {
			err = s.Add(o.Kind, data)
		}
		if err != nil {
			t.Fatalf("%v in %s", err, document)
		}
	}
	return s
}

func deployment(template string) string {
	return "kind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3, template: " + template + "}\n"
}

func TestCountsOfAQuota(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ template, want string }{
		"no requests":          {"{spec: {containers: [{name: a}]}}", ""},
		"requests":             {"{spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}, {name: b, resources: {requests: {cpu: 500m}}}]}}", "cpu=1500 requests.cpu=1500"},
		"limits are requested": {"{spec: {containers: [{name: a, resources: {limits: {memory: 1Ki}}}]}}", "limits.memory=1024 memory=1024 requests.memory=1024"},
		"a smaller request":    {"{spec: {containers: [{name: a, resources: {limits: {memory: 1Ki}, requests: {memory: 1}}}]}}", "limits.memory=1024 memory=1 requests.memory=1"},
		"an init container":    {"{spec: {initContainers: [{name: i, resources: {requests: {cpu: 2}}}], containers: [{name: a, resources: {requests: {cpu: 1}}}]}}", "cpu=2000 requests.cpu=2000"},
		"a sidecar":            {"{spec: {initContainers: [{name: i, restartPolicy: Always, resources: {limits: {cpu: 2}}}], containers: [{name: a, resources: {requests: {cpu: 1}}}]}}", "cpu=3000 limits.cpu=2000 requests.cpu=3000"},
		"of the pod":           {"{spec: {resources: {limits: {cpu: 4}}, containers: [{name: a, resources: {requests: {cpu: 1}}}]}}", "cpu=4000 limits.cpu=4000 requests.cpu=4000"},
		"overhead":             {"{spec: {overhead: {memory: 1}, containers: [{name: a, resources: {requests: {memory: 1}}}]}}", "memory=2 requests.memory=2"},
		"extended":             {"{spec: {containers: [{name: a, resources: {limits: {example.com/gpu: 2}}}]}}", "limits.example.com/gpu=2 requests.example.com/gpu=2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asks, unknown := set(t, deployment(c.template)).Asks(nil)
			if len(asks) != 1 || len(unknown) > 0 || asks[0].Pods != 3 || asks[0].Counts["pods"] != 1 || asks[0].Counts["count/pods"] != 1 {
				t.Fatalf("want one ask of 3 pods: %+v, %v", asks, unknown)
			}
			var all []string
			for name, n := range asks[0].Counts {
				all = append(all, fmt.Sprintf("%s=%d", name, n))
			}
			slices.Sort(all)
			all = slices.DeleteFunc(all, func(s string) bool { return strings.HasSuffix(s, "pods=1") })
			if got := strings.Join(all, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if asks[0].BestEffort != (c.want == "") {
				t.Errorf("best effort: %v", asks[0].BestEffort)
			}
		})
	}
}

// Every field of a template that limits its nodes is in the ask.
func TestATemplateIsAnAsk(t *testing.T) {
	t.Parallel()
	s := set(t, `{kind: PriorityClass, metadata: {name: high}, value: 1000}`, `{kind: PriorityClass, metadata: {name: usual}, value: 10, globalDefault: true}`)
	const template = `
metadata: {labels: {app: web}}
spec:
  priorityClassName: high
  nodeSelector: {kubernetes.io/arch: arm64}
  tolerations: [{key: team, operator: Equal, value: red, effect: NoSchedule}]
  containers: [{name: a, resources: {requests: {cpu: 250m, memory: 1Gi, ephemeral-storage: 2Gi}}, ports: [{containerPort: 80, hostPort: 8080, protocol: TCP}]}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}, {matchExpressions: [{key: disk, operator: Exists}]}]}
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: {matchExpressions: [{key: spot, operator: DoesNotExist}]}}]
    podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}
    podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 9, podAffinityTerm: {topologyKey: zone, namespaces: [db, cache], labelSelector: {}}}]}
  topologySpreadConstraints:
  - {topologyKey: zone, maxSkew: 2, minDomains: 3, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [pod-template-hash]}
  - {topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}
`
	var d map[string]any
	if err := yaml.Unmarshal([]byte(template), &d); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(map[string]any{"kind": "Deployment", "metadata": map[string]string{"name": "web", "namespace": "shop"}, "spec": map[string]any{"replicas": 3, "template": d}})
	if err != nil {
		t.Fatal(err)
	}
	data, _ := yaml.YAMLToJSON(text)
	if err := s.AddWorkload(workload.Deployment, workload.Replicas, data); err != nil {
		t.Fatal(err)
	}
	asks, _ := s.Asks(nil)
	in := func(key string, values ...string) fit.Match {
		return fit.Match{Key: key, Op: "In", Values: values}
	}
	arm, own := in("kubernetes.io/arch", "arm64"), in("app", "web")
	want := []fit.Ask{{
		Workload: workload.ID{Namespace: "shop", Kind: "deployment", Name: "web"}, Pods: 3, Priority: 1000, Class: "high", Live: true,
		Requests:    fit.Resources{"cpu": 250, "memory": 1 << 30, "ephemeral-storage": 2 << 30},
		Counts:      fit.Resources{"pods": 1, "count/pods": 1, "cpu": 250, "requests.cpu": 250, "memory": 1 << 30, "requests.memory": 1 << 30, "ephemeral-storage": 2 << 30, "requests.ephemeral-storage": 2 << 30},
		Labels:      map[string]string{"app": "web", "host-port/TCP/8080": "true", "pod-template-hash": "shop/deployment/web"},
		Where:       []fit.Term{{arm, {Key: "zone", Op: "NotIn", Values: []string{"a"}}}, {arm, {Key: "disk", Op: "Exists"}}},
		Prefers:     []fit.Preference{{Weight: 7, Term: fit.Term{{Key: "spot", Op: "DoesNotExist"}}}},
		Tolerations: []fit.Toleration{{Key: "team", Op: "Equal", Value: "red", Effect: "NoSchedule"}},
		Rules: []fit.Rule{
			{Kind: fit.Spread, Key: "zone", Peers: fit.Term{own, in("pod-template-hash", "shop/deployment/web")}, Skew: 2, MinDomains: 3, HonorTaints: true, AllNodes: true},
			{Kind: fit.Spread, Key: fit.Hostname, Skew: 1, Soft: true},
			{Kind: fit.Near, Key: "zone", Peers: fit.Term{}, Namespaces: []string{"cache", "db"}, Soft: true, Weight: 9},
			{Kind: fit.Apart, Key: fit.Hostname, Peers: fit.Term{own}},
			{Kind: fit.Apart, Key: fit.Hostname, Peers: fit.Term{{Key: "host-port/TCP/8080", Op: "Exists"}}, Namespaces: []string{"shop"}},
		},
	}}
	if !reflect.DeepEqual(asks, want) {
		t.Errorf("got  %+v\nwant %+v", asks, want)
	}
}

// The replicas and the template in git win over the live ones. Other live workloads count.
func TestGitComesBeforeTheCluster(t *testing.T) {
	t.Parallel()
	s := set(t, deployment("{spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}}"),
		"{kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {replicas: 2, template: {spec: {containers: [{name: a}]}}}}",
		"{kind: Deployment, metadata: {name: idle, namespace: shop}, spec: {replicas: 0, template: {spec: {containers: [{name: a}]}}}}",
		"{kind: Deployment, metadata: {name: of, namespace: shop}, spec: {replicas: 0, template: {spec: {containers: [{name: a, resources: {requests: {cpu: 3}}}]}}}}",
		"{kind: Rollout, metadata: {name: canary, namespace: shop}, spec: {replicas: 4, workloadRef: {kind: Deployment, name: of}}}")
	id := func(kind workload.Kind, name string) workload.ID {
		return workload.ID{Namespace: "shop", Kind: kind, Name: name}
	}
	built := set(t, deployment("{spec: {containers: [{name: a, resources: {requests: {cpu: 2}}}]}}")).Template(id("deployment", "web"))
	asks, unknown := s.Asks([]objects.Want{{ID: id("deployment", "web"), Pods: 7, Template: built}, {ID: id("deployment", "lost"), Pods: 5}})
	var got []string
	for _, a := range asks {
		got = append(got, fmt.Sprintf("%s %d x %d live=%v", a.Workload.Name, a.Pods, a.Requests["cpu"], a.Live))
	}
	if want := []string{"web 7 x 2000 live=false", "canary 4 x 3000 live=true", "db 2 x 0 live=true"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(unknown) != 1 || unknown[0].Name != "requests of shop/deployment/lost" || unknown[0].Adds {
		t.Errorf("unknown: %+v", unknown)
	}
}

// A LimitRange sets the requests of containers without their own, in its namespace.
func TestDefaultsOfALimitRange(t *testing.T) {
	t.Parallel()
	pod := "{spec: {initContainers: [{name: i, resources: {requests: {cpu: 2}}}], containers: [{name: a, resources: {limits: {memory: 3Ki}}}, {name: b, resources: {requests: {cpu: 1}}}]}}"
	ranges := "{kind: LimitRange, metadata: {name: r, namespace: %s}, spec: {limits: [{type: Pod, max: {cpu: 9}}, {type: Container, default: {cpu: 4}, defaultRequest: {cpu: 500m, memory: 1Ki}}]}}"
	for namespace, want := range map[string]fit.Resources{
		"shop": {"requests.cpu": 2000, "requests.memory": 4096, "limits.cpu": 8000, "limits.memory": 3072},
		"pay":  {"requests.cpu": 2000, "requests.memory": 3072, "limits.cpu": 0, "limits.memory": 3072},
	} {
		s := set(t, deployment(pod), fmt.Sprintf(ranges, namespace))
		asks, _ := s.Asks(nil)
		for name, amount := range want {
			if got := asks[0].Counts[name]; got != amount {
				t.Errorf("a LimitRange of %s: %s is %d, want %d", namespace, name, got, amount)
			}
		}
	}
}

// The readings that only the account has depend on the provider of the nodes.
func TestReadingsOfAnAccount(t *testing.T) {
	t.Parallel()
	node := func(provider string) string {
		return "{kind: Node, metadata: {name: n1}, spec: {providerID: " + provider + "}}"
	}
	pool := func(group string) string {
		return "{kind: NodePool, metadata: {name: p}, spec: {template: {spec: {nodeClassRef: {group: " + group + "}}}}}"
	}
	scaler := "{kind: Deployment, metadata: {name: cluster-autoscaler, namespace: kube-system}, spec: {template: {spec: {containers: [{name: a}]}}}}"
	const types, pools, groups, quotas = "instance types of NodePool p", "quotas and subnets of NodePool p", "maximum size of the node groups", "vCPU quotas and free addresses of the subnets"
	for name, c := range map[string]struct {
		objects       []string
		account, none []string // with and without the account
	}{
		"a machine":              {[]string{node("''")}, nil, nil},
		"kind":                   {[]string{node("kind://docker/c/n1")}, nil, nil},
		"an autoscaler":          {[]string{node("''"), scaler}, nil, []string{groups}},
		"another cloud":          {[]string{node("gce://p/z/n1")}, []string{groups}, []string{groups}},
		"AWS":                    {[]string{node("aws:///a/i-1")}, nil, []string{quotas}},
		"AWS with an autoscaler": {[]string{node("aws:///a/i-1"), scaler}, nil, []string{groups, quotas}},
		"Karpenter":              {[]string{pool("karpenter.k8s.aws")}, nil, []string{types, quotas}},
		"EKS Auto Mode":          {[]string{node("aws:///a/i-1"), pool("eks.amazonaws.com")}, []string{types, pools}, []string{types, pools, quotas}},
	} {
		s := set(t, c.objects...)
		for account, want := range map[bool][]string{true: c.account, false: c.none} {
			var got []string
			for _, r := range s.Unread(account) {
				got = append(got, r.Name)
				if r.Adds != (r.Name == types || r.Name == groups) {
					t.Errorf("%s: %+v", name, r)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, account %v: %q, want %q", name, account, got, want)
			}
		}
	}
}

func TestARoom(t *testing.T) {
	t.Parallel()
	s := set(t,
		`{kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}, {key: team, value: red, effect: NoSchedule}]}, status: {allocatable: {cpu: 3900m, memory: 1Ki, pods: "58"}}}`,
		`{kind: Node, metadata: {name: fargate-1, labels: {eks.amazonaws.com/compute-type: fargate}}}`,
		`{kind: Node, metadata: {name: k1, labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: a, karpenter.sh/capacity-type: spot, kubernetes.io/arch: amd64}}, status: {capacity: {cpu: 2, pods: "29"}, allocatable: {cpu: 1900m, pods: "29"}}}`,
		`{kind: NodePool, metadata: {name: default}, spec: {weight: 7, limits: {cpu: 1000, nodes: 5}, template: {metadata: {labels: {team: red}}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: al}, requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64], minValues: 1}], taints: [{key: batch, effect: NoSchedule}]}}}}`,
		`{kind: NodePool, metadata: {name: fixed}, spec: {replicas: 3}}`,
		`{kind: DaemonSet, metadata: {name: aws-node, namespace: kube-system}, spec: {template: {spec: {hostNetwork: true, nodeSelector: {os: linux}, containers: [{name: aws-node, env: [{name: WARM_IP_TARGET, value: "2"}], resources: {requests: {cpu: 25m}}}]}}}}`,
		`{kind: EC2NodeClass, metadata: {name: al}, status: {}}`)
	room := s.Room(nil)
	pool := room.Pools[0]
	for name, c := range map[string]struct{ got, want any }{
		"nodes": {room.Nodes, []fit.Node{{Name: "n1", Labels: map[string]string{fit.Hostname: "n1"}, Taints: []fit.Taint{{Key: "team", Value: "red", Effect: "NoSchedule"}}, Allocatable: fit.Resources{"cpu": 3900, "memory": 1024, "pods": 58}}}},
		"shapes": {pool.Shapes, []fit.Shape{{Name: "m5.large", Labels: map[string]string{fit.InstanceType: "m5.large", fit.Arch: "amd64"}, Offers: []fit.Offer{{Zone: "a", CapacityType: "spot"}},
			Capacity: fit.Resources{"cpu": 2000, "pods": 29}, Allocatable: fit.Resources{"cpu": 1900, "pods": 29}}}},
		"limits":      {pool.Limits, fit.Resources{"cpu": 1000000, "nodes": 5}},
		"require":     {pool.Require, fit.Term{{Key: fit.Arch, Op: "In", Values: []string{"amd64"}, Min: 1}}},
		"labels":      {pool.Labels, map[string]string{"team": "red", "karpenter.k8s.aws/ec2nodeclass": "al"}},
		"taints":      {pool.Taints, []fit.Taint{{Key: "batch", Effect: "NoSchedule"}}},
		"weight":      {pool.Weight, int32(7)},
		"pools":       {len(room.Pools), 1},
		"unknown":     {room.Unknown, []fit.Reading{{Name: "Fargate profiles", Why: "the pods on Fargate count as pods that need a node", Adds: true}, {Name: "nodes of NodePool fixed", Why: "a NodePool with spec.replicas is not counted", Adds: true}}},
		"class":       {string(s.Classes()["default"]), `{"kind":"EC2NodeClass","metadata":{"name":"al"},"status":{}}`},
		"environment": {s.Environment(), map[string]string{"WARM_IP_TARGET": "2"}},
		"daemon":      {fmt.Sprint(room.Daemons[0].Name, room.Daemons[0].Requests, room.Daemons[0].Where, room.Daemons[0].HostNetwork), "kube-system/aws-nodemap[cpu:25] [[{os In [linux] 0}]] true"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, c.got, c.want)
		}
	}
}
