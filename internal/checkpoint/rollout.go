package checkpoint

import (
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Rollout is the rollout entry of a workload: both templates, the progress in good
// health, and the template that a rebuild starts with. The zero value is no rollout
// entry. Rollouts compare with ==.
type Rollout struct {
	// Milestone is the progress in good health at the commit, in percent, below 100; 0 if
	// the rollout failed or returns to From.
	Milestone int32 `json:"milestone,omitzero"`
	// Phase is the phase at the commit.
	Phase Phase `json:"phase,omitzero"`
	// From is the template from before the rollout, and To the target.
	From Template `json:"from,omitzero"`
	To   Template `json:"to,omitzero"`
	// Returns is the template that a rebuild starts with.
	Returns Side `json:"returns,omitzero"`
	// ImagesOnly is true if the templates differ only in the images of their containers,
	// so that one can be made from the other.
	ImagesOnly bool `json:"imagesOnly,omitzero"`
}

// Returned returns the template that a rebuild starts with.
func (r Rollout) Returned() Template {
	if r.Returns == SideTo {
		return r.To
	}
	return r.From
}

// A Phase is the phase of a rollout.
type Phase string

// The phases.
const (
	PhaseProgressing Phase = "progressing"
	PhaseHalted      Phase = "halted"    // by a user: paused, or at a partition
	PhaseFailed      Phase = "failed"    // a condition of the workload reports the failure
	PhaseReturning   Phase = "returning" // on the way back to From
)

// A Side is one of the two templates of a rollout.
type Side string

// The sides.
const (
	SideFrom Side = "from"
	SideTo   Side = "to"
)

// A Template is the identity of one pod template.
type Template struct {
	Hash   string `json:"hash,omitzero"` // pod-template-hash or controller revision
	Images Images `json:"images,omitzero"`
}

// Images are the images of a template, sorted by container, as one text that compares
// with ==: "app=registry/web:v1 proxy=registry/proxy:v3". "" is an empty list.
type Images string

// ImagesOf returns the images as one text.
func ImagesOf(by map[string]string) Images {
	pairs := lists.Map(slices.Sorted(maps.Keys(by)), func(container string) string { return container + "=" + by[container] })
	return Images(strings.Join(pairs, " "))
}

// By returns the images by container.
func (i Images) By() map[string]string {
	by := map[string]string{}
	for pair := range strings.FieldsSeq(string(i)) {
		container, image, _ := strings.Cut(pair, "=")
		by[container] = image
	}
	return by
}
