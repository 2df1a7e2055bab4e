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

	"github.com/gitlatch/gitlatch/internal/each"
)

// A Folder is what matters of one kustomization that a build goes through.
type Folder struct {
	Dir string // from the root of the repository

	// Namespace, Prefix and Suffix are what the folder's transformers set and
	// add; "" where it has none.
	Namespace, Prefix, Suffix string
	// Components are the folders of the Components that it includes itself.
	Components []string
	// Replicas are the names whose count its replicas: field sets.
	Replicas []string
}

// Trace walks a kustomization and all that it builds on, in files by their path
// from the root of the repository. missing are the paths that it leads to and
// that files does not hold, sorted: read those, and trace again. The error names
// what is remote, or a file that is no kustomization.
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

// KustomizationNames are the names that the kustomization of a folder may have.
func KustomizationNames() []string { return slices.Clone(kustomizationNames) }

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// kustomizationAt returns the kustomization of a folder; "" where it has none.
func kustomizationAt(files map[string][]byte, dir string) string {
	for _, name := range kustomizationNames {
		if _, ok := files[path.Join(dir, name)]; ok {
			return path.Join(dir, name)
		}
	}
	return ""
}

// objectEntries are the entries that are folders or files of objects.
func objectEntries(k types.Kustomization) []string {
	return slices.Concat(k.Resources, k.Bases, k.Components, k.Generators, k.Transformers, k.Validators)
}

// otherEntries are the entries that are files of something else. Inline text is among
// them, and is left alone.
func otherEntries(k types.Kustomization) []string {
	all := slices.Concat(k.Crds, k.Configurations, slices.Collect(maps.Values(k.OpenAPI)),
		each.Of(k.PatchesStrategicMerge, func(p types.PatchStrategicMerge) string { return string(p) }),
		each.Of(slices.Concat(k.Patches, k.PatchesJson6902), func(p types.Patch) string { return p.Path }),
		each.Of(k.Replacements, func(r types.ReplacementField) string { return r.Path }))
	generated := slices.Concat(
		each.Of(k.ConfigMapGenerator, func(g types.ConfigMapArgs) types.KvPairSources { return g.KvPairSources }),
		each.Of(k.SecretGenerator, func(g types.SecretArgs) types.KvPairSources { return g.KvPairSources }))
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
	f.Components = each.Of(k.Components, func(c string) string { return path.Join(dir, c) })
	f.Replicas = each.Of(k.Replicas, func(r types.Replica) string { return r.Name })
	t.folders = append(t.folders, f)
	for _, entry := range objectEntries(k) {
		t.follow(dir, entry, true)
	}
	for _, entry := range otherEntries(k) {
		t.follow(dir, entry, false)
	}
}

// follow goes where an entry of a folder leads; a file that is not built may be
// missing where the entry is inline text.
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

// named reports whether a path is that of a file of YAML or JSON.
func named(at string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(at)) || path.Base(at) == "Kustomization"
}

// remote reports whether kustomize would take an entry that is no local path
// for something to fetch.
func remote(entry string) bool {
	for _, mark := range []string{"://", "::", "//", "?ref=", "?version=", "_git/", ".git/"} {
		if strings.Contains(entry, mark) {
			return true
		}
	}
	return strings.HasPrefix(entry, "git@") || strings.HasPrefix(entry, "gh:") ||
		strings.HasPrefix(entry, "github.com/") || strings.HasSuffix(entry, ".git")
}
