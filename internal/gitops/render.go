// Package gitops builds folders of a repository as a GitOps tool does. It is the only
// package that imports kustomize.
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

// An Object is a workload in a build.
type Object struct {
	// ID has the namespace "default" if the build states no namespace. kustomize uses the
	// same default to find the target of a patch.
	ID workload.ID
	// Replicas are nil if the build states no replicas. The cluster then uses 1.
	Replicas *int32
	// Unplaced is true if the build states no namespace.
	Unplaced bool
	// Annotations are the annotations in the build.
	Annotations map[string]string
	// Template is the pod template; nil if it is missing or cannot be parsed, because the
	// build is still usable.
	Template *corev1.PodTemplateSpec
	// Images are the images of its containers by container name, as in a checkpoint file;
	// nil if unknown.
	Images map[string]string
	// Paused is the value of .spec.paused.
	Paused bool
}

// build builds the kustomization in the folder dir. files has paths from the root of the
// repository. build does not access the disk. Trace has already refused remote entries,
// and kustomize refuses plugins and Helm charts.
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

// replicasOf reads the replicas from the JSON of a resource, as the cluster does. Within
// kustomize, a patched number may be a float. A kind without replicas has the field "".
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
