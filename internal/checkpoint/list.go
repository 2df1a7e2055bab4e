package checkpoint

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// listMark is the start of a site's kustomization. gitlatch does not change a file with another start.
const listMark = "# gitlatch writes this file"

const listHeader = listMark + ` from the checkpoint files. A namespace without workloads is not
# in the list, because applying its checkpoint file would fail if the namespace is deleted.
# To apply the list, use kubectl apply -k, a Flux Kustomization, or an Argo CD source.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
`

// ListPath returns the path of a site's kustomization, which lists the checkpoint files of
// its namespaces.
func ListPath(site string) string { return path.Join(Directory(site), componentFile) }

// formatList returns the canonical bytes of a site's kustomization for sorted namespaces.
// An absent or empty file would fail the builds that include it.
func formatList(namespaces []string) []byte {
	b := []byte(listHeader)
	if len(namespaces) == 0 {
		return append(b, "resources: []\n"...)
	}
	b = append(b, "resources:\n"...)
	for _, namespace := range namespaces {
		b = fmt.Appendf(b, "- %s\n", path.Join(namespace, recordFile))
	}
	return b
}

var listed = regexp.MustCompile(`([a-z0-9-]+)/` + regexp.QuoteMeta(recordFile))

// lists returns the namespaces in the site's kustomization, sorted, also if a user edited
// the file.
func (t Tree) lists() (namespaces []string) {
	for line := range strings.Lines(string(t.files[ListPath(t.name)])) {
		text, _, _ := strings.Cut(line, "#")
		for _, m := range listed.FindAllStringSubmatch(text, -1) {
			namespaces = append(namespaces, m[1])
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// HasList reports whether the site has a kustomization that gitlatch wrote.
func (t Tree) HasList() bool {
	return bytes.HasPrefix(t.files[ListPath(t.name)], []byte(listMark))
}

// ForeignList reports whether a user wrote the site's kustomization. gitlatch does not
// change it.
func (t Tree) ForeignList() bool {
	_, there := t.files[ListPath(t.name)]
	return t.unsafeList || there && !t.HasList()
}

// recorded returns the namespaces with a checkpoint file, sorted. The file may be broken,
// or a link.
func (t Tree) recorded() (namespaces []string) {
	return slices.DeleteFunc(t.Namespaces(), func(namespace string) bool {
		_, there := t.files[RecordPath(t.name, namespace)]
		return t.Broken[namespace] == nil && !there
	})
}

// Unlisted returns the namespaces with a checkpoint file that the site's kustomization
// leaves out, sorted. It is nil if the site has no kustomization of gitlatch.
func (t Tree) Unlisted() []string {
	if !t.HasList() {
		return nil
	}
	return without(t.recorded(), t.lists())
}

// Dangling reports whether the site's kustomization lists a checkpoint file that does not
// exist. Such a kustomization does not build.
func (t Tree) Dangling() bool { return t.HasList() && len(without(t.lists(), t.recorded())) > 0 }

// A Listing is the difference that a commit makes to the site's kustomization.
type Listing struct {
	Lists    bool     // the site has a kustomization of gitlatch after the commit
	Unlisted []string // as Tree.Unlisted after the commit
	// Added and Removed are the namespaces with a checkpoint file before and after the
	// commit that the kustomization then lists, or then leaves out.
	Added, Removed []string
}

// List adds the site's kustomization to the files of a Merge, unless it is unchanged or
// a user wrote it. It lists every namespace that has a checkpoint file after the commit,
// apart from these: it leaves out a namespace that is malformed or false in listed, and one
// that is absent in listed if the kustomization left it out before.
func List(tree Tree, files map[string][]byte, listed map[string]bool) Listing {
	before := tree.Unlisted()
	if tree.ForeignList() {
		return Listing{}
	}
	l := Listing{Lists: true}
	var names []string
	for _, namespace := range tree.after(files) {
		list, decided := listed[namespace]
		if !decided {
			list = !slices.Contains(before, namespace)
		}
		if list && !tree.Malformed[namespace] {
			names = append(names, namespace)
		} else {
			l.Unlisted = append(l.Unlisted, namespace)
		}
	}
	l.Added = without(before, without(before, names))
	if tree.HasList() {
		l.Removed = without(l.Unlisted, before)
	}
	at, data := ListPath(tree.name), formatList(names)
	if !bytes.Equal(tree.files[at], data) {
		files[at] = data
	}
	return l
}

// after returns the namespaces with a checkpoint file after some files are replaced, sorted.
func (t Tree) after(files map[string][]byte) []string {
	namespaces := t.recorded()
	for file, data := range files {
		namespace, name, ok := split(t.name, file)
		if !ok || name != recordFile {
			continue
		}
		namespaces = without(namespaces, []string{namespace})
		if data != nil {
			namespaces = append(namespaces, namespace)
		}
	}
	slices.Sort(namespaces)
	return namespaces
}

// without returns the names that are not among others.
func without(names, others []string) []string {
	among := lists.Index(others, func(name string) string { return name })
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, is := among[name]
		return is
	})
}
