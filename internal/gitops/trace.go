package gitops

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Folder describes one kustomization of a build.
type Folder struct {
	Dir string // from the root of the repository

	// Namespace, Prefix and Suffix are the values of the folder's transformers; "" if not
	// set.
	Namespace, Prefix, Suffix string
	// Components are the folders of the Components that this kustomization includes
	// directly.
	Components []string
	// Replicas are the names in its replicas: field.
	Replicas []string
}

// Trace follows a kustomization and everything that it refers to. files has paths from
// the root of the repository. missing are the paths that files does not contain, sorted:
// add them to files and call Trace again. The error names a remote entry, an entry outside
// the repository or an invalid kustomization.
func Trace(files map[string][]byte, dir string) (folders []Folder, missing []string, err error) {
	t := tracer{files: files, seen: map[string]bool{}, missing: map[string]bool{}}
	t.folder(path.Clean(dir))
	return t.folders, slices.Sorted(maps.Keys(t.missing)), errors.Join(t.errs...)
}

type tracer struct {
	files   map[string][]byte
	seen    map[string]bool
	folders []Folder
	missing map[string]bool
	errs    []error
}

// KustomizationNames returns the file names of a kustomization.
func KustomizationNames() []string { return slices.Clone(kustomizationNames) }

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// kustomizationAt returns the path of a folder's kustomization, or "" if the folder has
// no kustomization.
func kustomizationAt(files map[string][]byte, dir string) string {
	for _, name := range kustomizationNames {
		if _, ok := files[path.Join(dir, name)]; ok {
			return path.Join(dir, name)
		}
	}
	return ""
}

// otherEntries returns the entries that are other files. They may also be inline text,
// which follow ignores.
func otherEntries(k types.Kustomization) []string {
	all := slices.Concat(k.Crds, k.Configurations, slices.Collect(maps.Values(k.OpenAPI)),
		lists.Map(k.PatchesStrategicMerge, func(p types.PatchStrategicMerge) string { return string(p) }),
		lists.Map(slices.Concat(k.Patches, k.PatchesJson6902), func(p types.Patch) string { return p.Path }),
		lists.Map(k.Replacements, func(r types.ReplacementField) string { return r.Path }))
	generated := slices.Concat(
		lists.Map(k.ConfigMapGenerator, func(g types.ConfigMapArgs) types.KvPairSources { return g.KvPairSources }),
		lists.Map(k.SecretGenerator, func(g types.SecretArgs) types.KvPairSources { return g.KvPairSources }))
	for _, g := range generated {
		for _, f := range slices.Concat(g.FileSources, g.EnvSources, []string{g.EnvSource}) {
			_, file, named := strings.Cut(f, "=")
			if !named {
				file = f
			}
			all = append(all, file)
		}
	}
	return all
}

func (t *tracer) folder(dir string) {
	if t.seen[dir] {
		return
	}
	t.seen[dir] = true
	file := kustomizationAt(t.files, dir)
	if file == "" {
		t.missing[dir] = true
		return
	}
	var k types.Kustomization
	if err := yaml.Unmarshal(t.files[file], &k); err != nil {
		t.errs = append(t.errs, fmt.Errorf("read %s: %w", file, err))
		return
	}
	f := Folder{Dir: dir, Namespace: k.Namespace, Prefix: k.NamePrefix, Suffix: k.NameSuffix}
	f.Components = lists.Map(k.Components, func(c string) string { return path.Join(dir, c) })
	f.Replicas = lists.Map(k.Replicas, func(r types.Replica) string { return r.Name })
	t.folders = append(t.folders, f)
	for _, entry := range slices.Concat(k.Resources, k.Bases, k.Components, k.Generators, k.Transformers, k.Validators) {
		t.follow(dir, entry, true)
	}
	for _, entry := range otherEntries(k) {
		t.follow(dir, entry, false)
	}
}

// follow traces an entry of a folder. If built is false, the entry may be inline text, so
// only a path of YAML or JSON counts as missing.
func (t *tracer) follow(dir, entry string, built bool) {
	at := path.Join(dir, entry)
	switch _, isFile := t.files[at]; {
	case entry == "" || isFile || strings.Contains(entry, "\n"):
	case remote(entry):
		t.errs = append(t.errs, fmt.Errorf("build %s: gitlatch does not fetch the remote %s. Copy it into the repository", dir, entry))
	case strings.HasPrefix(at, "../"):
		t.errs = append(t.errs, fmt.Errorf("build %s: %s is outside the repository", dir, entry))
	case built && !named(at):
		t.folder(at)
	case built || named(at):
		t.missing[at] = true
	}
}

// named reports whether a path is a YAML or JSON file.
func named(at string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(at)) || path.Base(at) == "Kustomization"
}

// remote reports whether kustomize would fetch an entry that is not a local path.
func remote(entry string) bool {
	for _, mark := range []string{"://", "::", "//", "?ref=", "?version=", "_git/", ".git/"} {
		if strings.Contains(entry, mark) {
			return true
		}
	}
	return strings.HasPrefix(entry, "git@") || strings.HasPrefix(entry, "gh:") ||
		strings.HasPrefix(entry, "github.com/") || strings.HasSuffix(entry, ".git")
}
