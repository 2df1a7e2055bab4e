package kube

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// An image is written to the checkpoint file and to terminals. An image name that a
// registry cannot have counts as unknown.
func TestAnImageThatNoRegistryHasIsNotKnown(t *testing.T) {
	t.Parallel()
	for image, known := range map[string]bool{
		"web:v1": true, "registry:5000/shop/web@sha256:0011": true, "web:v1 proxy=evil": false, "web\x1b[31m": false, "web\u202e": false,
	} {
		got := images(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: image}}}})
		if want := map[string]string{"app": image}; maps.Equal(got, want) != known || (got == nil) == known {
			t.Errorf("%q is read as %q", image, got)
		}
	}
}
