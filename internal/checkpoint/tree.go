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
	siteFile     = "site.yaml"
	recordSuffix = ".levels.yaml"
)

// Directory returns the path of a site's directory, from the root of the repository.
func Directory(site string) string { return path.Join("checkpoints", site) }

// Files returns the names of the files of a Tree, below the directory of a site; * is any
// namespace.
func Files() []string { return []string{siteFile, recordName("*")} }

// SitePath returns the path of a site's site.yaml.
func SitePath(site string) string { return path.Join(Directory(site), siteFile) }

// RecordPath returns the path of a namespace's checkpoint file.
func RecordPath(site, namespace string) string {
	return path.Join(Directory(site), recordName(namespace))
}

func recordName(namespace string) string { return namespace + recordSuffix }

// A Tree is the content of a site's directory in git. The zero value is a site that is
// not in git.
type Tree struct {
	Site    Site              // zero if there is no site.yaml
	Records map[string]Record // by namespace, the readable ones
	Broken  map[string]error  // by namespace, the errors of the others

	name  string // of the site
	files map[string][]byte
}

// ParseTree parses the files of a site, by their path from the root of the repository. It
// ignores files of other kinds. A broken checkpoint file affects its namespace alone. The error
// is about site.yaml: the file has a newer format, names another site or cannot be read. The
// other files must then be neither used nor written.
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
	for file, data := range files {
		namespace, ok := namespaceOf(site, file)
		if !ok {
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

// Break marks a file of the site as unreadable, for the given reason. It affects the
// namespace like a broken checkpoint file. For site.yaml it returns the reason. It ignores
// files that are not part of a Tree.
func (t *Tree) Break(file string, why error) error {
	if file == SitePath(t.name) {
		return why
	}
	namespace, ok := namespaceOf(t.name, file)
	if ok {
		delete(t.Records, namespace)
		t.Broken[namespace] = why
	}
	return nil
}

// namespaceOf returns the namespace of a checkpoint file; ok is false for another file.
func namespaceOf(site, file string) (namespace string, ok bool) {
	name, below := strings.CutPrefix(file, Directory(site)+"/")
	namespace, is := strings.CutSuffix(name, recordSuffix)
	return namespace, below && is && workload.ValidLabel(namespace)
}

// foreign returns an error if a kind in a checkpoint file is not a known kind.
func (t Tree) foreign(kind workload.Kind) error {
	if _, known := t.Site.Kinds.Object(kind); known {
		return nil
	}
	return fmt.Errorf("unknown kind %q. Known kinds are %s, and the kinds in %s",
		kind, strings.Join(lists.Map(t.Site.Kinds.All(), workload.Kind.String), ", "), SitePath(t.name))
}

// Entries returns the entries of all readable checkpoint files.
func (t Tree) Entries() map[workload.ID]Entry {
	all := map[workload.ID]Entry{}
	for _, r := range t.Records {
		maps.Copy(all, r.Entries)
	}
	return all
}

// Stale returns the namespaces with a readable checkpoint file that is not in its
// canonical form, sorted: a user edited the text around the levels, or wrote a level without
// quotes, which an API server refuses. A Merge with a change in the namespace restores the
// text, and so does Repair.
func (t Tree) Stale() (namespaces []string) {
	for namespace, r := range t.Records {
		if !bytes.Equal(t.files[RecordPath(t.name, namespace)], r.Format()) {
			namespaces = append(namespaces, namespace)
		}
	}
	slices.Sort(namespaces)
	return namespaces
}
