// Package gitops answers what a build of the files in git gives, as a GitOps
// tool would make it. It is the only package that imports kustomize.
package gitops

import (
	"encoding/json"
	"fmt"
	"path"

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
// root of the repository. Nothing is read from or written to disk, and Trace
// refused what is remote before. kustomize refuses plugins and Helm charts.
func build(files map[string][]byte, dir string) (resmap.ResMap, error) {
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

// replicasOf reads the count from the JSON of a resource, as the cluster would:
// within kustomize a patched number may be a float. A field of "" is none.
func replicasOf(data []byte, field workload.Field) (*int32, error) {
	if field == "" {
		return nil, nil
	}
	stated := workload.At(data, field.Names()...)
	if stated == nil {
		return nil, nil
	}
	var count *int32
	err := json.Unmarshal(stated, &count)
	return count, err
}
