package gitops

import (
	"encoding/json"
	"strings"
)

// templateOf reads from the JSON of a workload the images of its pods by container, those
// that go before the others among them, and whether it is paused. The images are nil where
// it states no template of pods at .spec.template, or one of which an image is not known:
// what substitutes after the build finds its variables by a "$". What is no boolean is
// not known to be paused.
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
