package checkpoint

import (
	"bytes"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Merge applies changes to a tree of the site: each only where the tree still
// holds its From, zero being no entry. The others are returned as skipped, in
// the order of workload.Compare, together with those that a record cannot hold
// and those whose record is broken. A workload is in changes at most once;
// their order does not matter.
//
// The files are those whose bytes change, by their path from the root of the
// repository; nil removes one. A namespace that a change was applied to has its
// record and its Component written anew; one left without entries loses its
// record, and keeps its Component. With the first of them comes site.yaml, where
// it is not as site would have it; the kinds that the tree's names beside those of
// site stay. Where no change was applied there are no files.
func Merge(tree Tree, site Site, changes []Change) (files map[string][]byte, skipped []workload.ID) {
	site.Kinds = tree.Site.Kinds.With(site.Kinds)
	tree.Site.Kinds = site.Kinds
	touched := map[string]Record{}
	for _, c := range changes {
		if !tree.takes(c) {
			skipped = append(skipped, c.ID)
			continue
		}
		r, ok := touched[c.ID.Namespace]
		if !ok {
			r = Record{Namespace: c.ID.Namespace, Entries: map[workload.ID]Entry{}}
			maps.Copy(r.Entries, tree.Records[c.ID.Namespace].Entries)
			touched[c.ID.Namespace] = r
		}
		if c.To.IsZero() {
			delete(r.Entries, c.ID)
		} else {
			r.Entries[c.ID] = c.To
		}
	}
	slices.SortFunc(skipped, workload.Compare)

	files = map[string][]byte{}
	for namespace, r := range touched {
		record, component := RecordPath(site.Name, namespace), ComponentPath(site.Name, namespace)
		_, recorded := tree.files[record]
		_, included := tree.files[component]
		if len(r.Entries) > 0 {
			files[record] = r.Format()
			files[component] = r.Component(site.Kinds)
		} else if recorded || included {
			files[record] = nil
			files[component] = r.Component(site.Kinds)
		}
	}
	if len(files) > 0 {
		files[SitePath(site.Name)] = site.Format()
	}
	maps.DeleteFunc(files, func(file string, data []byte) bool {
		return bytes.Equal(tree.files[file], data)
	})
	return files, skipped
}

// Repair adds to the files of a Merge the Components of the namespaces, written
// anew from their records, and the records that were revised: a person edited
// one of the two, and the record is what counts. What would not change is not
// added.
func Repair(tree Tree, files map[string][]byte, namespaces []string) {
	add := func(path string, data []byte) {
		if _, written := files[path]; !written && !bytes.Equal(tree.files[path], data) {
			files[path] = data
		}
	}
	for _, namespace := range namespaces {
		r := tree.Records[namespace]
		add(ComponentPath(tree.name, namespace), tree.Component(namespace))
		if tree.revised[namespace] {
			add(RecordPath(tree.name, namespace), r.Format())
		}
	}
}

// takes reports whether a change can be applied to the tree.
func (t Tree) takes(c Change) bool {
	if t.Broken[c.ID.Namespace] != nil || Fits(c.ID) != nil || t.foreign(c.ID.Kind) != nil || !c.To.IsZero() && c.To.valid(c.ID) != nil {
		return false
	}
	return t.Records[c.ID.Namespace].Entries[c.ID] == c.From
}
