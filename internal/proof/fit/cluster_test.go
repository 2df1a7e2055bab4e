//go:build cluster

package fit

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// settles bounds the time in which kube-scheduler places a fleet.
const settles = 4 * time.Minute

// A cluster is a real control plane whose kube-scheduler places fleets on nodes of kwok.
type cluster struct {
	*controlplane.ControlPlane
	metrics  string // of kube-scheduler
	launched *atomic.Int64
}

func startCluster(t *testing.T) cluster {
	t.Helper()
	_, port, _ := strings.Cut(controlplane.Ports(t, 1)[0], ":")
	c := cluster{metrics: "https://127.0.0.1:" + port + "/metrics", launched: &atomic.Int64{}}
	c.ControlPlane = controlplane.Start(t, controlplane.Options{SchedulerFlags: []string{
		"--bind-address=127.0.0.1", "--secure-port=" + port, "--authorization-always-allow-paths=/metrics",
	}})
	c.Kubectl(t, "", "create", "namespace", "shop")
	c.Kubectl(t, "", "create", "namespace", "pay")
	return c
}

// place places a fleet twice, with its workloads in both orders, and removes it again.
func (c cluster) place(t *testing.T, f fleet) answer {
	t.Helper()
	a := answer{Name: f.Name}
	for range 2 {
		f.Objects = slices.Clone(f.Objects)
		slices.Reverse(f.Objects)
		a.Runs = append(a.Runs, c.start(t, f))
		c.stop(t)
	}
	return a
}

// start creates a fleet and lets it grow.
func (c cluster) start(t *testing.T, f fleet) run {
	t.Helper()
	nodes, others, workloads := f.parts()
	for _, objects := range [][]any{nodes, others} {
		c.create(t, objects)
		c.settle(t, nil)
	}
	c.create(t, workloads)
	return c.grow(t, f)
}

// parts returns the nodes, the workloads, and the other objects without the NodePools.
func (f fleet) parts() (nodes, others, workloads []any) {
	for _, object := range f.Objects {
		switch object.(type) {
		case *pool:
		case *corev1.Node:
			nodes = append(nodes, object)
		case *appsv1.Deployment, *appsv1.StatefulSet:
			workloads = append(workloads, object)
		default:
			others = append(others, object)
		}
	}
	return nodes, others, workloads
}

// grow waits until kube-scheduler has placed a fleet. If the fleet has NodePools, Karpenter
// adds nodes in rounds, each time for the pods that still have no node.
func (c cluster) grow(t *testing.T, f fleet) run {
	t.Helper()
	_, _, workloads := f.parts()
	for {
		r := c.settle(t, workloads)
		if f.pools() == nil || r.Pending == nil {
			return r
		}
		var added []any
		for _, n := range c.karpenter(t, f) {
			n.Name = fmt.Sprintf("karpenter-%d", c.launched.Add(1))
			n.Spec.ProviderID, n.Labels[corev1.LabelHostname] = "aws:///"+n.Name, n.Name
			added = append(added, n)
		}
		if added == nil {
			return r
		}
		c.create(t, added)
	}
}

// pools returns the NodePools.
func (f fleet) pools() []any {
	return slices.DeleteFunc(slices.Clone(f.Objects), func(object any) bool { _, is := object.(*pool); return !is })
}

// karpenter returns the nodes that Karpenter launches in one round.
func (c cluster) karpenter(t *testing.T, f fleet) []*corev1.Node {
	t.Helper()
	v, err := c.view(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := fleet{Name: f.Name, InstanceTypes: f.InstanceTypes, Objects: f.pools(), Rounds: 1}
	for i := range v.daemons.Items {
		v.daemons.Items[i].APIVersion, v.daemons.Items[i].Kind = "apps/v1", "DaemonSet"
		now.Objects = append(now.Objects, v.daemons.Items[i])
	}
	for i := range v.nodes.Items {
		v.nodes.Items[i].APIVersion, v.nodes.Items[i].Kind = "v1", "Node"
		now.Objects = append(now.Objects, v.nodes.Items[i])
	}
	for i := range v.pods.Items {
		v.pods.Items[i].APIVersion, v.pods.Items[i].Kind = "v1", "Pod"
		now.Objects = append(now.Objects, v.pods.Items[i])
	}
	return karpenter(t, []fleet{now})[0].Runs[0].Objects
}

// stop removes the fleet, except its NodePools.
func (c cluster) stop(t *testing.T) {
	t.Helper()
	c.Kubectl(t, "", "delete", "deployments,statefulsets,daemonsets,resourcequotas", "--all", "--all-namespaces")
	c.Kubectl(t, "", "wait", "--for=delete", "pods", "--all", "--all-namespaces", "--timeout=180s")
	c.Kubectl(t, "", "delete", "nodes", "--all")
}

func (c cluster) create(t *testing.T, objects []any) {
	t.Helper()
	if objects == nil {
		return
	}
	items, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		t.Fatal(err)
	}
	c.Kubectl(t, string(items), "create", "-f", "-")
}

// settle waits until the controllers have created the pods, as far as the quotas allow it,
// and kube-scheduler has nothing left to try. It returns where the pods are.
func (c cluster) settle(t *testing.T, workloads []any) (r run) {
	t.Helper()
	calm, last := 0, error(nil)
	err := controlplane.Eventually(t.Context(), settles, func(ctx context.Context) error {
		v, err := c.view(ctx)
		if err == nil {
			err = v.moves()
		}
		if err == nil {
			r, err = v.count(workloads)
		}
		calm++
		if err != nil {
			calm = 0
			if ctx.Err() == nil {
				last = err
			}
		} else if calm < 3 { // an event may be on its way to kube-scheduler
			err = errors.New("the cluster is calm since a moment ago")
		}
		return err
	})
	if err != nil {
		t.Fatalf("place the fleet: %v, %v", err, last)
	}
	return r
}

// A view is the state of a cluster.
type view struct {
	nodes   corev1.NodeList
	pods    corev1.PodList
	sets    appsv1.ReplicaSetList
	daemons appsv1.DaemonSetList
	quotas  corev1.ResourceQuotaList
	queue   map[string]int // pods in each queue of kube-scheduler
}

func (c cluster) view(ctx context.Context) (v view, err error) {
	v.queue, err = c.queue(ctx)
	return v, errors.Join(err,
		c.Read(ctx, "/api/v1/nodes", &v.nodes),
		c.Read(ctx, "/api/v1/pods", &v.pods),
		c.Read(ctx, "/api/v1/resourcequotas", &v.quotas),
		c.Read(ctx, "/apis/apps/v1/replicasets", &v.sets),
		c.Read(ctx, "/apis/apps/v1/daemonsets", &v.daemons))
}

// moves returns an error if a controller or kube-scheduler has more to do.
func (v view) moves() error {
	for _, n := range v.nodes.Items {
		for _, taint := range n.Spec.Taints {
			if strings.HasPrefix(taint.Key, "node.kubernetes.io/") {
				return fmt.Errorf("node %s has the taint %s", n.Name, taint.Key)
			}
		}
	}
	for _, d := range v.daemons.Items {
		if d.Status.ObservedGeneration == 0 || d.Status.CurrentNumberScheduled != d.Status.DesiredNumberScheduled {
			return fmt.Errorf("DaemonSet %s has not all pods", d.Name)
		}
	}
	waiting, why := 0, ""
	for _, pod := range v.pods.Items {
		switch {
		case pod.DeletionTimestamp != nil:
			return fmt.Errorf("pod %s ends", pod.Name)
		case pod.Spec.NodeName != "":
		case pod.Status.NominatedNodeName != "":
			return fmt.Errorf("pod %s waits for the end of others", pod.Name)
		case unschedulable(pod) == "":
			return fmt.Errorf("kube-scheduler has not tried pod %s", pod.Name)
		default:
			waiting, why = waiting+1, pod.Name+": "+unschedulable(pod)
		}
	}
	if waiting == 0 || len(v.nodes.Items) == 0 { // without nodes, kube-scheduler tries again and again
		return nil
	}
	if v.queue["active"] > 0 || v.queue["backoff"] > 0 || v.queue["unschedulable"] != waiting {
		return fmt.Errorf("%d pods have no node, and the queues of kube-scheduler are %v: %s", waiting, v.queue, why)
	}
	return nil
}

// count returns the workloads with pods that have no node, or that a quota keeps from
// being created. It returns an error if a pod can still be created.
func (v view) count(workloads []any) (r run, err error) {
	owners := map[string]string{}
	for _, set := range v.sets.Items {
		owners["ReplicaSet/"+set.Namespace+"/"+set.Name] = "Deployment/" + set.Namespace + "/" + metav1.GetControllerOf(&set).Name
	}
	bound, created, why := map[string]int{}, map[string]int{}, map[string]string{}
	for _, pod := range v.pods.Items {
		owner := metav1.GetControllerOf(&pod)
		id := owner.Kind + "/" + pod.Namespace + "/" + owner.Name
		id = cmp.Or(owners[id], id)
		created[id]++
		if pod.Spec.NodeName != "" {
			bound[id]++
		} else {
			why[id] = unschedulable(pod)
		}
	}
	for _, object := range workloads {
		id, replicas, template := workloadOf(object)
		r.Placed += bound[id]
		if created[id] < int(replicas) && !v.full(id, template) {
			return run{}, fmt.Errorf("%s has %d of %d pods", id, created[id], replicas)
		}
		if bound[id] < int(replicas) {
			r.Pending = append(r.Pending, pending{Workload: id, Pods: int(replicas) - bound[id], Why: cmp.Or(why[id], "ResourceQuota")})
		}
	}
	return r, nil
}

// full reports whether a quota has no room for a further pod of a workload.
func (v view) full(id string, template corev1.PodTemplateSpec) bool {
	for _, q := range v.quotas.Items {
		if q.Namespace != strings.Split(id, "/")[1] {
			continue
		}
		for name, hard := range q.Status.Hard {
			used := q.Status.Used[name]
			switch name {
			case corev1.ResourcePods:
				used.Add(resource.MustParse("1"))
			case corev1.ResourceRequestsMemory:
				used.Add(template.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory])
			}
			if used.Cmp(hard) > 0 {
				return true
			}
		}
	}
	return false
}

func unschedulable(pod corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable {
			return condition.Message
		}
	}
	return ""
}

var queued = regexp.MustCompile(`scheduler_pending_pods\{queue="([a-z]+)"\} ([0-9.e+]+)`)

// queue returns the number of pods in each queue of kube-scheduler.
func (c cluster) queue(ctx context.Context) (map[string]int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.metrics, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("metrics of kube-scheduler: %s %w", response.Status, err)
	}
	all := map[string]int{}
	for _, found := range queued.FindAllStringSubmatch(string(text), -1) {
		count, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			return nil, err
		}
		all[found[1]] = int(count)
	}
	return all, nil
}
