//go:build cluster

package fit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A fleet is a cluster before its workloads start, in the JSON of scripts/karpenter.
type fleet struct {
	Name          string    `json:"name"`
	Objects       []any     `json:"objects"`
	InstanceTypes []machine `json:"instanceTypes,omitempty"`
	Orders        int       `json:"orders,omitempty"`
	Rounds        int       `json:"rounds,omitempty"` // maximum number of rounds of Karpenter; 0 means unlimited
	tight         bool      // a limit is within one node of the ask
}

// A pool is a Karpenter NodePool.
type pool struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ObjectMeta `json:"metadata"`
	Spec       poolSpec          `json:"spec"`
}

type poolSpec struct {
	Weight   *int32              `json:"weight,omitempty"`
	Limits   corev1.ResourceList `json:"limits,omitempty"`
	Template struct {
		Metadata struct {
			Labels map[string]string `json:"labels,omitempty"`
		} `json:"metadata"`
		Spec struct {
			NodeClassRef map[string]string                `json:"nodeClassRef"`
			Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
			Taints       []corev1.Taint                   `json:"taints,omitempty"`
		} `json:"spec"`
	} `json:"template"`
}

const (
	category     = "karpenter.k8s.aws/instance-category"
	capacityType = "karpenter.sh/capacity-type"
	team         = "example.com/team"
	dedicated    = "dedicated"
)

// A drawing draws one fleet.
type drawing struct {
	*rand.Rand
	f     fleet
	zones []string
	// archs and categories are the values of the instance types.
	archs, categories []string
	// teams and tainted report that a pool or a node group has the label or the taint.
	teams, tainted bool
}

// often reports true in the given percentage of the draws.
func (d *drawing) often(percent int) bool { return d.IntN(100) < percent }

func oneOf[T any](d *drawing, all ...T) T { return all[d.IntN(len(all))] }

// some returns at least one of all, in their order.
func some(d *drawing, all []string) []string {
	kept := slices.DeleteFunc(slices.Clone(all), func(string) bool { return d.IntN(2) == 0 })
	if len(kept) == 0 {
		return all[:1]
	}
	return kept
}

func newDrawing(seed uint64, name string) *drawing {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 30)), f: fleet{Name: name, Orders: 3}}
	d.zones = []string{"a", "b", "c"}[:1+d.IntN(3)]
	return d
}

// karpenterFleet draws a fleet with NodePools that have no limits yet.
func karpenterFleet(seed uint64) fleet {
	d := newDrawing(seed, fmt.Sprintf("karpenter-%d", seed))
	d.f.InstanceTypes = machines(d.Rand, d.zones)
	d.archs, d.categories = d.values(corev1.LabelArchStable), d.values(category)
	for i := range 1 + d.IntN(3) {
		d.pool(i)
	}
	if d.often(30) {
		m := oneOf(d, d.f.InstanceTypes...)
		for i := range 1 + d.IntN(3) {
			d.f.Objects = append(d.f.Objects, m.node(fmt.Sprintf("node-%d", i), m.Offerings[i%len(m.Offerings)].Zone))
		}
	}
	d.load(10, 120)
	return d.f
}

// values returns the values of a label of the instance types, sorted.
func (d *drawing) values(label string) (all []string) {
	for _, m := range d.f.InstanceTypes {
		all = append(all, m.Labels[label])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pool draws a NodePool without limits.
func (d *drawing) pool(i int) {
	p := &pool{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Metadata: metav1.ObjectMeta{Name: fmt.Sprintf("pool-%d", i)}}
	if d.often(50) {
		p.Spec.Weight = new(int32(1 + d.IntN(100)))
	}
	spec := &p.Spec.Template.Spec
	spec.NodeClassRef = map[string]string{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
	in := func(key string, values ...string) {
		spec.Requirements = append(spec.Requirements, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values})
	}
	in(corev1.LabelOSStable, "linux")
	in(capacityType, some(d, []string{"on-demand", "spot"})...)
	if d.often(40) {
		in(corev1.LabelArchStable, some(d, d.archs)...)
	}
	if d.often(20) {
		in(corev1.LabelTopologyZone, some(d, d.zones)...)
	}
	switch d.IntN(8) {
	case 0, 1:
		in(category, some(d, d.categories)...)
	case 2, 3:
		in(corev1.LabelInstanceTypeStable, oneOf(d, d.f.InstanceTypes...).Name)
	case 4:
		spec.Requirements = append(spec.Requirements, corev1.NodeSelectorRequirement{
			Key: "karpenter.k8s.aws/instance-cpu", Operator: oneOf(d, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt), Values: []string{oneOf(d, "3", "7", "9")}})
	}
	if d.often(25) {
		p.Spec.Template.Metadata.Labels = map[string]string{team: "red"}
		d.teams = true
	}
	if d.often(20) {
		spec.Taints = []corev1.Taint{{Key: dedicated, Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
		d.tainted = true
	}
	d.f.Objects = append(d.f.Objects, p)
}

// load draws the DaemonSets and the workloads: at most the given number, and about the
// given number of pods.
func (d *drawing) load(workloads, pods int) {
	for i := range d.IntN(4) {
		d.daemons(i)
	}
	for i := range 1 + d.IntN(workloads) {
		if pods <= 0 {
			return
		}
		replicas := 1 + d.IntN(oneOf(d, 3, 10, 30))
		pods -= replicas
		d.workload(i, int32(replicas))
	}
}

func (d *drawing) daemons(i int) {
	ds := &appsv1.DaemonSet{}
	ds.APIVersion, ds.Kind, ds.Name, ds.Namespace = "apps/v1", "DaemonSet", fmt.Sprintf("agent-%d", i), "kube-system"
	labels := map[string]string{"app": ds.Name}
	ds.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	ds.Spec.Template.Labels = labels
	ds.Spec.Template.Spec.PriorityClassName = "system-node-critical"
	ds.Spec.Template.Spec.Containers = []corev1.Container{container(int64(oneOf(d, 0, 25, 100, 300)), int64(oneOf(d, 0, 64, 200, 512))<<20)}
	if d.often(60) {
		ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	if d.often(20) {
		ds.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: oneOf(d, "amd64", "arm64")}
	}
	d.f.Objects = append(d.f.Objects, ds)
}

func container(milliCPU, memory int64) corev1.Container {
	c := corev1.Container{Name: "main", Image: "main:1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}
	if milliCPU > 0 {
		c.Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(milliCPU, resource.DecimalSI)
	}
	if memory > 0 {
		c.Resources.Requests[corev1.ResourceMemory] = *resource.NewQuantity(memory, resource.BinarySI)
	}
	return c
}

// workload draws a Deployment or a StatefulSet.
func (d *drawing) workload(i int, replicas int32) {
	name := fmt.Sprintf("app-%d", i)
	meta := metav1.ObjectMeta{Name: name, Namespace: oneOf(d, "shop", "pay")}
	labels := map[string]string{"app": name}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	template.Spec.Containers = []corev1.Container{container(
		int64(oneOf(d, 0, 50, 100, 250, 500, 500, 750, 1000, 1000, 1500, 2000, 3500, 7000, 15500)),
		int64(oneOf(d, 64, 128, 256, 512, 1024, 1024, 2048, 4096, 6000, 14000))<<20)}
	if d.often(8) {
		template.Spec.InitContainers = []corev1.Container{container(int64(oneOf(d, 500, 3000)), 128<<20)}
		template.Spec.InitContainers[0].Name = "init"
	}
	if d.often(10) {
		template.Spec.Containers[0].Resources.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse(oneOf(d, "1Gi", "5Gi", "9Gi"))
	}
	d.placement(&template, &metav1.LabelSelector{MatchLabels: labels})
	if d.often(25) {
		s := &appsv1.StatefulSet{ObjectMeta: meta}
		s.APIVersion, s.Kind, s.Spec.Replicas, s.Spec.Template = "apps/v1", "StatefulSet", &replicas, template
		s.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		d.f.Objects = append(d.f.Objects, s)
		return
	}
	w := &appsv1.Deployment{ObjectMeta: meta}
	w.APIVersion, w.Kind, w.Spec.Replicas, w.Spec.Template = "apps/v1", "Deployment", &replicas, template
	w.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.f.Objects = append(d.f.Objects, w)
}

// placement draws the constraints of a pod. own selects the pods of the same workload.
func (d *drawing) placement(template *corev1.PodTemplateSpec, own *metav1.LabelSelector) {
	spec := &template.Spec
	spec.NodeSelector = map[string]string{}
	if d.often(25) {
		spec.NodeSelector[corev1.LabelArchStable] = oneOf(d, d.archs...)
	}
	if d.often(10) {
		spec.NodeSelector[corev1.LabelTopologyZone] = oneOf(d, d.zones...)
	}
	if d.f.InstanceTypes != nil && d.often(8) {
		spec.NodeSelector[category] = oneOf(d, d.categories...)
	}
	if d.teams && d.often(15) {
		spec.NodeSelector[team] = "red"
	}
	if d.tainted && d.often(40) {
		spec.Tolerations = []corev1.Toleration{{Key: dedicated, Operator: corev1.TolerationOpExists}}
	}
	affinity := &corev1.Affinity{}
	if d.often(10) {
		terms := &corev1.NodeSelector{NodeSelectorTerms: d.terms()}
		affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
	key := oneOf(d, corev1.LabelHostname, corev1.LabelHostname, corev1.LabelTopologyZone)
	apart := corev1.PodAffinityTerm{LabelSelector: own, TopologyKey: key}
	switch n := d.IntN(100); {
	case n < 20:
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{apart}}
	case n < 27:
		soft := corev1.WeightedPodAffinityTerm{Weight: 100, PodAffinityTerm: apart}
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{soft}}
	}
	if *affinity != (corev1.Affinity{}) {
		spec.Affinity = affinity
	}
	if d.often(25) {
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, d.spread(corev1.LabelTopologyZone, own))
	}
	if d.often(12) {
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, d.spread(corev1.LabelHostname, own))
	}
}

// terms draws one or two node selector terms.
func (d *drawing) terms() (all []corev1.NodeSelectorTerm) {
	for range 1 + d.IntN(2) {
		all = append(all, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{oneOf(d,
			corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"a"}},
			corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: some(d, d.zones)},
			corev1.NodeSelectorRequirement{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}},
			corev1.NodeSelectorRequirement{Key: team, Operator: corev1.NodeSelectorOpDoesNotExist},
			corev1.NodeSelectorRequirement{Key: team, Operator: corev1.NodeSelectorOpExists},
			corev1.NodeSelectorRequirement{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"m6i.4xlarge", "c7g.large"}},
		)}})
	}
	return all
}

func (d *drawing) spread(key string, own *metav1.LabelSelector) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: oneOf[int32](d, 1, 1, 2, 5), TopologyKey: key, LabelSelector: own,
		WhenUnsatisfiable: oneOf(d, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway),
	}
}

// workloadOf returns the ID of a workload, as the oracles print it, its replicas and its
// pods. The ID of another object is empty.
func workloadOf(object any) (id string, replicas int32, template corev1.PodTemplateSpec) {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return "Deployment/" + o.Namespace + "/" + o.Name, *o.Spec.Replicas, o.Spec.Template
	case *appsv1.StatefulSet:
		return "StatefulSet/" + o.Namespace + "/" + o.Name, *o.Spec.Replicas, o.Spec.Template
	}
	return "", 0, corev1.PodTemplateSpec{}
}
