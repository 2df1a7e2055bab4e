package split

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Label is on each seed, and says of which site it is.
const Label = "gitlatch.dev/seed"

const (
	hashLabel = "pod-template-hash"
	revision  = "deployment.kubernetes.io/revision"
	// pruneOption is a list of what Argo CD is to do otherwise with an object, and
	// instanceLabel what it may take for its own mark.
	pruneOption   = "argocd.argoproj.io/sync-options"
	instanceLabel = "app.kubernetes.io/instance"
)

// own are the annotations of a Deployment that its ReplicaSets do not share.
var own = []string{"kubectl.kubernetes.io/last-applied-configuration", revision, "deployment.kubernetes.io/revision-history",
	"deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"}

// replicaSet makes the seed of a Deployment as the Deployment itself would have
// made it for the template before, but for an owner.
func replicaSet(c Candidate, created json.RawMessage, s Seed, site string) (json.RawMessage, error) {
	d, err := decode(created)
	if err != nil {
		return nil, fmt.Errorf("read %s as it would be created: %w", c.ID, err)
	}
	hash, spec := c.Entry.Rollout.From.Hash, field(d, "spec")
	template, selector := field(spec, "template"), field(spec, "selector")
	for _, list := range []string{"initContainers", "containers"} {
		put(field(template, "spec")[list], c.Entry.Rollout.From.Images.By())
	}
	field(selector, "matchLabels")[hashLabel] = hash
	labels := field(field(template, "metadata"), "labels")
	labels[hashLabel] = hash
	marked := maps.Clone(labels)
	marked[Label] = site

	annotations := maps.Clone(field(field(d, "metadata"), "annotations"))
	maps.DeleteFunc(annotations, func(name string, _ any) bool { return slices.Contains(own, name) })
	annotations[revision] = "1"
	if _, ok := marked[instanceLabel]; ok { // else it might be pruned before it is adopted
		already, _ := annotations[pruneOption].(string)
		annotations[pruneOption] = strings.TrimPrefix(already+",Prune=false", ",")
	}
	object := map[string]any{
		"apiVersion": "apps/v1", "kind": "ReplicaSet",
		"metadata": map[string]any{"namespace": c.ID.Namespace, "name": s.Name, "labels": marked, "annotations": annotations},
		"spec":     map[string]any{"replicas": s.Pods, "selector": selector, "template": template},
	}
	if ready, ok := spec["minReadySeconds"]; ok {
		field(object, "spec")["minReadySeconds"] = ready
	}
	return json.Marshal(object)
}

// put gives the containers of a list their images.
func put(list any, images map[string]string) {
	containers, _ := list.([]any)
	for _, one := range containers {
		c, _ := one.(map[string]any)
		name, _ := c["name"].(string)
		c["image"] = images[name]
	}
}
