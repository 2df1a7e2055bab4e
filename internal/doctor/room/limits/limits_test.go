package limits_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// amounts returns amounts of CPUs and pods.
func amounts(cpus, pods int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI), corev1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI)}
}

// node returns a node of a NodePool or a node group.
func node(label, name, kind string, cpus int64) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: kind, Labels: map[string]string{label: name, corev1.LabelInstanceTypeStable: kind, limits.CapacityType: limits.OnDemand}}}
	n.Status.Capacity = amounts(cpus, 110)
	n.Status.Allocatable = n.Status.Capacity
	return n
}

// pool returns a NodePool with a limit of CPUs that starts m6i.xlarge.
func pool(name string, cpus int64) (p limits.NodePool) {
	p.Metadata.Name = name
	p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI)}
	p.Spec.Template.Spec.Requirements = []corev1.NodeSelectorRequirement{
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"m6i.xlarge"}},
		{Key: limits.CapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{limits.OnDemand}},
	}
	return p
}

// template returns a pod that requests 1 CPU.
func template() *corev1.PodTemplateSpec {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}},
	}
}

var web = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}

// A rebuild is 10 pods on a NodePool with a limit of CPUs, and one present node of 4 CPUs.
type rebuild struct {
	limits.Set
	limits.Account
	template *corev1.PodTemplateSpec
	replicas int32
}

func newRebuild(cpus int64) rebuild {
	r := rebuild{template: template(), replicas: 10}
	r.Nodes = []corev1.Node{node(limits.PoolLabel, "default", "m6i.xlarge", 4)}
	r.Pools = []limits.NodePool{pool("default", cpus)}
	return r
}

// judge returns the report of a rebuild.
func (r *rebuild) judge() room.Report {
	r.AddWorkload(web, limits.Live{Replicas: 2, Here: 2, Template: r.template})
	return r.Judge(r.Rebuild(map[workload.ID]int32{web: r.replicas}), r.Account)
}

// apart keeps the pods apart.
func (r *rebuild) apart() {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	r.template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: selector, TopologyKey: corev1.LabelHostname}}}}
}

// requires sets a node affinity.
func (r *rebuild) requires(key string, values ...string) {
	terms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}}
	r.template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
}

// request sets the CPUs that a pod requests.
func (r *rebuild) request(cpus string) {
	r.template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpus)
}

// other adds a NodePool that takes the same pods.
func (r *rebuild) other(cpus int64) {
	r.Pools = append(r.Pools, pool("other", cpus))
	r.Nodes = append(r.Nodes, node(limits.PoolLabel, "other", "m6i.xlarge", 4))
}

// group replaces the NodePool by a managed node group.
func (r *rebuild) group(desired, most int64, types ...string) {
	r.Pools = nil
	r.Nodes = []corev1.Node{node(limits.GroupLabel, "base", "m6i.xlarge", 4)}
	g := limits.Source{Holder: limits.Holder{Name: "node group base", Has: limits.Amounts{limits.Nodes: most}}, Own: limits.GroupLabel, Desired: desired}
	g.Labels = map[string][]string{limits.GroupLabel: {"base"}, corev1.LabelInstanceTypeStable: types, limits.CapacityType: {limits.OnDemand}}
	r.Account = limits.Account{Read: true, Groups: []limits.Source{g}}
}

// quota adds a vCPU quota.
func (r *rebuild) quota(cpus int64) {
	r.Account.Read = true
	r.VCPUs = []limits.Holder{{Name: "vCPU quota L-1216C47A", Has: limits.Amounts{limits.CPU: cpus * 1000}}}
}

// subnets adds subnets with free addresses, and the VPC CNI with an environment.
func (r *rebuild) subnets(free int64, env ...corev1.EnvVar) {
	r.Account.Read = true
	var class limits.NodeClass
	class.Metadata.Name = "default"
	class.Status.Subnets = []struct{ ID string }{{"subnet-1"}, {"subnet-2"}}
	r.Classes = []limits.NodeClass{class}
	r.Pools[0].Spec.Template.Spec.NodeClassRef.Name = "default"
	r.Account.Subnets = []limits.Holder{{Name: "subnet-1", Has: limits.Amounts{limits.Addresses: free}}, {Name: "subnet-2", Has: limits.Amounts{limits.Addresses: 0}}}
	cni := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "aws-node", Env: env}}}}
	r.AddWorkload(workload.ID{Namespace: "kube-system", Kind: workload.DaemonSet, Name: "aws-node"}, limits.Live{Template: cni})
}

// resourceQuota adds a ResourceQuota on CPU requests. used is nil without a status.
func (r *rebuild) resourceQuota(hard string, used *resource.Quantity, scopes ...corev1.ResourceQuotaScope) {
	q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cpu"}}
	q.Spec = corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.cpu": resource.MustParse(hard)}, Scopes: scopes}
	if used != nil {
		q.Status.Used = corev1.ResourceList{"requests.cpu": *used}
	}
	r.Quotas = []corev1.ResourceQuota{q}
}

// limit replaces the request of the container by a limit.
func (r *rebuild) limit() {
	r.template.Spec.Containers[0].Resources.Limits = r.template.Spec.Containers[0].Resources.Requests
	r.template.Spec.Containers[0].Resources.Requests = nil
}

// counts renames the resource of the ResourceQuota.
func (r *rebuild) counts(name corev1.ResourceName) {
	q := &r.Quotas[0]
	q.Spec.Hard = corev1.ResourceList{name: q.Spec.Hard["requests.cpu"]}
	q.Status.Used = corev1.ResourceList{name: q.Status.Used["requests.cpu"]}
}

// Each rebuild has the answer in want, and want also starts with the worst limit and ends with
// its reason.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const unplaced = "no present node takes a pod of shop/web. The answer is known when NodePool default has one"
	for name, c := range map[string]struct {
		cpus int64
		edit func(r *rebuild)
		want string
	}{
		"the sum exceeds the limit":       {9, func(*rebuild) {}, "NodePool default: does not fit"},
		"the sum is the limit":            {10, func(*rebuild) {}, "NodePool default: close"},
		"less than 1.45 times 10 CPUs":    {14, func(*rebuild) {}, "NodePool default: close"},
		"1.45 times 10 CPUs":              {15, func(*rebuild) {}, "likely fits"},
		"10 nodes of pods that are apart": {39, (*rebuild).apart, "NodePool default: does not fit"},
		"less than 1.45 times 10 nodes":   {57, (*rebuild).apart, "NodePool default: close"},
		"1.45 times 10 nodes":             {58, (*rebuild).apart, "likely fits"},
		"a pod is larger than the node":   {100, func(r *rebuild) { r.request("4001m") }, "largest node for shop/web: does not fit: no node has the labels, the taints and the size that its pods need"},
		"a larger node may come":          {100, func(r *rebuild) { r.request("4001m"); r.Pools[0].Spec.Template.Spec.Requirements = nil }, "largest node for shop/web: unknown: " + unplaced},
		"no node has the label":           {100, func(r *rebuild) { r.requires("team", "red") }, "largest node for shop/web: does not fit: no node has the labels, the taints and the size that its pods need"},
		"the template has the label": {100, func(r *rebuild) {
			r.requires("team", "red")
			r.Pools[0].Spec.Template.Metadata.Labels = map[string]string{"team": "red"}
		}, "NodePool default: unknown: " + unplaced},
		"a label that only nodes have":        {100, func(r *rebuild) { r.requires("team", "red"); r.Nodes[0].Labels["team"] = "blue" }, "NodePool default: unknown: " + unplaced},
		"a static NodePool of 2 nodes":        {100, func(r *rebuild) { r.Pools[0].Spec.Replicas = new(int64(2)) }, "NodePool default: does not fit"},
		"a label that AWS may set":            {100, func(r *rebuild) { r.requires("karpenter.k8s.aws/x", "y") }, "NodePool default: unknown: " + unplaced},
		"a node in another zone":              {100, func(r *rebuild) { r.requires(corev1.LabelTopologyZone, "b") }, "NodePool default: unknown: " + unplaced},
		"no pod tolerates the taint":          {100, func(r *rebuild) { r.taint(); r.Nodes[0].Spec.Taints = r.Pools[0].Spec.Template.Spec.Taints }, "largest node for shop/web: does not fit: no node has the labels, the taints and the size that its pods need"},
		"the node lost the taint":             {100, (*rebuild).taint, "likely fits"},
		"no present node":                     {100, func(r *rebuild) { r.Nodes = nil }, "largest node for shop/web: unknown: " + unplaced},
		"no present node, and a sum too high": {9, func(r *rebuild) { r.Nodes = nil }, "NodePool default: does not fit: " + unplaced},
		"a DaemonSet takes the node":          {100, (*rebuild).daemon, "NodePool default: unknown: " + unplaced},
		"another limit is unknown":            {100, func(r *rebuild) { r.Account.Missing = []room.Limit{{Name: "vCPU quotas", Why: "no"}} }, "vCPU quotas: unknown: no"},
		"requests are unknown":                {100, func(r *rebuild) { r.Unasked = []room.Limit{{Name: "deployments", Why: "no"}} }, "NodePool default: unknown: other values are unknown"},
		"another pool takes the pods":         {9, func(r *rebuild) { r.other(100) }, "likely fits"},
		"two pools together are too small":    {4, func(r *rebuild) { r.other(5) }, "NodePool default + NodePool other: does not fit"},
		"a LimitRange":                        {15, (*rebuild).defaults, "NodePool default: does not fit"},

		"a group of 3 nodes":             {0, func(r *rebuild) { r.group(3, 9, "m6i.xlarge") }, "node group base: close"},
		"a group of 4 nodes":             {0, func(r *rebuild) { r.group(4, 9, "m6i.xlarge") }, "node group base: close"},
		"a group of 5 nodes":             {0, func(r *rebuild) { r.group(5, 9, "m6i.xlarge") }, "likely fits"},
		"a group of 2 nodes":             {0, func(r *rebuild) { r.group(2, 9, "m6i.xlarge") }, "node group base: does not fit"},
		"an autoscaled group of 2 nodes": {0, func(r *rebuild) { r.group(2, 9, "m6i.xlarge"); r.autoscaler() }, "likely fits"},
		"a group with larger nodes":      {0, func(r *rebuild) { r.group(2, 9, "m6i.xlarge", "m6i.4xlarge") }, "node group base: unknown: it has no node of some instance types, which may be larger"},
		"a node of no group":             {100, func(r *rebuild) { r.Nodes = append(r.Nodes, node("x", "y", "m6i.large", 2)) }, "nodes: unknown: 1 of 2 nodes belong to no NodePool and no managed node group, so their limit is unknown"},

		"a vCPU quota":                       {100, func(r *rebuild) { r.quota(15) }, "likely fits"},
		"a close vCPU quota":                 {100, func(r *rebuild) { r.quota(14) }, "vCPU quota L-1216C47A: close"},
		"a vCPU quota that is too small":     {100, func(r *rebuild) { r.quota(9) }, "vCPU quota L-1216C47A: does not fit"},
		"a category, and too small a quota":  {100, func(r *rebuild) { r.quota(9); r.kinds("karpenter.k8s.aws/instance-category", "c", "m"); r.Nodes = nil }, "vCPU quota L-1216C47A: does not fit: " + unplaced},
		"a category of another quota":        {100, func(r *rebuild) { r.quota(9); r.kinds("karpenter.k8s.aws/instance-category", "m", "hpc") }, "vCPU quota of NodePool default: unknown: gitlatch does not know its instance types or their quota. List types, families or categories in its requirements"},
		"an unknown category and vCPU quota": {100, func(r *rebuild) { r.quota(9); r.kinds("a", "b") }, "vCPU quota of NodePool default: unknown: gitlatch does not know its instance types or their quota. List types, families or categories in its requirements"},

		"an unread vCPU quota": {100, func(r *rebuild) { r.quota(90); r.VCPUs[0].Name = "vCPU quota L-34B43A08" }, "vCPU quota L-1216C47A of NodePool default: unknown: the account did not return its value, or the CPUs of an instance"},
		"an unknown subnet":    {100, func(r *rebuild) { r.subnets(19); r.Classes = nil }, "free addresses for NodePool default: unknown: gitlatch does not know its subnets"},

		"free addresses":      {100, func(r *rebuild) { r.subnets(19) }, "likely fits"},
		"few free addresses":  {100, func(r *rebuild) { r.subnets(18) }, "subnet-1 + subnet-2: close"},
		"too few addresses":   {100, func(r *rebuild) { r.subnets(9) }, "subnet-1 + subnet-2: does not fit"},
		"addresses of IPv6":   {100, func(r *rebuild) { r.subnets(9, corev1.EnvVar{Name: "ENABLE_IPv6", Value: "true"}) }, "addresses of pods: unknown: gitlatch knows their subnets only with the VPC CNI on IPv4, without custom networking"},
		"the network of host": {100, func(r *rebuild) { r.subnets(5); r.template.Spec.HostNetwork = true }, "likely fits"},

		"a ResourceQuota":                {100, func(r *rebuild) { r.resourceQuota("10", resource.NewQuantity(2, "")) }, "likely fits"},
		"a ResourceQuota of limits":      {100, func(r *rebuild) { r.limit(); r.resourceQuota("9", resource.NewQuantity(2, "")); r.counts("limits.cpu") }, "ResourceQuota shop/cpu: does not fit"},
		"a ResourceQuota without limits": {100, func(r *rebuild) { r.resourceQuota("9", resource.NewQuantity(2, "")); r.counts("limits.cpu") }, "likely fits"},
		"a ResourceQuota of the CPU":     {100, func(r *rebuild) { r.resourceQuota("9", resource.NewQuantity(2, "")); r.counts("cpu") }, "ResourceQuota shop/cpu: does not fit"},
		"a ResourceQuota of pods":        {100, func(r *rebuild) { r.resourceQuota("9", resource.NewQuantity(2, "")); r.counts("count/pods") }, "ResourceQuota shop/cpu: does not fit"},
		"a DaemonSet and a Job also ask": {100, func(r *rebuild) { r.resourceQuota("10", resource.NewQuantity(3, "")) }, "ResourceQuota shop/cpu: close"},
		"too small a ResourceQuota":      {100, func(r *rebuild) { r.resourceQuota("9", resource.NewQuantity(2, "")) }, "ResourceQuota shop/cpu: does not fit"},
		"a new ResourceQuota":            {100, func(r *rebuild) { r.resourceQuota("10", nil) }, "ResourceQuota shop/cpu: unknown: the status of the quota does not contain the current usage"},
		"a quota that refuses pods now":  {100, func(r *rebuild) { r.resourceQuota("10", resource.NewQuantity(10, "")) }, "ResourceQuota shop/cpu: close"},
		"a ResourceQuota with a scope":   {100, func(r *rebuild) { r.resourceQuota("9", nil, corev1.ResourceQuotaScopeNotBestEffort) }, "ResourceQuota shop/cpu: unknown: it has scopes, and gitlatch does not know which pods they match"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := newRebuild(c.cpus)
			c.edit(&one)
			r := one.judge()
			got := r.Answer.String()
			if r.Answer != room.LikelyFits {
				worst := lists.Filter(r.Limits, func(l room.Limit) bool { return l.Answer == r.Answer })
				texts := lists.Map(worst, func(l room.Limit) string {
					return strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", l.Name, l.Answer, l.Why), ": ")
				})
				got = texts[0]
				if slices.Contains(texts, c.want) {
					got = c.want
				}
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s\n%v", got, c.want, r.Lines())
			}
		})
	}
}

// taint gives the NodePool a taint.
func (r *rebuild) taint() {
	r.Pools[0].Spec.Template.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
}

// daemon adds a DaemonSet that takes 3.5 of 4 CPUs.
func (r *rebuild) daemon() {
	d := template()
	d.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3500m")
	r.AddWorkload(workload.ID{Namespace: "kube-system", Kind: workload.DaemonSet, Name: "agent"}, limits.Live{Template: d})
}

// autoscaler adds the Cluster Autoscaler.
func (r *rebuild) autoscaler() {
	empty := &corev1.PodTemplateSpec{}
	r.AddWorkload(workload.ID{Namespace: "kube-system", Kind: workload.Deployment, Name: "aws-cluster-autoscaler"}, limits.Live{Replicas: 1, Here: 1, Template: empty})
}

// defaults takes the requests from the template, and adds a LimitRange with 2 CPUs.
func (r *rebuild) defaults() {
	r.template.Spec.Containers[0].Resources.Requests = nil
	one := corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}
	one.Spec.Limits = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}
	r.Ranges = []corev1.LimitRange{one}
}

// kinds replaces the instance types in the requirements.
func (r *rebuild) kinds(key string, values ...string) {
	r.Pools[0].Spec.Template.Spec.Requirements[0] = corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// Without a limit and without a node, the answer is unknown.
func TestNoLimitsAreUnknown(t *testing.T) {
	t.Parallel()
	var s limits.Set
	if r := s.Judge(s.Rebuild(nil), limits.Account{}); r.Answer != room.Unknown || len(r.Limits) != 1 {
		t.Errorf("%s: %v", r.Answer, r.Limits)
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

// large returns a rebuild of 5,000 workloads with 50,000 pods on a NodePool with nodes of 36
// instance types in an account. Every tenth workload selects an architecture.
func large() rebuild {
	r := newRebuild(1e5)
	r.Nodes = nil
	r.quota(1e5)
	r.subnets(1e6)
	r.Pools[0].Spec.Limits[corev1.ResourceMemory] = resource.MustParse("1Pi")
	var kinds []string
	for _, family := range []string{"c6i", "m6i", "r6i", "c7i", "m7i", "r7i"} {
		for cpus := int64(2); cpus <= 64; cpus *= 2 {
			n := node(limits.PoolLabel, "default", fmt.Sprint(family, ".", cpus), cpus)
			n.Labels[corev1.LabelArchStable] = "amd64"
			n.Status.Allocatable[corev1.ResourceMemory] = *resource.NewQuantity(cpus*map[byte]int64{'c': 2, 'm': 4, 'r': 8}[family[0]]<<30, resource.BinarySI)
			r.Nodes = append(r.Nodes, n)
			kinds = append(kinds, n.Name)
		}
	}
	r.kinds(corev1.LabelInstanceTypeStable, kinds...)
	for i := range 5000 {
		one := template()
		one.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(50+i*37%1950), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(int64(1+i%5)<<30, resource.BinarySI),
		}
		one.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(int64(1+i%5)<<30, resource.BinarySI)}
		if i%10 == 0 {
			one.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64"}
		}
		r.AddWorkload(workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprint("app-", i)}, limits.Live{Replicas: int32(2 + i%17), Template: one})
	}
	return r
}

// The answer for 5,000 workloads allocates at most 20 MiB, with the sums of requests.
func TestAnswersForALargeClusterAreSmall(t *testing.T) {
	one := large()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := one.Judge(one.Rebuild(nil), one.Account)
	runtime.ReadMemStats(&after)
	bytes := after.TotalAlloc - before.TotalAlloc
	t.Logf("%.1f MiB", float64(bytes)/(1<<20))
	if bytes > 20<<20 {
		t.Errorf("an answer allocates %.1f MiB, want at most 20", float64(bytes)/(1<<20))
	}
	if r.Answer != room.LikelyFits || len(r.Limits) != 5 {
		t.Errorf("%s: %v", r.Answer, r.Limits)
	}
}
