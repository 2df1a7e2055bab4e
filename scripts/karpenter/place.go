package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	provisioner "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// A Run is the end of a fleet in one order of its pods.
type Run struct {
	Rounds  int       `json:"rounds"`
	Nodes   []Node    `json:"nodes,omitempty"`   // those that Karpenter launched
	Placed  int       `json:"placed"`            // pods with a node
	Pending []Pending `json:"pending,omitempty"` // workloads that have pods without a node
	// Objects are the nodes that Karpenter launched, after their registration.
	Objects []*corev1.Node `json:"objects,omitempty"`
}

// A Node is one that Karpenter launched.
type Node struct {
	Pool string `json:"pool"`
	Type string `json:"type"`
	Zone string `json:"zone"`
	Pods int    `json:"pods"` // the pods that Karpenter launched it for
}

// Pending is a workload with pods that have no node.
type Pending struct {
	Workload string `json:"workload"`
	Pods     int    `json:"pods"`
	Why      string `json:"why,omitempty"` // Karpenter's error of one of the pods
}

// A site is a fleet in one order, as Karpenter sees it.
type site struct {
	client  client.Client
	cloud   cloud
	cluster *state.Cluster
	order   *rand.Rand
	nodes   []Node
	objects []*corev1.Node
}

// quiet discards Karpenter's events.
type quiet struct{}

func (quiet) Publish(...events.Event) {}

// patience is the number of rounds without a placed pod after which a run ends. Karpenter
// repeats a schedule forever, and it draws among equal topology domains, so that a round
// can place a pod that the round before could not.
const patience = 32

// place runs rounds until no more pods can be placed.
func place(ctx context.Context, fleet Fleet, order uint64) (Run, error) {
	draw := rand.New(rand.NewPCG(order, 30))
	objects, workloads, err := fleet.read(draw)
	if err != nil {
		return Run{}, err
	}
	s := site{cloud: newCloud(fleet.InstanceTypes), order: draw}
	s.client = server(objects, workloads, draw)
	s.cluster = state.NewCluster(clock.RealClock{}, s.client, s.cloud)
	err = s.register(ctx, objects)
	if err != nil {
		return Run{}, err
	}
	provision := provisioning.NewProvisioner(s.client, quiet{}, s.cloud, s.cluster, clock.RealClock{}, nil, nil)
	for rounds, idle := 1, 0; ; rounds++ {
		results, err := provision.Schedule(ctx)
		if err != nil {
			return Run{}, err
		}
		placed, err := s.launch(ctx, provision, results)
		if err != nil {
			return Run{}, err
		}
		idle++
		if placed > 0 {
			idle = 0
		}
		if len(results.PodErrors) == 0 && placed == 0 || idle == patience || idle == 0 && fleet.Rounds > 0 && rounds >= fleet.Rounds {
			return s.end(ctx, workloads, results, rounds)
		}
	}
}

// server returns a client of an API server with the objects and the pods. It draws the
// names of new objects.
func server(objects []client.Object, workloads []workload, draw *rand.Rand) client.Client {
	named := func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		if o.GetName() == "" {
			o.SetName(fmt.Sprintf("%s%08x", o.GetGenerateName(), draw.Uint32()))
		}
		return c.Create(ctx, o, opts...)
	}
	node := func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }
	decoder := serializer.NewCodecFactory(scheme.Scheme).UniversalDecoder()
	builder := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).
		WithObjectTracker(testing.NewObjectTracker(scheme.Scheme, decoder)). // without managed fields, which take half of the time
		WithIndex(&corev1.Pod{}, "spec.nodeName", node).
		WithInterceptorFuncs(interceptor.Funcs{Create: named})
	for _, w := range workloads {
		for _, pod := range w.pods {
			builder.WithObjects(pod)
		}
	}
	return builder.Build()
}

// register adds the nodes and the bound pods of the fleet to Karpenter's state.
func (s *site) register(ctx context.Context, objects []client.Object) error {
	for _, object := range objects {
		node, is := object.(*corev1.Node)
		if !is {
			continue
		}
		err := s.cluster.UpdateNode(ctx, node)
		if err != nil {
			return err
		}
	}
	for _, object := range objects {
		pod, is := object.(*corev1.Pod)
		if !is {
			continue
		}
		err := s.cluster.UpdatePod(ctx, pod)
		if err != nil {
			return err
		}
	}
	return nil
}

// launch launches the NodeClaims of a round, binds the pods that have a node now, and
// returns their number. Each NodeClaim that would exceed a limit fails, as in production.
func (s *site) launch(ctx context.Context, provision *provisioning.Provisioner, results provisioner.Results) (placed int, err error) {
	for _, existing := range results.ExistingNodes {
		err = s.bind(ctx, existing.Name(), existing.Pods)
		if err != nil {
			return 0, err
		}
		placed += len(existing.Pods)
	}
	var launched []*karpenter.NodeClaim
	var nodes []*corev1.Node
	var pods [][]*corev1.Pod
	for _, wanted := range results.NewNodeClaims {
		name, err := provision.Create(ctx, wanted)
		if err != nil && strings.Contains(err.Error(), "exceeds limit") {
			continue
		}
		if err != nil {
			return 0, err
		}
		claim, node, err := s.machine(ctx, name, len(wanted.Pods))
		if err != nil {
			return 0, err
		}
		launched, nodes, pods = append(launched, claim), append(nodes, node), append(pods, wanted.Pods)
	}
	for i, node := range nodes {
		s.objects = append(s.objects, node)
		err = s.client.Create(ctx, node.DeepCopy())
		if err != nil {
			return 0, err
		}
		s.cluster.UpdateNodeClaim(launched[i])
		err = s.cluster.UpdateNode(ctx, node)
		if err != nil {
			return 0, err
		}
		err = s.bind(ctx, node.Name, pods[i])
		if err != nil {
			return 0, err
		}
		placed += len(pods[i])
	}
	return placed, nil
}

// machine launches the cheapest machine of a NodeClaim, and returns the NodeClaim and the
// node after the registration.
func (s *site) machine(ctx context.Context, name string, pods int) (*karpenter.NodeClaim, *corev1.Node, error) {
	claim := &karpenter.NodeClaim{}
	err := s.client.Get(ctx, types.NamespacedName{Name: name}, claim)
	if err != nil {
		return nil, nil, err
	}
	kind, offering := s.cloud.cheapest(scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...), s.order)
	if kind == nil {
		return nil, nil, fmt.Errorf("NodeClaim %s has no offering", name)
	}
	labels := maps.Clone(claim.Labels)
	for _, known := range []scheduling.Requirements{kind.Requirements, offering.Requirements} {
		for key, requirement := range known {
			if requirement.Operator() == corev1.NodeSelectorOpIn && requirement.Len() == 1 {
				labels[key] = requirement.Any()
			}
		}
	}
	labels[karpenter.NodeRegisteredLabelKey] = "true"
	labels[karpenter.NodeInitializedLabelKey] = "true"
	claim.Labels = maps.Clone(labels)
	claim.Status.ProviderID = "aws:///" + name
	claim.Status.NodeName = name
	claim.Status.Capacity, claim.Status.Allocatable = kind.Capacity, kind.Allocatable()
	labels[corev1.LabelHostname] = name
	s.nodes = append(s.nodes, Node{Pool: labels[karpenter.NodePoolLabelKey], Type: kind.Name, Zone: offering.Zone(), Pods: pods})
	return claim, machineNode(claim, labels, kind), nil
}

func machineNode(claim *karpenter.NodeClaim, labels map[string]string, kind *cloudprovider.InstanceType) *corev1.Node {
	return &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Labels: labels},
		Spec:       corev1.NodeSpec{ProviderID: claim.Status.ProviderID, Taints: claim.Spec.Taints},
		Status:     corev1.NodeStatus{Capacity: kind.Capacity, Allocatable: kind.Allocatable()},
	}
}

// bind gives pods their node, as kube-scheduler does.
func (s *site) bind(ctx context.Context, node string, pods []*corev1.Pod) error {
	for _, p := range pods {
		pod := &corev1.Pod{}
		err := s.client.Get(ctx, client.ObjectKeyFromObject(p), pod)
		if err != nil {
			return err
		}
		pod.Spec.NodeName = node
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
		err = s.client.Update(ctx, pod)
		if err != nil {
			return err
		}
		err = s.cluster.UpdatePod(ctx, pod)
		if err != nil {
			return err
		}
	}
	return nil
}

// end returns the pods that have no node.
func (s *site) end(ctx context.Context, workloads []workload, last provisioner.Results, rounds int) (Run, error) {
	run := Run{Rounds: rounds, Nodes: s.nodes, Objects: s.objects}
	why := map[types.NamespacedName]error{}
	for pod, err := range last.PodErrors {
		why[client.ObjectKeyFromObject(pod)] = err
	}
	for _, w := range workloads {
		waits := Pending{Workload: w.id}
		for _, p := range w.pods {
			pod := &corev1.Pod{}
			err := s.client.Get(ctx, client.ObjectKeyFromObject(p), pod)
			if err != nil {
				return Run{}, err
			}
			if pod.Spec.NodeName != "" {
				run.Placed++
				continue
			}
			waits.Pods++
			if reason := why[client.ObjectKeyFromObject(p)]; reason != nil {
				waits.Why = reason.Error()
			}
		}
		if waits.Pods > 0 {
			run.Pending = append(run.Pending, waits)
		}
	}
	return run, nil
}
