package checkpoint

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// flying is a rollout that a record holds.
var flying = Rollout{
	Milestone: 25, Phase: PhaseProgressing, Returns: SideFrom, ImagesOnly: true,
	From: Template{Hash: "5d8f", Images: "main=web:v1"},
	To:   Template{Hash: "7c9b", Images: "main=web:v2"},
}

// What comes from a cluster is held against the form of the record before it
// becomes a line of it, and what does not fit is told by what is wrong.
func TestRolloutsThatNoRecordCanHold(t *testing.T) {
	t.Parallel()
	// With a container of 4 letters the key of its image is as long as it may be.
	longest := deployment(strings.Repeat("a", 232))
	for name, c := range map[string]struct {
		id     workload.ID
		change func(*Rollout)
		want   string // "" fits
	}{
		"none, of any name":     {deployment(strings.Repeat("a", 253)), func(r *Rollout) { *r = Rollout{} }, ""},
		"one":                   {shopWeb, func(*Rollout) {}, ""},
		"without images":        {shopWeb, func(r *Rollout) { r.From.Images, r.To.Images = "", "" }, ""},
		"the longest name":      {longest, func(*Rollout) {}, ""},
		"container too long":    {longest, func(r *Rollout) { r.From.Images = "proxy=web:v1" }, "name is 1 characters too long for a key of the record, kind.name_from_proxy"},
		"name too long":         {deployment(strings.Repeat("a", 233)), func(r *Rollout) { r.From.Images, r.To.Images = "", "" }, "name is 1 characters too long for a key of the record, kind.name_milestone"},
		"done":                  {shopWeb, func(r *Rollout) { r.Milestone = 100 }, "milestone must be 0 to 99, got 100"},
		"all but done":          {shopWeb, func(r *Rollout) { r.Milestone = 99 }, ""},
		"at its beginning":      {shopWeb, func(r *Rollout) { r.Milestone = 0 }, ""},
		"below its beginning":   {shopWeb, func(r *Rollout) { r.Milestone = -1 }, "milestone must be 0 to 99, got -1"},
		"beyond its milestone":  {shopWeb, func(r *Rollout) { r.Share = 26 }, ""},
		"at its milestone":      {shopWeb, func(r *Rollout) { r.Share = 25 }, "share must be beyond the milestone of 25 and at most 99, got 25"},
		"beyond its end":        {shopWeb, func(r *Rollout) { r.Share = 100 }, "share must be beyond the milestone of 25 and at most 99, got 100"},
		"of no phase":           {shopWeb, func(r *Rollout) { r.Phase = "" }, `phase must be one of progressing, halted, failed, returning, got ""`},
		"returns to nobody":     {shopWeb, func(r *Rollout) { r.Returns = "" }, `returns must be from or to, got ""`},
		"from nowhere":          {shopWeb, func(r *Rollout) { r.From.Hash = "" }, `template "": must be the hash`},
		"to two lines":          {shopWeb, func(r *Rollout) { r.To.Hash = "a\nb" }, `template "a\nb": must be the hash`},
		"to where it was":       {shopWeb, func(r *Rollout) { r.To.Hash = r.From.Hash }, "both templates are 5d8f"},
		"image of two lines":    {shopWeb, func(r *Rollout) { r.To.Images = ImagesOf(map[string]string{"main": "web:\nv2"}) }, `container v2: image "" must be`},
		"image with a quote":    {shopWeb, func(r *Rollout) { r.To.Images = `main=web:"v2"` }, `container main: image "web:\"v2\"" must be`},
		"no image":              {shopWeb, func(r *Rollout) { r.From.Images = "main=" }, `container main: image "" must be`},
		"container with a dot":  {shopWeb, func(r *Rollout) { r.From.Images = "a.b=web:v1" }, `name of container "a.b" must be a DNS label`},
		"containers in reverse": {shopWeb, func(r *Rollout) { r.To.Images = "b=web:v2 a=web:v2" }, "must be container=image, by container"},
	} {
		r := flying
		c.change(&r)
		err := FitsRollout(c.id, r)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Who moves a milestone by hand leaves its share behind, which then says nothing.
func TestAShareThatIsNotBeyondItsMilestoneSaysNothing(t *testing.T) {
	t.Parallel()
	further := flying
	further.Share = 30
	for share, want := range map[string]int32{"24": 0, "25": 0, "26": 26, "99": 99} {
		text := strings.Replace(string(Record{Namespace: "shop", Entries: map[workload.ID]Entry{shopWeb: {Rollout: further}}}.Format()), `"30"`, share, 1)
		r, err := ParseRecord("shop", []byte(text))
		if got := r.Entries[shopWeb].Rollout; err != nil || got.Share != want || got.Reached() != max(25, want) {
			t.Errorf("%s: share %d, reached %d, %v", share, got.Share, got.Reached(), err)
		}
	}
}
