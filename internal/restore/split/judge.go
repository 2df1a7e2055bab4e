package split

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// A deployment is what a split goes by of one, as the cluster would create it:
// with all that the API server fills in, and with what policies made of it.
type deployment struct {
	Spec struct {
		Replicas int32 `json:"replicas"`
		Paused   bool  `json:"paused"`
		Strategy struct {
			Type          string `json:"type"`
			RollingUpdate struct {
				MaxSurge amount `json:"maxSurge"`
			} `json:"rollingUpdate"`
		} `json:"strategy"`
		Template struct {
			Spec struct {
				InitContainers []container `json:"initContainers"`
				Containers     []container `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// An amount is a number of pods, or a part of all: "25%".
type amount string

// UnmarshalJSON reads either form.
func (a *amount) UnmarshalJSON(text []byte) error {
	*a = amount(strings.Trim(string(text), `"`))
	return nil
}

// of is the amount of so many pods, rounded up as a surge is.
func (a amount) of(pods int32) int32 {
	part, percent := strings.CutSuffix(string(a), "%")
	n, err := strconv.ParseInt(part, 10, 32)
	if err != nil {
		return 0
	}
	if percent {
		n = (n*int64(pods) + 99) / 100
	}
	return int32(n)
}

// images are those of the template, by container.
func (d deployment) images() checkpoint.Images {
	by := map[string]string{}
	for _, c := range slices.Concat(d.Spec.Template.Spec.InitContainers, d.Spec.Template.Spec.Containers) {
		by[c.Name] = c.Image
	}
	return checkpoint.ImagesOf(by)
}

// Judge returns the seed of a Deployment of a site that would be created as is
// said. Where left has a reason there is none.
func Judge(c Candidate, created json.RawMessage, site string) (s Seed, left Left, err error) {
	var d, asked deployment
	if err := json.Unmarshal(created, &d); err != nil {
		return s, left, fmt.Errorf("read %s as it would be created: %w", c.ID, err)
	}
	if err := json.Unmarshal(c.Manifest, &asked); err != nil {
		return s, left, fmt.Errorf("read the manifest of %s: %w", c.ID, err)
	}
	if reason, text := refusal(c, d, asked); reason != "" {
		return s, Left{c.ID, reason, text}, nil
	}
	r, n := c.Entry.Rollout, d.Spec.Replicas
	s = Seed{ID: c.ID, Name: Name(c), Reached: r.Milestone, Replicas: n, Pods: before(n, r.Milestone, c.Utilisation), Halted: r.Phase == checkpoint.PhaseHalted}
	s.Target = min(n, n+d.Spec.Strategy.RollingUpdate.MaxSurge.of(n)-s.Pods)
	s.Surge = s.Pods + s.Target - n
	s.Object, err = replicaSet(c, created, s, site)
	return s, left, err
}

// refusal is why a Deployment that would be created so has no seed; "" is none.
func refusal(c Candidate, d, asked deployment) (Reason, string) {
	r, images := c.Entry.Rollout, d.images()
	switch {
	case images == r.From.Images && images != asked.images():
		return Returned, "would be created with the images before, by a policy of the cluster, and begin anew: for a split take the policy's binding away until it is created"
	case images == r.From.Images:
		return OtherTarget, "has the template before in its manifests: it would be created with that alone"
	case images != r.To.Images:
		return OtherTarget, "would be created with another template than the one that it was on its way to: " + difference(r.To.Images, images)
	case !slices.Equal(containers(r.From.Images), containers(images)):
		return Unknown, "has other containers than the record has images of the template before"
	case d.Spec.Strategy.Type == "Recreate":
		return Recreate, "has the strategy Recreate, which first ends all pods of the template before"
	case d.Spec.Paused:
		return Paused, "is paused in its manifests: a new Deployment that is paused makes no pods of its template, and scales a seed to all that it asks for"
	case d.Spec.Replicas == 0:
		return Small, "would be created at zero"
	case d.Spec.Replicas < c.Entry.Replicas:
		return Small, fmt.Sprintf("would be created at %d, and its level is %d, so that the seed would be scaled in: have the build include its Component, or the policy that raises it in the cluster", d.Spec.Replicas, c.Entry.Replicas)
	}
	return "", ""
}

func containers(i checkpoint.Images) []string { return slices.Sorted(maps.Keys(i.By())) }

// difference names the first container whose image is another.
func difference(want, got checkpoint.Images) string {
	of, is := want.By(), got.By()
	for _, name := range containers(want) {
		if is[name] != of[name] {
			return fmt.Sprintf("container %s has %q, and %q in the record", name, is[name], of[name])
		}
		delete(is, name)
	}
	return fmt.Sprintf("the record has no container %s", slices.Min(slices.Collect(maps.Keys(is))))
}

// before is how many pods of the template before are seeded, of so many in all:
// those that the target had not reached, and as many as carry the load by
// themselves at 100 %, should the target turn bad; at least 1.
func before(replicas, reached int32, utilisation float64) int32 {
	target := (int64(replicas)*int64(reached) + 50) / 100
	carry := math.Ceil(float64(replicas)*utilisation - 1e-9)
	return min(replicas, max(1, replicas-int32(target), int32(carry)))
}

// Name is that of the ReplicaSet of a candidate's seed: the one that the
// template before had.
func Name(c Candidate) string { return c.ID.Name + "-" + c.Entry.Rollout.From.Hash }
