package checkpoint

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	siteFile      = "site.yaml"
	recordFile    = "checkpoint.yaml"
	componentFile = "kustomization.yaml"
)

// Directory returns the path of a site's directory, from the root of the repository.
func Directory(site string) string { return path.Join("checkpoints", site) }

// Files returns the names of the files of a Tree, below the directory of a site; * is any
// namespace.
func Files() []string {
	return []string{siteFile, componentFile, path.Join("*", recordFile), path.Join("*", componentFile)}
}

// SitePath returns the path of a site's site.yaml.
func SitePath(site string) string { return path.Join(Directory(site), siteFile) }

// RecordPath returns the path of a namespace's checkpoint file.
func RecordPath(site, namespace string) string {
	return path.Join(Directory(site), namespace, recordFile)
}

// ComponentPath returns the path of a namespace's Component.
func ComponentPath(site, namespace string) string {
	return path.Join(Directory(site), namespace, componentFile)
}

// A Tree is the content of a site's directory in git. The zero value is a site that is
// not in git.
type Tree struct {
	Site    Site              // zero if there is no site.yaml
	Records map[string]Record // by namespace, the readable ones
	Broken  map[string]error  // by namespace, the errors of the others
	// Malformed are the namespaces in Broken whose checkpoint file is not a ConfigMap of its
	// namespace that an API server accepts. One such file in a kustomization can fail the
	// build of all of them.
	Malformed map[string]bool

	name       string // of the site
	files      map[string][]byte
	unsafeList bool // the site's kustomization is a link or another unsafe object
	unquoted   []string
}

// ParseTree parses the files of a site, by their path from the root of the repository. It
// ignores files of other kinds. A broken checkpoint file affects its namespace alone. The error
// is about site.yaml: the file has a newer format, names another site or cannot be read. The
// other files must then be neither used nor written.
func ParseTree(site string, files map[string][]byte) (Tree, error) {
	t := Tree{Records: map[string]Record{}, Broken: map[string]error{}, Malformed: map[string]bool{}, name: site, files: files}
	if data, ok := files[SitePath(site)]; ok {
		s, err := parseSite(SitePath(site), data)
		if err != nil {
			return Tree{}, err
		}
		if s.Name != site {
			return Tree{}, fmt.Errorf("%s: name: must be %s as in its path, got %s", SitePath(site), site, s.Name)
		}
		t.Site = s
	}
	for file, data := range files {
		namespace, name, ok := split(site, file)
		if !ok || name != recordFile {
			continue
		}
		reader := newReader(file)
		r, err := parseRecord(reader, namespace, data, t.foreign)
		if err != nil {
			t.Broken[namespace] = err
			if !isConfigMap(reader) || reader.Bare() {
				t.Malformed[namespace] = true
			}
			continue
		}
		if reader.Bare() {
			t.unquoted = append(t.unquoted, namespace)
		}
		t.Records[namespace] = r
	}
	return t, nil
}

// With returns the tree after some files were replaced; nil removes a file. It parses all
// files again, and forgets the effects of Break.
func (t Tree) With(files map[string][]byte) (Tree, error) {
	all := maps.Clone(t.files)
	if all == nil {
		all = map[string][]byte{}
	}
	maps.Copy(all, files)
	maps.DeleteFunc(all, func(_ string, data []byte) bool { return data == nil })
	return ParseTree(t.name, all)
}

// Break marks a file or folder of the site as unreadable, for the given reason. It
// affects the namespace like a broken checkpoint file. For site.yaml it returns the reason. The
// site's kustomization then counts as a user's. It ignores files that are not part of a Tree.
func (t *Tree) Break(file string, why error) error {
	switch file {
	case SitePath(t.name):
		return why
	case ListPath(t.name):
		t.unsafeList = true
		return nil
	}
	if namespace, name, ok := split(t.name, file); ok && (name == "" || name == recordFile || name == componentFile) {
		delete(t.Records, namespace)
		t.Broken[namespace] = why
	}
	return nil
}

// split returns the namespace and the name of a file below a namespace's folder.
func split(site, file string) (namespace, name string, ok bool) {
	rest, below := strings.CutPrefix(file, Directory(site)+"/")
	namespace, name, _ = strings.Cut(rest, "/")
	return namespace, name, below && workload.ValidLabel(namespace)
}

// foreign returns an error if a kind in a checkpoint file is not a known kind.
func (t Tree) foreign(kind workload.Kind) error {
	if _, known := t.Site.Kinds.Object(kind); known {
		return nil
	}
	return fmt.Errorf("unknown kind %q. Known kinds are %s, and the kinds in %s",
		kind, strings.Join(lists.Map(t.Site.Kinds.All(), workload.Kind.String), ", "), SitePath(t.name))
}

// Component returns the canonical bytes of a namespace's Component, made from its
// checkpoint file.
func (t Tree) Component(namespace string) []byte {
	return t.Records[namespace].Component(t.Site.Kinds)
}

// Entries returns the entries of all readable checkpoint files.
func (t Tree) Entries() map[workload.ID]Entry {
	all := map[workload.ID]Entry{}
	for _, r := range t.Records {
		maps.Copy(all, r.Entries)
	}
	return all
}

// Namespaces returns the namespaces with a checkpoint file or a Component, readable or
// not, sorted.
func (t Tree) Namespaces() []string {
	found := map[string]bool{}
	for namespace := range t.Broken {
		found[namespace] = true
	}
	for file := range t.files {
		if namespace, name, ok := split(t.name, file); ok && (name == recordFile || name == componentFile) {
			found[namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Unquoted returns the namespaces with a readable checkpoint file that has a value without
// quotes, such as deployment.web: 50, sorted. An API server refuses such a ConfigMap, and then
// tools apply no file of the list. A Merge with a change in the namespace writes the quotes,
// and so does Repair.
func (t Tree) Unquoted() []string { return slices.Sorted(slices.Values(t.unquoted)) }

// Stale returns the namespaces with a Component that differs from their checkpoint file,
// sorted: a user edited or removed one of the two. A Merge with a change in the namespace
// repairs the Component, and so does Repair. Namespaces with a broken checkpoint file are
// not included.
func (t Tree) Stale() []string {
	return slices.DeleteFunc(t.Namespaces(), func(namespace string) bool {
		component := t.files[ComponentPath(t.name, namespace)]
		return t.Broken[namespace] != nil || bytes.Equal(component, t.Component(namespace))
	})
}
