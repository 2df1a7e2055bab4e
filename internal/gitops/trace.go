package gitops

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
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

// A RemoteError says that a build would have to fetch something from the
// network, which is not done.
type RemoteError struct{ Dir, Entry string }

// Error names the entry and what to do.
func (e *RemoteError) Error() string {
	return fmt.Sprintf("build %s: %s is remote, and nothing is fetched: keep a copy of it in the repository", e.Dir, e.Entry)
}

// Trace walks a kustomization and all that it builds on, in files by their path
// from the root of the repository. missing are the paths that it leads to and
// that files does not hold, sorted: read those, and trace again. The error is a
// RemoteError, or names a file that is no kustomization.
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

// A kustomization is the fields of one that lead elsewhere, or change names and
// counts.
type kustomization struct {
	Namespace  string   `json:"namespace"`
	NamePrefix string   `json:"namePrefix"`
	NameSuffix string   `json:"nameSuffix"`
	Resources  []string `json:"resources"`
	Bases      []string `json:"bases"`
	Components []string `json:"components"`
	Replicas   []struct {
		Name string `json:"name"`
	} `json:"replicas"`

	Crds                  []string          `json:"crds"`
	Configurations        []string          `json:"configurations"`
	Generators            []string          `json:"generators"`
	Transformers          []string          `json:"transformers"`
	Validators            []string          `json:"validators"`
	OpenAPI               map[string]string `json:"openapi"`
	Patches               []pathed          `json:"patches"`
	PatchesJSON6902       []pathed          `json:"patchesJson6902"`
	PatchesStrategicMerge []string          `json:"patchesStrategicMerge"`
	Replacements          []pathed          `json:"replacements"`
	ConfigMapGenerator    []generated       `json:"configMapGenerator"`
	SecretGenerator       []generated       `json:"secretGenerator"`
}

type pathed struct {
	Path string `json:"path"`
}

type generated struct {
	Files []string `json:"files"`
	Envs  []string `json:"envs"`
	Env   string   `json:"env"`
}

// built are the entries that are folders or files of objects.
func (k kustomization) built() []string {
	return slices.Concat(k.Resources, k.Bases, k.Components, k.Generators, k.Transformers, k.Validators)
}

// read are the entries that are files of something else. Inline text is among
// them, and is left alone.
func (k kustomization) read() []string {
	all := slices.Concat(k.Crds, k.Configurations, k.PatchesStrategicMerge, slices.Collect(maps.Values(k.OpenAPI)))
	for _, p := range slices.Concat(k.Patches, k.PatchesJSON6902, k.Replacements) {
		all = append(all, p.Path)
	}
	for _, g := range slices.Concat(k.ConfigMapGenerator, k.SecretGenerator) {
		for _, f := range slices.Concat(g.Files, g.Envs, []string{g.Env}) {
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
	var k kustomization
	if err := yaml.Unmarshal(t.files[file], &k); err != nil {
		t.errs = append(t.errs, fmt.Errorf("read %s: %w", file, err))
		return
	}
	f := Folder{Dir: dir, Namespace: k.Namespace, Prefix: k.NamePrefix, Suffix: k.NameSuffix}
	for _, c := range k.Components {
		f.Components = append(f.Components, path.Join(dir, c))
	}
	for _, r := range k.Replicas {
		f.Replicas = append(f.Replicas, r.Name)
	}
	t.folders = append(t.folders, f)
	for _, entry := range k.built() {
		t.follow(dir, entry, true)
	}
	for _, entry := range k.read() {
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
		t.errs = append(t.errs, &RemoteError{Dir: dir, Entry: entry})
	case strings.HasPrefix(at, "../"):
		t.errs = append(t.errs, fmt.Errorf("build %s: %s lies outside the repository", dir, entry))
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
