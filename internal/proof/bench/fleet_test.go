package bench

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

const (
	namespaces = 50
	// pageSize is the number of objects per page of a sample.
	pageSize = 250
)

// image returns the image of a version; rollouts go from one version to another.
func image(version int) string { return fmt.Sprintf("registry.example.com/shop/web:v1.%d", version) }

func name(i int) string { return fmt.Sprintf("service-%05d", i) }

func metaOf(i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: fmt.Sprintf("team-%d", i%namespaces), Name: name(i),
		Labels:      map[string]string{"app": name(i), "team": "shop", "app.kubernetes.io/managed-by": "Helm"},
		Annotations: map[string]string{"example.com/owner": "team@example.com", "meta.helm.sh/release-name": name(i)},
	}
}

// template returns the template of a typical service: a container with an environment,
// probes and limits.
func template(i, version int) corev1.PodTemplateSpec {
	var environment []corev1.EnvVar
	for n := range 25 {
		environment = append(environment, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", n), Value: fmt.Sprintf("value-%d-of-%d", n, i)})
	}
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}, PeriodSeconds: 5}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name(i)}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "web", Image: image(version), Env: environment, LivenessProbe: probe, ReadinessProbe: probe,
			Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("256Mi")},
			},
		}}},
	}
}

// deployment returns the i-th Deployment, at rest or half-way from one image to another.
func deployment(i int, flies bool) *appsv1.Deployment {
	d := &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metaOf(i),
		Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](4), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name(i)}}, Template: template(i, 1)},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 4, UpdatedReplicas: 4, ReadyReplicas: 4, AvailableReplicas: 4,
			Conditions: []appsv1.DeploymentCondition{
				{Type: "Available", Status: "True", Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."},
				{Type: "Progressing", Status: "True", Reason: "NewReplicaSetAvailable", Message: fmt.Sprintf("ReplicaSet %q has successfully progressed.", name(i))},
			}},
	}
	if flies {
		d.Status.UpdatedReplicas = 2
	}
	return d
}

// autoscaler returns the HPA of the i-th Deployment.
func autoscaler(i int) *autoscalingv2.HorizontalPodAutoscaler {
	target := autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: ptr.To[int32](70)}
	return &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"}, ObjectMeta: metaOf(i),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name(i)},
			MinReplicas:    ptr.To[int32](2), MaxReplicas: 200,
			Metrics: []autoscalingv2.MetricSpec{{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: target}}},
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: 4, DesiredReplicas: 4, Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
			{Type: "AbleToScale", Status: "True", Reason: "ReadyForNewScale"}, {Type: "ScalingActive", Status: "True", Reason: "ValidMetricFound"},
		}, CurrentMetrics: []autoscalingv2.MetricStatus{{Type: "Resource", Resource: &autoscalingv2.ResourceMetricStatus{
			Name: "cpu", Current: autoscalingv2.MetricValueStatus{AverageUtilization: ptr.To[int32](55)}}}}},
	}
}

// replicaSet returns a ReplicaSet of the i-th Deployment, which has the UID owner.
func replicaSet(i, version int, owner types.UID) *appsv1.ReplicaSet {
	m := metaOf(i)
	m.Name = fmt.Sprintf("%s-%d", m.Name, version)
	m.Annotations = map[string]string{"deployment.kubernetes.io/revision": strconv.Itoa(version + 1)}
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name(i), UID: owner, Controller: ptr.To(true)}}
	return &appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: m,
		Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name(i)}}, Template: template(i, version)},
	}
}

// canned serves Deployments, each with an HPA, in pages that are encoded in advance, so
// a measurement contains only the client's work.
func canned(t testing.TB, n int) *httptest.Server {
	t.Helper()
	pages := map[string][]byte{}
	add := func(path string, from, count int, list runtime.Object, at func(int) runtime.Object) {
		var items []runtime.Object
		for i := from; i < min(from+pageSize, count); i++ {
			o := at(i)
			m, _ := meta.Accessor(o)
			m.SetGeneration(1)
			m.SetUID(types.UID(fmt.Sprintf("5e0c1d2f-0000-4000-8000-%012d", i)))
			m.SetManagedFields(managed)
			items = append(items, o)
		}
		must(t, meta.SetList(list, items))
		if m, _ := meta.ListAccessor(list); from+pageSize < count {
			m.SetContinue(strconv.Itoa(from + pageSize))
		}
		pages[path+"?"+strconv.Itoa(from)] = encode(t, list)
	}
	for from := 0; from < n; from += pageSize {
		add("/apis/apps/v1/deployments", from, n, &appsv1.DeploymentList{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DeploymentList"}},
			func(i int) runtime.Object { return deployment(i, false) })
		add("/apis/autoscaling/v2/horizontalpodautoscalers", from, n, &autoscalingv2.HorizontalPodAutoscalerList{TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscalerList"}},
			func(i int) runtime.Object { return autoscaler(i) })
	}
	pages["/apis/apps/v1/statefulsets?0"] = encode(t, &appsv1.StatefulSetList{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSetList"}})
	pages["/apis/apps/v1/daemonsets?0"] = encode(t, &appsv1.DaemonSetList{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSetList"}})
	pages["/api/v1/namespaces/kube-system?0"] = encode(t, &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "5e0c1d2f"}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := r.URL.Query().Get("continue")
		if from == "" {
			from = "0"
		}
		page, ok := pages[r.URL.Path+"?"+from]
		if !ok {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		w.Header().Set("Content-Length", strconv.Itoa(len(page)))
		_, _ = w.Write(page)
	}))
	t.Cleanup(server.Close)
	return server
}

// managed are fields in the form that Helm and the controllers write.
var managed = func() []metav1.ManagedFieldsEntry {
	now := metav1.NewTime(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	spec := bytes.NewBufferString(`{"f:metadata":{"f:annotations":{".":{},"f:example.com/owner":{}},"f:labels":{".":{},"f:app":{},"f:team":{}}},"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:selector":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:env":{".":{}`)
	for n := range 25 {
		fmt.Fprintf(spec, `,"k:{\"name\":\"SETTING_%d\"}":{".":{},"f:name":{},"f:value":{}}`, n)
	}
	spec.WriteString(`},"f:image":{},"f:name":{},"f:resources":{}}},"f:restartPolicy":{}}}}}`)
	status := `{"f:status":{"f:availableReplicas":{},"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:observedGeneration":{},"f:replicas":{}}}`
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", APIVersion: "apps/v1", Time: &now, FieldsType: "FieldsV1", Subresource: subresource, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	return []metav1.ManagedFieldsEntry{entry("helm", "", spec.String()), entry("kube-controller-manager", "status", status)}
}()

func encode(t testing.TB, o runtime.Object) []byte {
	t.Helper()
	scheme := runtime.NewScheme()
	must(t, errors.Join(appsv1.AddToScheme(scheme), autoscalingv2.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	var out bytes.Buffer
	must(t, protobuf.NewSerializer(scheme, scheme).Encode(o, &out))
	return out.Bytes()
}
