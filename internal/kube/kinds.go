package kube

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A row is one kind of object that samples are made of; R is what is kept of an
// object.
type row[R any] struct {
	kind     workload.Kind // that it is a workload of; "" where it is none
	resource string        // as roles, URLs and people spell it
	path     string        // of its API group and version
	// json is true where the answer must be JSON, whatever else the server has.
	json bool
	// name is what a part that is unread is called; "" is the resource.
	name string
	// optional is true where a cluster may do without the kind: a resource that
	// is not found then has no objects.
	optional bool
	// missing is what it means that the resource is not found, in words; "" leaves
	// that to the server's.
	missing string
	// page takes one page apart.
	page func(answer []byte) (page[R], error)
}

// part is what the kind is called where it is unread.
func (r row[R]) part() string { return cmp.Or(r.name, r.resource) }

// Where in the messages of k8s.io/api that stands which no reading looks at, but for
// those that read all of the object: templates, and what finds them.
const (
	metadata, spec, status = 1, 2, 3

	objectName, generateName, namespace, selfLink, uid, version, made, labels, annotations, owners, finalizers, managedFields = 1, 2, 3, 4, 5, 6, 8, 11, 12, 13, 14, 17
)

var (
	left  = keep{none: true}
	ours  = keep{with: []byte("gitlatch.dev/")}                 // annotations that are heeded
	count = keep{in: cut{1: {upTo: workload.Replicas.Names()}}} // whole, it is a fifth of the garbage of a look
	// described is of workloads what their readings leave of the metadata, scaling of
	// what scales them, and owned of those that are found by their owners.
	described = keep{in: cut{generateName: left, selfLink: left, uid: left, version: left, made: left, annotations: ours, finalizers: left, managedFields: {in: cut{3: left, 6: left, 7: count}}}}
	scaling   = keep{in: cut{generateName: left, selfLink: left, uid: left, version: left, made: left, labels: left, annotations: ours, finalizers: left, managedFields: left}}
	owned     = keep{in: cut{objectName: left, generateName: left, namespace: left, selfLink: left, uid: left, version: left, made: left, labels: left, annotations: left, owners: {in: cut{1: left, 3: left, 5: left, 7: left}}, finalizers: left, managedFields: left}}
)

// workloads are the kinds that are sampled beside those that a site names.
var workloads = []row[reading]{
	{kind: workload.Deployment, resource: "deployments", path: "/apis/apps/v1",
		page: builtIn(func(l *appsv1.DeploymentList) []appsv1.Deployment { return l.Items }, readDeployment, cut{metadata: described, spec: {in: cut{2: left, 3: left, 4: left}}, status: {in: cut{6: {with: []byte(appsv1.DeploymentProgressing), in: cut{2: left, 5: left, 6: left, 7: left}}}}})},
	{kind: workload.StatefulSet, resource: "statefulsets", path: "/apis/apps/v1",
		page: builtIn(func(l *appsv1.StatefulSetList) []appsv1.StatefulSet { return l.Items }, readStatefulSet, cut{metadata: described, spec: {in: cut{2: left, 3: left, 4: left}}})},
	{kind: workload.DaemonSet, resource: "daemonsets", path: "/apis/apps/v1",
		page: builtIn(func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }, readDaemonSet, cut{metadata: described, spec: {in: cut{1: left, 2: left}}})},
	{kind: workload.ArgoRollout, resource: "rollouts", path: "/apis/argoproj.io/v1alpha1", optional: true,
		page: custom("RolloutList", readArgoRollout)},
}

// A table is what is listed in each look. What refers to workloads is read by the
// kinds that are sampled.
type table struct {
	workloads []row[reading]
	// promotions say of which workloads another one carries the load.
	promotions row[promotion]
	// autoscalers are the kinds that write the scale of workloads. While one that
	// is not optional is unread no scale is known, since its bounds and what drives
	// it are not.
	autoscalers []row[autoscaler]
}

func tableOf(kinds workload.Kinds) table {
	t := table{
		workloads: slices.Clone(workloads),
		promotions: row[promotion]{resource: "canaries", path: "/apis/flagger.app/v1beta1", optional: true,
			page: custom("CanaryList", func(o *canary) promotion { return readCanary(o, kinds) })},
		autoscalers: []row[autoscaler]{
			{resource: "horizontalpodautoscalers", path: "/apis/autoscaling/v2",
				page: builtIn(func(l *autoscalingv2.HorizontalPodAutoscalerList) []autoscalingv2.HorizontalPodAutoscaler {
					return l.Items
				}, func(h *autoscalingv2.HorizontalPodAutoscaler) autoscaler { return readHPA(h, kinds) }, cut{metadata: scaling, status: {in: cut{2: left, 6: {in: cut{3: left, 5: left}}}}})},
			{resource: "scaledobjects", path: "/apis/keda.sh/v1alpha1", optional: true,
				page: custom("ScaledObjectList", func(o *scaledObject) autoscaler { return readScaledObject(o, kinds) })},
		},
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.workloads = append(t.workloads, namedRow(kind, kinds[kind]))
	}
	return t
}

// requests is how many parts a look asks for at least, the namespace among them.
func (t table) requests() int { return 2 + len(t.workloads) + len(t.autoscalers) }

// replicaSets are the templates of Deployments and Argo Rollouts, controllerRevisions those of
// StatefulSets and DaemonSets, listed only while some are in flight.
var replicaSets = row[replicaSet]{resource: "replicasets", path: "/apis/apps/v1",
	page: builtIn(func(l *appsv1.ReplicaSetList) []appsv1.ReplicaSet { return l.Items }, readReplicaSet, cut{metadata: owned, spec: left, status: left})}

var controllerRevisions = row[revision]{resource: "controllerrevisions", path: "/apis/apps/v1",
	page: builtIn(func(l *appsv1.ControllerRevisionList) []appsv1.ControllerRevision { return l.Items }, readRevision, cut{metadata: owned, 2: left})}
