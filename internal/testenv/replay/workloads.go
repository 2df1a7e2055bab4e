package replay

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// each makes an object of every workload of a kind.
func each(t *traces.Trace, kind workload.Kind, of func(i int, w traces.Workload) runtime.Object) []runtime.Object {
	var all []runtime.Object
	for i, w := range t.Workloads {
		if w.ID.Kind == kind {
			all = append(all, of(i, w))
		}
	}
	return all
}

func kubeSystem() *corev1.Namespace {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: uid("kube-system")}}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	ns.Status.Phase = corev1.NamespaceActive
	return ns
}

func deployments(t *traces.Trace, at time.Duration) []runtime.Object {
	return each(t, workload.Deployment, func(i int, w traces.Workload) runtime.Object {
		s := t.At(i, at)
		d := &appsv1.Deployment{ObjectMeta: object(t, i, at)}
		d.Annotations = map[string]string{revisionAnnotation: strconv.Itoa(s.Revision)}
		d.Spec = appsv1.DeploymentSpec{
			Replicas: new(s.Desired),
			Selector: &metav1.LabelSelector{MatchLabels: labelsOf(w.ID)},
			Template: template(w.ID, s.Revision),
		}
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration:  observed(d.Generation, s),
			Replicas:            s.Updated + s.Old,
			UpdatedReplicas:     s.Updated,
			ReadyReplicas:       s.Ready,
			AvailableReplicas:   s.Ready,
			UnavailableReplicas: max(0, s.Updated+s.Old-s.Ready),
			Conditions:          []appsv1.DeploymentCondition{progressing(s)},
		}
		return d
	})
}

// progressing returns the condition with the progress of a rollout.
func progressing(s traces.State) appsv1.DeploymentCondition {
	c := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}
	switch {
	case s.Note == traces.Stuck:
		c.Status, c.Reason = corev1.ConditionFalse, "ProgressDeadlineExceeded"
	case s.InFlight():
		c.Reason = "ReplicaSetUpdated"
	}
	return c
}

// replicaSets returns the ReplicaSets of each Deployment's present and previous
// template.
func replicaSets(t *traces.Trace, at time.Duration) []runtime.Object {
	var all []runtime.Object
	for i, w := range t.Workloads {
		if w.ID.Kind != workload.Deployment {
			continue
		}
		s := t.At(i, at)
		oldReady := min(s.Old, s.Ready)
		all = append(all, replicaSet(w.ID, s.Revision, s.Updated, s.Ready-oldReady))
		if s.Revision > 1 {
			all = append(all, replicaSet(w.ID, s.Revision-1, s.Old, oldReady))
		}
	}
	return all
}

func replicaSet(id workload.ID, revision int, replicas, ready int32) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{ObjectMeta: kept(id, revision, appsv1.DefaultDeploymentUniqueLabelKey)}
	rs.Generation = 1
	rs.Annotations = map[string]string{revisionAnnotation: strconv.Itoa(revision)}
	rs.Spec = appsv1.ReplicaSetSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: rs.Labels},
		Template: template(id, revision),
	}
	rs.Spec.Template.Labels = rs.Labels
	rs.Status = appsv1.ReplicaSetStatus{ObservedGeneration: 1, Replicas: replicas, ReadyReplicas: ready, AvailableReplicas: ready}
	return rs
}

// kept returns the metadata of a controller's object for a template, with the label
// that has its hash.
func kept(id workload.ID, revision int, label string) metav1.ObjectMeta {
	o, _ := workload.Kinds(nil).Object(id.Kind)
	labels := labelsOf(id)
	labels[label] = hash(id, revision)
	name := id.Name + "-" + hash(id, revision)
	return metav1.ObjectMeta{
		Namespace: id.Namespace, Name: name, UID: uid(id.String() + name), Labels: labels,
		OwnerReferences: ownedBy(appsv1.SchemeGroupVersion.WithKind(o.Kind), id.Name, uid(id.String())),
	}
}

func ownedBy(kind schema.GroupVersionKind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: name, UID: uid, Controller: new(true)}}
}

// controllerRevisions returns the revisions of each StatefulSet's and DaemonSet's
// present and previous template.
func controllerRevisions(t *traces.Trace, at time.Duration) []runtime.Object {
	var all []runtime.Object
	for i, w := range t.Workloads {
		if w.ID.Kind == workload.Deployment {
			continue
		}
		newest := t.At(i, at).Revision
		for r := max(1, newest-1); r <= newest; r++ {
			all = append(all, controllerRevision(w.ID, r))
		}
	}
	return all
}

// controllerRevision keeps a template as its controllers do: as a patch.
func controllerRevision(id workload.ID, revision int) *appsv1.ControllerRevision {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": template(id, revision)}})
	if err != nil {
		panic(err) // a template of this package
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: kept(id, revision, appsv1.ControllerRevisionHashLabelKey),
		Data:       runtime.RawExtension{Raw: patch},
		Revision:   int64(revision),
	}
}

func statefulSets(t *traces.Trace, at time.Duration) []runtime.Object {
	return each(t, workload.StatefulSet, func(i int, w traces.Workload) runtime.Object {
		s := t.At(i, at)
		o := &appsv1.StatefulSet{ObjectMeta: object(t, i, at)}
		o.Spec = appsv1.StatefulSetSpec{
			Replicas:    new(s.Desired),
			Selector:    &metav1.LabelSelector{MatchLabels: labelsOf(w.ID)},
			Template:    template(w.ID, s.Revision),
			ServiceName: w.ID.Name,
		}
		current := w.ID.Name + "-" + hash(w.ID, s.Revision)
		o.Status = appsv1.StatefulSetStatus{
			ObservedGeneration: observed(o.Generation, s),
			Replicas:           s.Updated + s.Old,
			UpdatedReplicas:    s.Updated,
			ReadyReplicas:      s.Ready,
			AvailableReplicas:  s.Ready,
			CurrentReplicas:    s.Updated,
			CurrentRevision:    current,
			UpdateRevision:     current,
		}
		return o
	})
}

func daemonSets(t *traces.Trace, at time.Duration) []runtime.Object {
	return each(t, workload.DaemonSet, func(i int, w traces.Workload) runtime.Object {
		s := t.At(i, at)
		d := &appsv1.DaemonSet{ObjectMeta: object(t, i, at)}
		d.Spec = appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labelsOf(w.ID)},
			Template: template(w.ID, s.Revision),
		}
		d.Status = appsv1.DaemonSetStatus{
			ObservedGeneration:     observed(d.Generation, s),
			DesiredNumberScheduled: s.Desired,
			CurrentNumberScheduled: s.Desired,
			UpdatedNumberScheduled: s.Updated,
			NumberReady:            s.Ready,
			NumberAvailable:        s.Ready,
		}
		return d
	})
}

const revisionAnnotation = "deployment.kubernetes.io/revision"

// object returns the metadata of a workload, including the last writer of its replicas:
// an autoscaler through the scale subresource, or a user's manifest.
func object(t *traces.Trace, i int, at time.Duration) metav1.ObjectMeta {
	w := t.Workloads[i]
	apply := metav1.ManagedFieldsEntry{
		Manager: "kustomize-controller", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "apps/v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{},"f:template":{}}}`),
	}
	managed := []metav1.ManagedFieldsEntry{apply}
	if w.Driver != workload.DrivenByNothing {
		managed[0].FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:template":{}}}`)
		managed = append(managed, metav1.ManagedFieldsEntry{
			Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", Subresource: "scale",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
		})
	}
	return metav1.ObjectMeta{
		Namespace: w.ID.Namespace, Name: w.ID.Name, UID: uid(w.ID.String()),
		Generation: t.Generation(i, at), ResourceVersion: version(at),
		CreationTimestamp: metav1.NewTime(t.Start.Add(-90 * 24 * time.Hour)),
		Labels:            labelsOf(w.ID), ManagedFields: managed,
	}
}

func template(id workload.ID, revision int) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labelsOf(id)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: id.Name, Image: fmt.Sprintf("registry.example.com/%s/%s:v%d", id.Namespace, id.Name, revision),
		}}},
	}
}

func labelsOf(id workload.ID) map[string]string {
	return map[string]string{"app.kubernetes.io/name": id.Name, "app.kubernetes.io/part-of": id.Namespace}
}

// observed is the generation that the status speaks of.
func observed(generation int64, s traces.State) int64 {
	if s.Note == traces.Unobserved {
		return generation - 1
	}
	return generation
}

// uid and hash are made from names, so that a trace has the same ones each time.
func uid(of string) types.UID {
	h := sha256.Sum256([]byte(of))
	h[6], h[8] = h[6]&0x0f|0x40, h[8]&0x3f|0x80
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16]))
}

func hash(id workload.ID, revision int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s %d", id, revision))
	return fmt.Sprintf("%x", h[:5])
}
