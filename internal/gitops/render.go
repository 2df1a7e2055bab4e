// Package gitops answers what a build of the files in git gives, as a GitOps
// tool would make it. It is the only package that imports kustomize.
package gitops

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// An Object is one workload that a build gives.
type Object struct {
	// ID has the namespace "default" where the build states none, as kustomize
	// takes it when it looks for the target of a patch.
	ID workload.ID
	// Replicas are those that the build states, nil where it states none and
	// the cluster would make it 1.
	Replicas *int32
	// Unplaced is true where the build states no namespace.
	Unplaced bool
	// Annotations are those that the build gives it.
	Annotations map[string]string
	// Asks are what one of its pods asks for by its template, under the names of
	// a ResourceQuota: "requests.cpu", "limits.memory". A LimitRange, which is not
	// looked at, may add to them. What it does not state is not in them.
	Asks corev1.ResourceList
	// Images are those of its pods by container, as a record has them; nil is not
	// known.
	Images map[string]string
	// Paused is true where the build states .spec.paused.
	Paused bool
}

// build builds the kustomization in the folder dir of files, by their path from the
// root of the repository. Nothing is read from or written to disk, and nothing is
// fetched: what is remote is refused as a RemoteError, plugins and Helm charts by
// kustomize.
func build(files map[string][]byte, dir string) (resmap.ResMap, error) {
	var remote *RemoteError
	if _, _, err := Trace(files, dir); errors.As(err, &remote) {
		return nil, err
	}
	disk := filesys.MakeFsInMemory()
	for name, data := range files {
		if err := disk.WriteFile(path.Join("/", name), data); err != nil {
			return nil, fmt.Errorf("lay out %s: %w", name, err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, path.Join("/", dir))
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	return built, nil
}

// workloadsOf returns the workloads of a build in order.
func workloadsOf(dir string, built resmap.ResMap, kinds workload.Kinds) ([]Object, error) {
	var objects []Object
	for _, r := range built.Resources() {
		kind, ok := kinds.Named(r.GetGvk().Group, r.GetGvk().Kind)
		if !ok {
			continue
		}
		o, _ := kinds.Object(kind)
		data, err := r.MarshalJSON()
		replicas, wrong := replicasOf(data, o.Replicas)
		if err = cmp.Or(err, wrong); err != nil {
			return nil, fmt.Errorf("build %s: %s: %w", dir, r.CurId(), err)
		}
		id := workload.ID{Namespace: r.CurId().EffectiveNamespace(), Kind: kind, Name: r.GetName()}
		objects = append(objects, Object{
			ID: id, Replicas: replicas, Unplaced: r.GetNamespace() == "", Annotations: r.GetAnnotations(),
			Asks: asksOf(data), Images: imagesOf(data), Paused: pausedOf(data),
		})
	}
	slices.SortFunc(objects, func(a, b Object) int { return workload.Compare(a.ID, b.ID) })
	return objects, nil
}

// replicasOf reads the count from the JSON of a resource, as the cluster would:
// within kustomize a patched number may be a float. A field of "" is none.
func replicasOf(data []byte, field workload.Field) (*int32, error) {
	if field == "" {
		return nil, nil
	}
	for _, name := range field.Names() {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(data, &fields); err != nil {
			return nil, err
		}
		data = fields[name]
		if data == nil {
			return nil, nil
		}
	}
	var count *int32
	return count, json.Unmarshal(data, &count)
}
