package gitops

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podTemplate returns the pod template of a workload's JSON, or nil if it is missing or
// cannot be parsed.
func podTemplate(data []byte) *corev1.PodTemplateSpec {
	var w struct {
		Spec struct {
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if json.Unmarshal(data, &w) != nil {
		return nil
	}
	return w.Spec.Template
}

// templateOf reads a workload's JSON. It returns the images of its containers and init
// containers by name, and whether the workload is paused. The images are nil if
// .spec.template has no containers or if an image is unknown. An image with a "$" is
// unknown, because a tool may substitute variables after the build. A value of
// .spec.paused that is not a boolean counts as false.
func templateOf(data []byte) (images map[string]string, paused bool) {
	type container struct {
		Name  string `json:"name"`
		Image string `json:"image"`
	}
	var w struct {
		Spec struct {
			Paused   bool `json:"paused"`
			Template struct {
				Spec struct {
					InitContainers []container `json:"initContainers"`
					Containers     []container `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	_ = json.Unmarshal(data, &w) // a field of another type stays empty
	if len(w.Spec.Template.Spec.Containers) == 0 {
		return nil, w.Spec.Paused
	}
	images = map[string]string{}
	for _, c := range append(w.Spec.Template.Spec.InitContainers, w.Spec.Template.Spec.Containers...) {
		if c.Name == "" || c.Image == "" || strings.Contains(c.Name+c.Image, "$") {
			return nil, w.Spec.Paused
		}
		images[c.Name] = c.Image
	}
	return images, w.Spec.Paused
}
