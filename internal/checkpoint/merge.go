package checkpoint

import (
	"bytes"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Merge applies changes to a tree of the site. It applies a change if the tree still has
// the From of the change; a zero Entry is an absent entry. The other changes are returned
// as skipped, in the order of workload.Compare, as are the changes that a checkpoint file
// cannot represent and those of a broken checkpoint file. changes has a workload at most
// once; the order does not matter.
//
// files are the files whose bytes change, by their path from the root of the repository;
// nil removes a file. Merge writes the checkpoint file of each namespace with an applied
// change, and removes it if the namespace has no entries left. It also writes site.yaml if
// it differs from site. The kinds in the tree's site.yaml remain, except for the old name of
// a kind without an entry. If no change was applied, there are no files.
func Merge(tree Tree, site Site, changes []Change) (files map[string][]byte, skipped []workload.ID) {
	renamed := tree.renamed(site.Kinds)
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
	for kind := range renamed {
		if !tree.has(kind, touched) {
			delete(site.Kinds, kind)
		}
	}

	files = map[string][]byte{}
	for namespace, r := range touched {
		path := RecordPath(site.Name, namespace)
		_, there := tree.files[path]
		if len(r.Entries) > 0 {
			files[path] = r.Format()
		} else if there {
			files[path] = nil
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

// Repair adds to the files of a Merge the checkpoint files of the namespaces in their
// canonical form. It does not add a file that Merge writes, or that is unchanged.
func Repair(tree Tree, files map[string][]byte, namespaces []string) {
	stale := tree.Stale()
	for _, namespace := range namespaces {
		path := RecordPath(tree.name, namespace)
		if _, written := files[path]; !written && slices.Contains(stale, namespace) {
			files[path] = tree.Records[namespace].Format()
		}
	}
}

// Rename returns changes plus the removal of entries under the old name of a kind, and
// these removals alone. It removes an entry if the workload has an entry under the new
// name after the changes, because two entries would be two patches for one object. A level
// stays until there is a level under the new name. kinds has the present names. Both results
// are in the order of workload.Compare.
func (t Tree) Rename(kinds workload.Kinds, changes []Change) (all, removals []Change) {
	renamed := t.renamed(kinds)
	if len(renamed) == 0 {
		return changes, nil
	}
	git := t.Entries()
	after := maps.Clone(git)
	for _, c := range changes {
		after[c.ID] = c.To
	}
	replaced := func(id workload.ID) bool {
		now := id
		now.Kind = renamed[id.Kind]
		return after[now].Replicas > 0 || !after[now].IsZero() && git[id].Replicas == 0
	}
	all = lists.Filter(changes, func(c Change) bool { return !replaced(c.ID) })
	for id, e := range git {
		if replaced(id) {
			removals = append(removals, Change{ID: id, From: e})
		}
	}
	inOrder := func(a, b Change) int { return workload.Compare(a.ID, b.ID) }
	slices.SortFunc(removals, inOrder)
	all = append(all, removals...)
	slices.SortFunc(all, inOrder)
	return all, removals
}

// renamed returns the kinds of site.yaml that have another name in kinds, with that name.
func (t Tree) renamed(kinds workload.Kinds) map[workload.Kind]workload.Kind {
	renamed := map[workload.Kind]workload.Kind{}
	for kind, o := range t.Site.Kinds {
		now, named := kinds.Named(o.Group, o.Kind)
		if _, same := kinds.Object(kind); named && !same {
			renamed[kind] = now
		}
	}
	return renamed
}

// has reports whether a checkpoint file may have an entry of a kind after some files are
// replaced. A file that cannot be read may have one.
func (t Tree) has(kind workload.Kind, replaced map[string]Record) bool {
	records := maps.Clone(t.Records)
	maps.Copy(records, replaced)
	for _, r := range records {
		for id := range r.Entries {
			if id.Kind == kind {
				return true
			}
		}
	}
	return len(t.Broken) > 0
}

// takes reports whether a change can be applied to the tree.
func (t Tree) takes(c Change) bool {
	if t.Broken[c.ID.Namespace] != nil || Fits(c.ID) != nil || t.foreign(c.ID.Kind) != nil || !c.To.IsZero() && c.To.valid(c.ID) != nil {
		return false
	}
	return t.Records[c.ID.Namespace].Entries[c.ID] == c.From
}
