package kube

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A row is one kind of object that samples are made of; R is what is kept of an
// object.
type row[R any] struct {
	kind     workload.Kind // that it is a workload of; "" where it is none
	resource string        // as roles, URLs and people spell it
	path     string        // of its API group and version
	// optional is true where a cluster may do without the kind: a resource that
	// is not found then has no objects.
	optional bool
	// page decodes one page and returns what is kept of it, and the token that
	// continues the list, "" on the last page.
	page func(rest.Result) (kept []R, next string, err error)
}

// workloads are the kinds that are sampled.
var workloads = []row[reading]{
	{kind: workload.Deployment, resource: "deployments", path: "/apis/apps/v1",
		page: builtIn(func(l *appsv1.DeploymentList) []appsv1.Deployment { return l.Items }, readDeployment)},
	{kind: workload.StatefulSet, resource: "statefulsets", path: "/apis/apps/v1",
		page: builtIn(func(l *appsv1.StatefulSetList) []appsv1.StatefulSet { return l.Items }, readStatefulSet)},
	{kind: workload.DaemonSet, resource: "daemonsets", path: "/apis/apps/v1",
		page: builtIn(func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }, readDaemonSet)},
	{kind: workload.ArgoRollout, resource: "rollouts", path: "/apis/argoproj.io/v1alpha1", optional: true,
		page: custom("RolloutList", readArgoRollout)},
}

// promotions say of which workloads another one carries the load.
var promotions = row[promotion]{resource: "canaries", path: "/apis/flagger.app/v1beta1", optional: true,
	page: custom("CanaryList", readCanary)}

// autoscalers are the kinds that write the scale of workloads. While one that
// is not optional is unread no scale is known, since its bounds and what drives
// it are not.
var autoscalers = []row[autoscaler]{
	{resource: "horizontalpodautoscalers", path: "/apis/autoscaling/v2",
		page: builtIn(func(l *autoscalingv2.HorizontalPodAutoscalerList) []autoscalingv2.HorizontalPodAutoscaler {
			return l.Items
		}, readHPA)},
	{resource: "scaledobjects", path: "/apis/keda.sh/v1alpha1", optional: true,
		page: custom("ScaledObjectList", readScaledObject)},
}

// replicaSets are the templates of Deployments and Argo Rollouts, controllerRevisions those of
// StatefulSets and DaemonSets, listed only while some are in flight.
var replicaSets = row[replicaSet]{resource: "replicasets", path: "/apis/apps/v1",
	page: builtIn(func(l *appsv1.ReplicaSetList) []appsv1.ReplicaSet { return l.Items }, readReplicaSet)}

var controllerRevisions = row[revision]{resource: "controllerrevisions", path: "/apis/apps/v1",
	page: builtIn(func(l *appsv1.ControllerRevisionList) []appsv1.ControllerRevision { return l.Items }, readRevision)}

// kindOf returns the kind that a reference by group and name of the API means;
// ok is false for one that is not sampled.
func kindOf(group, name string) (k workload.Kind, ok bool) {
	for _, k := range workload.Kinds() {
		if o, _ := k.Object(); o.Group == group && o.Kind == name {
			return k, true
		}
	}
	return "", false
}
