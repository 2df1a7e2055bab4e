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

	objectName    = 1
	generateName  = 2
	namespace     = 3
	selfLink      = 4
	uid           = 5
	version       = 6
	made          = 8
	labels        = 11
	annotations   = 12
	owners        = 13
	finalizers    = 14
	managedFields = 17
)

var (
	left  = keep{none: true}
	ours  = keep{with: []byte("gitlatch.dev/")}                 // annotations that are heeded
	count = keep{in: cut{1: {upTo: workload.Replicas.Names()}}} // whole, it is a fifth of the garbage of a look
	// described is of workloads what their readings leave of the metadata, scaling of
	// what scales them, and owned of those that are found by their owners.
	described = keep{in: leaving(generateName, selfLink, uid, version, made, finalizers).
			and(annotations, ours).and(managedFields, keep{in: cut{3: left, 6: left, 7: count}})}
	scaling = keep{in: leaving(generateName, selfLink, uid, version, made, labels, finalizers, managedFields).
		and(annotations, ours)}
	owned = keep{in: leaving(objectName, generateName, namespace, selfLink, uid, version, made).
		and(labels, left).and(annotations, left).and(finalizers, left).and(managedFields, left).and(owners, keep{in: leaving(1, 3, 5, 7)})}
	progressing = keep{with: []byte(appsv1.DeploymentProgressing), in: leaving(2, 5, 6, 7)} // the condition
)

// workloads are the kinds that are sampled beside those that a site names.
var workloads = []row[reading]{
	{kind: workload.Deployment, resource: "deployments", path: "/apis/apps/v1",
		page: builtIn(func(l *appsv1.DeploymentList) []appsv1.Deployment { return l.Items }, readDeployment,
			cut{metadata: described, spec: {in: leaving(2, 3, 4)}, status: {in: cut{6: progressing}}})},
	{kind: workload.StatefulSet, resource: "statefulsets", path: "/apis/apps/v1",
		page: builtIn(func(l *appsv1.StatefulSetList) []appsv1.StatefulSet { return l.Items }, readStatefulSet,
			cut{metadata: described, spec: {in: leaving(2, 3, 4)}})},
	{kind: workload.DaemonSet, resource: "daemonsets", path: "/apis/apps/v1",
		page: builtIn(func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }, readDaemonSet,
			cut{metadata: described, spec: {in: leaving(1, 2)}})},
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
				page: builtIn(
					func(l *autoscalingv2.HorizontalPodAutoscalerList) []autoscalingv2.HorizontalPodAutoscaler {
						return l.Items
					},
					func(h *autoscalingv2.HorizontalPodAutoscaler) autoscaler { return readHPA(h, kinds) },
					cut{metadata: scaling, status: {in: cut{2: left, 6: {in: leaving(3, 5)}}}})},
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
var replicaSets = row[podTemplate]{resource: "replicasets", path: "/apis/apps/v1",
	page: builtIn(func(l *appsv1.ReplicaSetList) []appsv1.ReplicaSet { return l.Items }, readReplicaSet,
		cut{metadata: owned, spec: left, status: left})}

var controllerRevisions = row[podTemplate]{resource: "controllerrevisions", path: "/apis/apps/v1",
	page: builtIn(func(l *appsv1.ControllerRevisionList) []appsv1.ControllerRevision { return l.Items }, readRevision,
		cut{metadata: owned, 2: left})}
