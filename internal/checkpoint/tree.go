package checkpoint

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	siteFile      = "site.yaml"
	recordFile    = "checkpoint.yaml"
	componentFile = "kustomization.yaml"
)

// Directory is the path, from the root of the repository, of all that belongs
// to a site.
func Directory(site string) string { return path.Join("checkpoints", site) }

// Files are the names, below the directory of a site, of all that a Tree is made
// of; * is any namespace.
func Files() []string {
	return []string{siteFile, evidenceFile, path.Join("*", recordFile), path.Join("*", componentFile)}
}

// SitePath is the path of a site's site.yaml.
func SitePath(site string) string { return path.Join(Directory(site), siteFile) }

// RecordPath is the path of the record of a namespace.
func RecordPath(site, namespace string) string {
	return path.Join(Directory(site), namespace, recordFile)
}

// ComponentPath is the path of the Component of a namespace.
func ComponentPath(site, namespace string) string {
	return path.Join(Directory(site), namespace, componentFile)
}

// A Tree is what git holds of a site. The zero value is a site that git knows
// nothing of.
type Tree struct {
	Site    Site              // zero where there is no site.yaml
	Records map[string]Record // by namespace, those that could be read
	Broken  map[string]error  // by namespace, what is wrong with the others
	// Evidence is what protection.yaml says, and Unproven what is wrong with it.
	Evidence Evidence
	Unproven error

	name  string // of the site
	files map[string][]byte
}

// ParseTree reads the files of a site by their path from the root of the
// repository. Files that belong to no record are left alone. A broken record
// costs only its namespace. The error is about site.yaml: it is of a newer
// format, of another site or cannot be read; then nothing beside it may be
// relied on or written. A broken protection.yaml costs the evidence alone.
func ParseTree(site string, files map[string][]byte) (Tree, error) {
	t := Tree{Records: map[string]Record{}, Broken: map[string]error{}, name: site, files: files}
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
	if data, ok := files[EvidencePath(site)]; ok {
		t.Evidence, t.Unproven = ParseEvidence(EvidencePath(site), data)
	}
	for file, data := range files {
		namespace, name, ok := split(site, file)
		if !ok || name != recordFile {
			continue
		}
		r, err := parseRecord(newReader(file), namespace, data, t.foreign)
		if err != nil {
			t.Broken[namespace] = err
			continue
		}
		t.Records[namespace] = r
	}
	return t, nil
}

// With returns the tree as its files have it, once some hold other content: nil
// removes one. What was broken beside them is not in it.
func (t Tree) With(files map[string][]byte) (Tree, error) {
	all := maps.Clone(t.files)
	if all == nil {
		all = map[string][]byte{}
	}
	maps.Copy(all, files)
	maps.DeleteFunc(all, func(_ string, data []byte) bool { return data == nil })
	return ParseTree(t.name, all)
}

// Break notes that a file or folder of the site cannot be read as what it is.
// It costs its namespace, as a broken record does. Where it belongs to none it
// is left alone, but for protection.yaml, which it costs, and for site.yaml, whose
// error comes back.
func (t *Tree) Break(file string, why error) error {
	switch file {
	case SitePath(t.name):
		return why
	case EvidencePath(t.name):
		t.Evidence, t.Unproven = nil, why
		return nil
	}
	if namespace, name, ok := split(t.name, file); ok && (name == "" || name == recordFile || name == componentFile) {
		delete(t.Records, namespace)
		t.Broken[namespace] = why
	}
	return nil
}

// split takes apart the path of a file that belongs to a namespace.
func split(site, file string) (namespace, name string, ok bool) {
	rest, below := strings.CutPrefix(file, Directory(site)+"/")
	namespace, name, _ = strings.Cut(rest, "/")
	return namespace, name, below && workload.ValidLabel(namespace)
}

// foreign says what is wrong with a kind that stands in a record; nil of one that
// is known.
func (t Tree) foreign(kind workload.Kind) error {
	if _, known := t.Site.Kinds.Object(kind); known {
		return nil
	}
	return fmt.Errorf("unknown kind %q. Known kinds are %s, and the kinds in %s",
		kind, strings.Join(each.Of(t.Site.Kinds.All(), workload.Kind.String), ", "), SitePath(t.name))
}

// Component returns the canonical bytes of the Component of a namespace, by its
// record.
func (t Tree) Component(namespace string) []byte {
	return t.Records[namespace].Component(t.Site.Kinds)
}

// Entries are the entries of all records that could be read.
func (t Tree) Entries() map[workload.ID]Entry {
	all := map[workload.ID]Entry{}
	for _, r := range t.Records {
		maps.Copy(all, r.Entries)
	}
	return all
}

// Namespaces are those with a record or a Component, readable or not, sorted: where
// anything is declared, was, or will be.
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

// Stale are the namespaces whose Component differs from their record, sorted: a user edited
// or removed one of the two. A Merge with a change in the namespace repairs it, and so does
// Repair. Broken records are not among them.
func (t Tree) Stale() []string {
	return slices.DeleteFunc(t.Namespaces(), func(namespace string) bool {
		component := t.files[ComponentPath(t.name, namespace)]
		return t.Broken[namespace] != nil || bytes.Equal(component, t.Component(namespace))
	})
}
