package gitwire

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// An edit is the objects that a change of files makes, innermost first.
type edit struct {
	*sight
	made []object
}

// splice returns the tree that results from changing files, by path below it,
// in a tree. Nil content removes a file. Lines that are not concerned are
// copied byte for byte, in the order that they have. A tree left without
// entries has the id of the empty tree. at is where the tree is.
func (e *edit) splice(tree plumbing.Hash, at string, files map[string][]byte) (plumbing.Hash, error) {
	entries, ok, err := e.entries(tree, at)
	if !ok {
		return tree, err
	}
	here, below := divide(files)
	for _, name := range slices.Sorted(maps.Keys(here)) {
		if entries, err = e.setFile(entries, join(at, name), name, here[name]); err != nil {
			return tree, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		if entries, err = e.setTree(entries, join(at, name), name, below[name]); err != nil {
			return tree, err
		}
	}
	made := treeObject(entries)
	if id := made.id(); id != tree {
		e.made = append(e.made, made)
		return id, nil
	}
	return tree, nil
}

// entries is the sight's tree, in which the zero id is a tree to begin.
func (e *edit) entries(tree plumbing.Hash, path string) ([]entry, bool, error) {
	if tree.IsZero() || tree == emptyTree {
		return nil, true, nil
	}
	entries, ok, err := e.tree(tree)
	return entries, ok, at(cmp.Or(path, "the root"), err)
}

var emptyTree = treeObject(nil).id()

func (e *edit) setFile(entries []entry, path, name string, content []byte) ([]entry, error) {
	old, held := named(entries, name)
	switch {
	case held && old.kind() == repo.Folder:
		return nil, &repo.UnsafeError{Path: path, Why: "is a directory"}
	case held && old.kind() != repo.File:
		return nil, &repo.UnsafeError{Path: path, Why: old.kind().Unsafe()}
	case content == nil:
		return without(entries, name), nil
	}
	blob := object{plumbing.BlobObject, content}
	if held && old.id == blob.id() {
		return entries, nil
	}
	e.made = append(e.made, blob)
	if held {
		return with(entries, old.withID(blob.id())), nil
	}
	return with(entries, newEntry("100644", name, blob.id())), nil
}

func (e *edit) setTree(entries []entry, path, name string, files map[string][]byte) ([]entry, error) {
	old, held := named(entries, name)
	switch {
	case held && old.kind() == repo.File && onlyRemoves(files), !held && onlyRemoves(files):
		return entries, nil
	case held && old.kind() == repo.File:
		return nil, &repo.UnsafeError{Path: path, Why: "is a file where a directory is needed"}
	case held && old.kind() != repo.Folder:
		return nil, &repo.UnsafeError{Path: path, Why: old.kind().Unsafe()}
	case !held:
		old = newEntry("40000", name, plumbing.ZeroHash)
	}
	id, err := e.splice(old.id, path, files)
	switch {
	case err != nil:
		return nil, err
	case id == emptyTree:
		return without(entries, name), nil
	case id == old.id:
		return entries, nil
	}
	return with(entries, old.withID(id)), nil
}

// divide parts files in those of the directory itself and those below each of
// its directories.
func divide(files map[string][]byte) (here map[string][]byte, below map[string]map[string][]byte) {
	here, below = map[string][]byte{}, map[string]map[string][]byte{}
	for path, content := range files {
		dir, rest, nested := strings.Cut(path, "/")
		switch {
		case !nested:
			here[path] = content
		case below[dir] == nil:
			below[dir] = map[string][]byte{rest: content}
		default:
			below[dir][rest] = content
		}
	}
	return here, below
}

func onlyRemoves(files map[string][]byte) bool {
	for _, content := range files {
		if content != nil {
			return false
		}
	}
	return true
}

// with returns the entries with one replaced, or put in at its place.
func with(entries []entry, e entry) []entry {
	entries = slices.Clone(entries)
	for i := range entries {
		if entries[i].name == e.name {
			entries[i] = e
			return entries
		}
	}
	at := slices.IndexFunc(entries, func(other entry) bool { return order(other, e) > 0 })
	if at < 0 {
		at = len(entries)
	}
	return slices.Insert(entries, at, e)
}

func without(entries []entry, name string) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.name == name })
}
