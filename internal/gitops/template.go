package gitops

import (
	"encoding/json"
	"strings"
)

// imagesOf reads the images of a workload's pods by container, those that go
// before the others among them, from the JSON of the workload. It is nil where
// that states no template of pods at .spec.template, or one of which an image is
// not known: what substitutes after the build finds its variables by a "$".
func imagesOf(data []byte) map[string]string {
	type container struct {
		Name  string `json:"name"`
		Image string `json:"image"`
	}
	var w struct {
		Spec struct {
			Template struct {
				Spec struct {
					InitContainers []container `json:"initContainers"`
					Containers     []container `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &w); err != nil || len(w.Spec.Template.Spec.Containers) == 0 {
		return nil
	}
	images := map[string]string{}
	for _, c := range append(w.Spec.Template.Spec.InitContainers, w.Spec.Template.Spec.Containers...) {
		if c.Name == "" || c.Image == "" || strings.Contains(c.Name+c.Image, "$") {
			return nil
		}
		images[c.Name] = c.Image
	}
	return images
}

// pausedOf reads whether a workload is paused from its JSON. What is no boolean
// is not known to be true.
func pausedOf(data []byte) bool {
	var w struct {
		Spec struct {
			Paused bool `json:"paused"`
		} `json:"spec"`
	}
	return json.Unmarshal(data, &w) == nil && w.Spec.Paused
}
