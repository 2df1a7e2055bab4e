//go:build cluster

package fit

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodesFleet draws a fleet without Karpenter: two node groups at most, within one node of
// the least number that has the CPU, the memory and the pods of the ask.
func nodesFleet(seed uint64) fleet {
	d := newDrawing(seed, fmt.Sprintf("nodes-%d", seed))
	all := machines(d.Rand, d.zones)
	kinds := []machine{oneOf(d, all...)}
	if d.often(30) {
		kinds = append(kinds, oneOf(d, all...))
	}
	for _, m := range kinds {
		d.archs = append(d.archs, m.Labels[corev1.LabelArchStable])
	}
	labels := map[string]string{}
	var taints []corev1.Taint
	if d.often(25) {
		labels[team], d.teams = "red", true
	}
	if len(kinds) > 1 && d.often(40) {
		taints, d.tainted = []corev1.Taint{{Key: dedicated, Value: "batch", Effect: corev1.TaintEffectNoSchedule}}, true
	}
	d.load(6, 40)
	count := max(1, d.least(kinds[0])+d.IntN(3)-1)
	d.f.tight = true
	for i := range count {
		k := i % len(kinds)
		n := kinds[k].node(fmt.Sprintf("node-%d", i), d.zones[i%len(d.zones)])
		if k == len(kinds)-1 {
			n.Spec.Taints = taints
			for key, value := range labels {
				n.Labels[key] = value
			}
		}
		d.f.Objects = append(d.f.Objects, n)
	}
	if d.often(20) {
		d.quota()
	}
	return d.f
}

// sum returns the requests of the pods in a namespace; "" is every namespace.
func (d *drawing) sum(namespace string) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, object := range d.f.Objects {
		id, replicas, template := workloadOf(object)
		if id == "" || namespace != "" && namespace != strings.Split(id, "/")[1] {
			continue
		}
		for name, amount := range requests(template) {
			total := sum[name]
			amount.Mul(int64(replicas))
			total.Add(amount)
			sum[name] = total
		}
	}
	return sum
}

// least returns the number of nodes of a kind that take all pods, the largest first, each
// on the first node with room. It removes workloads with pods that no such node takes.
func (d *drawing) least(kind machine) int {
	room := kind.Allocatable.DeepCopy()
	var pods []corev1.ResourceList
	keep := func(object any) bool {
		_, replicas, template := workloadOf(object)
		for range replicas {
			pods = append(pods, requests(template))
		}
		return replicas == 0 || fits(requests(template), room)
	}
	for _, object := range d.f.Objects {
		if daemon, is := object.(*appsv1.DaemonSet); is {
			take(room, requests(daemon.Spec.Template))
		}
	}
	d.f.Objects = slices.DeleteFunc(d.f.Objects, func(object any) bool { return !keep(object) && d.often(90) })
	slices.SortStableFunc(pods, func(a, b corev1.ResourceList) int { return b.Cpu().Cmp(*a.Cpu()) })
	var nodes []corev1.ResourceList
	for _, pod := range pods {
		if !fits(pod, room) {
			continue
		}
		i := slices.IndexFunc(nodes, func(left corev1.ResourceList) bool { return fits(pod, left) })
		if i < 0 {
			i = len(nodes)
			nodes = append(nodes, room.DeepCopy())
		}
		take(nodes[i], pod)
	}
	return len(nodes)
}

// requests returns the requests of a pod, without its init containers.
func requests(template corev1.PodTemplateSpec) corev1.ResourceList {
	all := template.Spec.Containers[0].Resources.Requests.DeepCopy()
	all[corev1.ResourcePods] = resource.MustParse("1")
	return all
}

func fits(pod, room corev1.ResourceList) bool {
	for name, amount := range pod {
		if left := room[name]; amount.Cmp(left) > 0 {
			return false
		}
	}
	return true
}

func take(room, pod corev1.ResourceList) {
	for name, amount := range pod {
		left := room[name]
		left.Sub(amount)
		room[name] = left
	}
}

// quota draws a ResourceQuota near the requests of its namespace.
func (d *drawing) quota() {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "quota", Namespace: "shop"}}
	q.APIVersion, q.Kind = "v1", "ResourceQuota"
	name := oneOf(d, corev1.ResourcePods, corev1.ResourcePods, corev1.ResourceMemory)
	amount := d.sum("shop")[name]
	if amount.IsZero() {
		return
	}
	hard := amount.Value() + oneOf[int64](d, -1, 0, 1)
	if name == corev1.ResourceMemory {
		name = corev1.ResourceRequestsMemory
	}
	q.Spec.Hard = corev1.ResourceList{name: *resource.NewQuantity(max(hard, 0), amount.Format)}
	d.f.Objects = slices.Insert(d.f.Objects, 0, any(q))
}
