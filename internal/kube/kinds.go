package kube

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A row describes how to list one kind of object. R is the reduced form of an object.
type row[R any] struct {
	kind     workload.Kind // the kind of workload; "" for other objects
	resource string        // the plural, as in roles and URLs
	path     string        // the API path of its group and version
	// json requests JSON even if the server supports protobuf.
	json bool
	// name is the name of the part in Fleet.Unread; "" is the resource.
	name string
	// optional means that clusters may not have the kind. If the server does not find the
	// resource, the list is empty.
	optional bool
	// missing is the error if the server does not find the resource; "" uses the server's
	// error.
	missing string
	// page decodes one page.
	page func(answer []byte) (page[R], error)
}

// part returns the name of the kind in Fleet.Unread.
func (r row[R]) part() string { return cmp.Or(r.name, r.resource) }

// Field numbers in messages of k8s.io/api. The cuts below remove the fields that no
// reading uses. They also remove pod templates and selectors, which only a reading of the
// entire object uses.
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
	ours  = keep{with: []byte("gitlatch.dev/")}                 // the annotations of gitlatch
	count = keep{in: cut{1: {upTo: workload.Replicas.Names()}}} // full managed fields are a fifth of the garbage of a sample
	// described cuts the metadata of workloads. scaling cuts the metadata of autoscalers.
	// owned cuts the metadata of ReplicaSets and ControllerRevisions, which are found by
	// their owners.
	described = keep{in: leaving(generateName, selfLink, uid, version, made, finalizers).
			and(annotations, ours).and(managedFields, keep{in: cut{3: left, 6: left, 7: count}})}
	scaling = keep{in: leaving(generateName, selfLink, uid, version, made, labels, finalizers, managedFields).
		and(annotations, ours)}
	owned = keep{in: leaving(objectName, generateName, namespace, selfLink, uid, version, made).
		and(labels, left).and(annotations, left).and(finalizers, left).and(managedFields, left).and(owners, keep{in: leaving(1, 3, 5, 7)})}
	progressing = keep{with: []byte(appsv1.DeploymentProgressing), in: leaving(2, 5, 6, 7)} // only the Progressing condition
)

// workloads are the supported kinds of workload, without the kinds that a site names.
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

// A table has the rows that every sample lists. References to workloads resolve only to
// the kinds of the site.
type table struct {
	workloads []row[reading]
	// promotions lists the Canaries of Flagger. For their targets another workload
	// carries the load.
	promotions row[promotion]
	// autoscalers are the kinds that write the scale of workloads. If a kind that is not
	// optional could not be listed, all scales are unknown, because their drivers and
	// their minimum and maximum replicas are.
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

// requests returns the minimum number of requests of a sample, with the request for the
// namespace.
func (t table) requests() int { return 2 + len(t.workloads) + len(t.autoscalers) }

// replicaSets lists the templates of Deployments and Argo Rollouts. controllerRevisions
// lists the templates of StatefulSets and DaemonSets. A sample lists them only if a
// rollout is in flight.
var replicaSets = row[podTemplate]{resource: "replicasets", path: "/apis/apps/v1",
	page: builtIn(func(l *appsv1.ReplicaSetList) []appsv1.ReplicaSet { return l.Items }, readReplicaSet,
		cut{metadata: owned, spec: left, status: left})}

var controllerRevisions = row[podTemplate]{resource: "controllerrevisions", path: "/apis/apps/v1",
	page: builtIn(func(l *appsv1.ControllerRevisionList) []appsv1.ControllerRevision { return l.Items }, readRevision,
		cut{metadata: owned, 2: left})}
