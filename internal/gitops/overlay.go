package gitops

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Edits are the changes that a GitOps tool makes to the kustomization of a folder before
// it builds the folder. The zero value changes nothing.
type Edits struct {
	// Fields are set by name: namespace, namePrefix, nameSuffix. Lists are appended to
	// the existing list: components, patches, images, replicas. Empty values are ignored.
	Fields map[string]any
	// Recurse also includes manifests in subfolders, if the folder has no kustomization.
	// Otherwise only manifests in the folder itself are included.
	Recurse bool
	// Folders includes a subfolder that has a kustomization as one entry, instead of its
	// manifests.
	Folders bool
}

// An Overlay is the result of building a folder as a GitOps tool does.
type Overlay struct {
	Dir         string
	Folders     []Folder // the folder itself first
	Workloads   []Object // in the order of workload.Compare
	Autoscalers []Autoscaler
	// Records are the namespaces whose checkpoint file the build contains as a ConfigMap.
	Records []string
	// Admission are the admission policies and bindings in the build, by kind and name.
	Admission []string
	// Configs are the ConfigMaps and Secrets in the build.
	Configs []Config
	// Appliers are the Kustomizations of Flux and the Applications of Argo CD in the
	// build, as JSON.
	Appliers []json.RawMessage
}

// Build builds a folder as a GitOps tool with these edits does. files has paths from the
// root of the repository. Build fetches nothing, and returns an error for a remote entry.
// Workloads contains only objects of the kinds.
func Build(files map[string][]byte, dir string, e Edits, kinds workload.Kinds) (Overlay, error) {
	dir = path.Clean(dir)
	files, err := e.apply(files, dir)
	if err != nil {
		return Overlay{}, err
	}
	o := Overlay{Dir: dir}
	if o.Folders, _, err = Trace(files, dir); err != nil {
		return o, err
	}
	built, err := build(files, dir)
	if err != nil {
		return o, err
	}
	whole := o
	for _, r := range built.Resources() {
		data, err := r.MarshalJSON()
		if err == nil {
			err = whole.add(data, kinds)
		}
		if err != nil {
			return o, fmt.Errorf("build %s: %s: %w", dir, r.CurId(), err)
		}
	}
	whole.sort()
	return whole, nil
}

// Missing returns the paths that a build of a folder requires and that files does not
// contain.
func (e Edits) Missing(files map[string][]byte, dir string) ([]string, error) {
	files, err := e.apply(files, path.Clean(dir))
	if err != nil {
		return nil, err
	}
	_, missing, err := Trace(files, dir)
	return missing, err
}

// apply returns the files after the edits.
func (e Edits) apply(files map[string][]byte, dir string) (map[string][]byte, error) {
	name := kustomizationAt(files, dir)
	edited := maps.Clone(e.Fields)
	maps.DeleteFunc(edited, func(_ string, value any) bool {
		list, isList := value.([]any)
		return value == nil || value == "" || isList && len(list) == 0
	})
	if name != "" && len(edited) == 0 {
		return files, nil
	}
	fields := map[string]any{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
	if name == "" {
		manifests := e.manifests(files, dir)
		if len(manifests) == 0 {
			return files, nil
		}
		name, fields["resources"] = path.Join(dir, kustomizationNames[0]), manifests
	} else if err := yaml.Unmarshal(files[name], &fields); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for field, value := range edited {
		if list, ok := value.([]any); ok {
			there, _ := fields[field].([]any)
			value = slices.Concat(there, list)
		}
		fields[field] = value
	}
	data, err := yaml.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", name, err)
	}
	files = maps.Clone(files)
	files[name] = data
	return files, nil
}

// manifests returns the entries for a folder without a kustomization.
func (e Edits) manifests(files map[string][]byte, dir string) []string {
	var found []string
	for name := range files {
		below, ok := strings.CutPrefix(name, dir+"/")
		if dir == "." {
			below, ok = name, true
		}
		if ok && named(below) && (e.Recurse || !strings.Contains(below, "/")) {
			found = append(found, e.entry(files, dir, below))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// entry returns the manifest. With Folders, it returns the topmost folder between dir and
// the manifest that has a kustomization, if there is such a folder.
func (e Edits) entry(files map[string][]byte, dir, manifest string) string {
	for at, letter := range manifest {
		if e.Folders && letter == '/' && kustomizationAt(files, path.Join(dir, manifest[:at])) != "" {
			return manifest[:at]
		}
	}
	return manifest
}

func (o *Overlay) sort() {
	slices.SortFunc(o.Workloads, func(a, b Object) int { return workload.Compare(a.ID, b.ID) })
}

// add adds an object in JSON to the overlay, if the overlay has a list for its kind.
func (o *Overlay) add(data []byte, kinds workload.Kinds) error {
	var r metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	var err error
	namespace := cmp.Or(r.Namespace, "default")
	gvk := r.GroupVersionKind()
	kind, isWorkload := kinds.Named(gvk.Group, gvk.Kind)
	scaler, isAutoscaler := Autoscalers.Named(gvk.Group, gvk.Kind)
	switch {
	case isWorkload:
		w := Object{ID: workload.ID{Namespace: namespace, Kind: kind, Name: r.Name},
			Unplaced: r.Namespace == "", Annotations: r.Annotations, Template: podTemplate(data)}
		w.Images, w.Paused = templateOf(data)
		object, _ := kinds.Object(kind)
		w.Replicas, err = replicasOf(data, object.Replicas)
		o.Workloads = append(o.Workloads, w)
	case isAutoscaler:
		var a Autoscaler
		a, err = AutoscalerOf(scaler, data, kinds)
		a.ID.Namespace, a.Target.Namespace = namespace, namespace
		a.Unplaced = r.Namespace == ""
		o.Autoscalers = append(o.Autoscalers, a)
	case gvk.Group == "" && gvk.Kind == "ConfigMap" && r.Name == recordName:
		o.Records = append(o.Records, namespace)
	case gvk.Group == "" && (gvk.Kind == "ConfigMap" || gvk.Kind == "Secret"):
		c, unread := configOf(data)
		if unread == nil { // the API server refuses another one
			c.Namespace, c.Unplaced = namespace, r.Namespace == ""
			o.Configs = append(o.Configs, c)
		}
	case gvk.Group == "admissionregistration.k8s.io":
		o.Admission = append(o.Admission, gvk.Kind+" "+r.Name)
	case applies(gvk.Group, gvk.Kind):
		o.Appliers = append(o.Appliers, data)
	}
	return err
}

// recordName is the name of the ConfigMap in a checkpoint file.
const recordName = "gitlatch-checkpoint"
