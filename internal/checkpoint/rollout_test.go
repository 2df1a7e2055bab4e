package checkpoint

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// flying returns a rollout that a checkpoint file can have.
var flying = Rollout{
	Milestone: 25, Phase: PhaseProgressing, Returns: SideFrom, ImagesOnly: true,
	From: Template{Hash: "5d8f", Images: "main=web:v1"},
	To:   Template{Hash: "7c9b", Images: "main=web:v2"},
}

// The values from a cluster are checked for the format of a checkpoint file before they
// become lines in it. The error names the problem.
func TestRolloutsThatNoRecordCanHold(t *testing.T) {
	t.Parallel()
	// With a container of 4 letters the key of its image has the maximum length.
	longest := deployment(strings.Repeat("a", 232))
	for name, c := range map[string]struct {
		id     workload.ID
		change func(*Rollout)
		want   string // "" if it fits
	}{
		"none, of any name":     {deployment(strings.Repeat("a", 253)), func(r *Rollout) { *r = Rollout{} }, ""},
		"one":                   {shopWeb, func(*Rollout) {}, ""},
		"without images":        {shopWeb, func(r *Rollout) { r.From.Images, r.To.Images = "", "" }, ""},
		"the longest name":      {longest, func(*Rollout) {}, ""},
		"container too long":    {longest, func(r *Rollout) { r.From.Images = "proxy=web:v1" }, "name is 1 characters too long for a key of the checkpoint file, kind.name_from_proxy"},
		"name too long":         {deployment(strings.Repeat("a", 233)), func(r *Rollout) { r.From.Images, r.To.Images = "", "" }, "name is 1 characters too long for a key of the checkpoint file, kind.name_milestone"},
		"done":                  {shopWeb, func(r *Rollout) { r.Milestone = 100 }, `deployment.web_milestone: must be an integer from 0 to 99, got "100"`},
		"all but done":          {shopWeb, func(r *Rollout) { r.Milestone = 99 }, ""},
		"at its beginning":      {shopWeb, func(r *Rollout) { r.Milestone = 0 }, ""},
		"below its beginning":   {shopWeb, func(r *Rollout) { r.Milestone = -1 }, `deployment.web_milestone: must be an integer from 0 to 99, got "-1"`},
		"of no phase":           {shopWeb, func(r *Rollout) { r.Phase = "" }, `_phase: must be one of progressing, halted, failed, returning, got ""`},
		"returns to nobody":     {shopWeb, func(r *Rollout) { r.Returns = "" }, `_returns: must be one of from, to, got ""`},
		"from nowhere":          {shopWeb, func(r *Rollout) { r.From.Hash = "" }, `_from: must be the hash of a pod template: letters, digits, -, _ and ., at most 253, got ""`},
		"to two lines":          {shopWeb, func(r *Rollout) { r.To.Hash = "a\nb" }, `_to: must be the hash of a pod template: letters, digits, -, _ and ., at most 253, got "a\nb"`},
		"to where it was":       {shopWeb, func(r *Rollout) { r.To.Hash = r.From.Hash }, "both templates are 5d8f"},
		"image of two lines":    {shopWeb, func(r *Rollout) { r.To.Images = ImagesOf(map[string]string{"main": "web:\nv2"}) }, `_to_v2: must be the image of a container: at most 512 visible ASCII characters, no spaces, no quotes, got ""`},
		"image with a quote":    {shopWeb, func(r *Rollout) { r.To.Images = `main=web:"v2"` }, `_to_main: must be the image of a container: at most 512 visible ASCII characters, no spaces, no quotes, got "web:\"v2\""`},
		"an image too long":     {shopWeb, func(r *Rollout) { r.From.Images = Images("main=" + strings.Repeat("a", 513)) }, `_from_main: must be the image of a container: at most 512`},
		"a hash too long":       {shopWeb, func(r *Rollout) { r.To.Hash = strings.Repeat("a", 254) }, `_to: must be the hash of a pod template: letters, digits, -, _ and ., at most 253`},
		"no image":              {shopWeb, func(r *Rollout) { r.From.Images = "main=" }, `_from_main: must be the image of a container: at most 512 visible ASCII characters, no spaces, no quotes, got ""`},
		"container with a dot":  {shopWeb, func(r *Rollout) { r.From.Images = "a.b=web:v1" }, `deployment.web_from_a.b: unknown fact "_from_a.b"`},
		"containers in reverse": {shopWeb, func(r *Rollout) { r.To.Images = "b=web:v2 a=web:v2" }, "must be container=image, sorted by container"},
	} {
		r := flying
		c.change(&r)
		err := FitsRollout(c.id, r)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
