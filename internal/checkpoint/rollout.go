package checkpoint

import (
	"maps"
	"slices"
	"strings"
)

// A Rollout is what git declares of a rollout in flight: both templates, how
// far the way from one to the other went in good health, and which of them a
// rebuild should begin with. The zero value is no rollout. Rollouts compare
// with ==.
type Rollout struct {
	// Milestone is how far the rollout had got in good health at its commit, in
	// percent, below 100; 0 where it failed or goes back.
	Milestone int32 `json:"milestone,omitzero"`
	// Phase is how the rollout stood then.
	Phase Phase `json:"phase,omitzero"`
	// From is the template that ran before, and To the target.
	From Template `json:"from,omitzero"`
	To   Template `json:"to,omitzero"`
	// Returns is the template that a rebuild should begin with.
	Returns Side `json:"returns,omitzero"`
	// ImagesOnly is true where the two templates differ in the images of their
	// containers alone, so that one can be made of the other.
	ImagesOnly bool `json:"imagesOnly,omitzero"`
}

// Returned is the template that a rebuild should begin with.
func (r Rollout) Returned() Template {
	if r.Returns == SideTo {
		return r.To
	}
	return r.From
}

// A Phase is how a rollout stands.
type Phase string

// The phases.
const (
	PhaseProgressing Phase = "progressing"
	PhaseHalted      Phase = "halted"    // by somebody's wish: paused, or at a partition
	PhaseFailed      Phase = "failed"    // by a condition of the workload
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

// Images are the images of a template by container, as one text that compares
// with ==: "app=registry/web:v1 proxy=registry/proxy:v3", by container. "" is
// none.
type Images string

// ImagesOf returns the images of a template.
func ImagesOf(by map[string]string) Images {
	pairs := make([]string, 0, len(by))
	for _, container := range slices.Sorted(maps.Keys(by)) {
		pairs = append(pairs, container+"="+by[container])
	}
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
