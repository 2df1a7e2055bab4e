package gitops

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// QuotaName returns the key of a resource in Object.Asks. A ResourceQuota has two names
// for the requests of common resources: "cpu" is the same as "requests.cpu". See
// https://kubernetes.io/docs/concepts/policy/resource-quotas/.
func QuotaName(name corev1.ResourceName) corev1.ResourceName {
	plain := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	if slices.Contains(plain, name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		return corev1.DefaultResourceRequestsPrefix + name
	}
	return name
}

// asksOf returns the requests and limits of one pod of a workload. data is the workload's
// JSON. asksOf returns nil if .spec.template is missing or invalid, because the build is
// still usable.
func asksOf(data []byte) corev1.ResourceList {
	var w struct {
		Spec struct {
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &w); err != nil || w.Spec.Template == nil {
		return nil
	}
	pod := &corev1.Pod{Spec: w.Spec.Template.Spec}
	for i := range pod.Spec.InitContainers {
		requestLimits(&pod.Spec.InitContainers[i].Resources)
	}
	for i := range pod.Spec.Containers {
		requestLimits(&pod.Spec.Containers[i].Resources)
	}
	requestLimits(pod.Spec.Resources)
	asks := corev1.ResourceList{}
	for name, q := range resource.PodRequests(pod, resource.PodResourcesOptions{}) {
		asks[corev1.DefaultResourceRequestsPrefix+name] = q
	}
	for name, q := range resource.PodLimits(pod, resource.PodResourcesOptions{}) {
		asks["limits."+name] = q
	}
	return asks
}

// requestLimits sets missing requests to the limits, as the API server does for a new
// pod.
func requestLimits(r *corev1.ResourceRequirements) {
	if r != nil && r.Limits != nil {
		requests := maps.Clone(r.Limits)
		maps.Copy(requests, r.Requests)
		r.Requests = requests
	}
}
