// Package gitops answers what a build of the files in git gives, as a GitOps
// tool would make it. It is the only package that imports kustomize.
package gitops

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
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
}

// Render builds the kustomization in the folder dir of files, by their path
// from the root of the repository, and returns its workloads in the order of
// workload.Compare. Nothing is read from or written to disk, and nothing is
// fetched: what is remote is refused as a RemoteError, plugins and Helm charts by
// kustomize.
func Render(files map[string][]byte, dir string) ([]Object, error) {
	built, err := build(files, dir)
	if err != nil {
		return nil, err
	}
	return workloadsOf(dir, built)
}

// build builds a kustomization in memory.
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
func workloadsOf(dir string, built resmap.ResMap) ([]Object, error) {
	var objects []Object
	for _, r := range built.Resources() {
		kind, ok := kindOf(r)
		if !ok {
			continue
		}
		replicas, err := replicasOf(r)
		if err != nil {
			return nil, fmt.Errorf("build %s: %s: %w", dir, r.CurId(), err)
		}
		id := workload.ID{Namespace: r.CurId().EffectiveNamespace(), Kind: kind, Name: r.GetName()}
		objects = append(objects, Object{ID: id, Replicas: replicas, Unplaced: r.GetNamespace() == "", Annotations: r.GetAnnotations()})
	}
	slices.SortFunc(objects, func(a, b Object) int { return workload.Compare(a.ID, b.ID) })
	return objects, nil
}

// kindOf returns the kind of workload that a resource is, whatever version of
// the API it is written for.
func kindOf(r *resource.Resource) (workload.Kind, bool) {
	for _, kind := range workload.Kinds() {
		if o, _ := kind.Object(); r.GetGvk().Group == o.Group && r.GetGvk().Kind == o.Kind {
			return kind, true
		}
	}
	return "", false
}

// replicasOf reads spec.replicas from the JSON of a resource, as the cluster
// would: within kustomize a patched number may be a float.
func replicasOf(r *resource.Resource) (*int32, error) {
	data, err := r.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var object struct {
		Spec struct {
			Replicas *int32 `json:"replicas"`
		} `json:"spec"`
	}
	err = json.Unmarshal(data, &object)
	return object.Spec.Replicas, err
}
