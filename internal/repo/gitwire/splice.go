package gitwire

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// An edit collects the objects that a change of files makes, innermost first.
type edit struct {
	look
	made []pack.Object
}

// splice changes files in a tree and returns the new tree. files has the content by path
// below the tree; nil content removes a file. splice copies unchanged entries byte for
// byte, in their order. If it removes every entry, it returns the id of the empty tree.
// at is the path of the tree.
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
	made := pack.TreeObject(entries)
	if id := made.ID(); id != tree {
		e.made = append(e.made, made)
		return id, nil
	}
	return tree, nil
}

// entries returns the entries of a tree. The zero id is an empty tree.
func (e *edit) entries(tree plumbing.Hash, path string) ([]pack.Entry, bool, error) {
	if tree.IsZero() || tree == emptyTree {
		return nil, true, nil
	}
	return e.Tree(tree, path)
}

var emptyTree = pack.TreeObject(nil).ID()

func (e *edit) setFile(entries []pack.Entry, path, name string, content []byte) ([]pack.Entry, error) {
	old, held := pack.Named(entries, name)
	switch {
	case held && old.Kind() == repo.Folder:
		return nil, &repo.UnsafeError{Path: path, Why: "is a directory"}
	case held && old.Kind() != repo.File:
		return nil, &repo.UnsafeError{Path: path, Why: old.Kind().Unsafe()}
	case content == nil:
		return without(entries, name), nil
	}
	blob := pack.Object{Kind: plumbing.BlobObject, Data: content}
	if held && old.ID == blob.ID() {
		return entries, nil
	}
	e.made = append(e.made, blob)
	if held {
		return with(entries, old.WithID(blob.ID())), nil
	}
	return with(entries, pack.NewEntry("100644", name, blob.ID())), nil
}

func (e *edit) setTree(entries []pack.Entry, path, name string, files map[string][]byte) ([]pack.Entry, error) {
	old, held := pack.Named(entries, name)
	switch {
	case held && old.Kind() == repo.File && onlyRemoves(files), !held && onlyRemoves(files):
		return entries, nil
	case held && old.Kind() == repo.File:
		return nil, &repo.UnsafeError{Path: path, Why: "is a file, but must be a directory"}
	case held && old.Kind() != repo.Folder:
		return nil, &repo.UnsafeError{Path: path, Why: old.Kind().Unsafe()}
	case !held:
		old = pack.NewEntry("40000", name, plumbing.ZeroHash)
	}
	id, err := e.splice(old.ID, path, files)
	switch {
	case err != nil:
		return nil, err
	case id == emptyTree:
		return without(entries, name), nil
	case id == old.ID:
		return entries, nil
	}
	return with(entries, old.WithID(id)), nil
}

// divide separates the files of the directory itself from the files of each directory
// below it.
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

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func onlyRemoves(files map[string][]byte) bool {
	for _, content := range files {
		if content != nil {
			return false
		}
	}
	return true
}

// with returns the entries with e in place of the entry of that name, or inserts e in
// git's order.
func with(entries []pack.Entry, e pack.Entry) []pack.Entry {
	entries = slices.Clone(entries)
	for i := range entries {
		if entries[i].Name == e.Name {
			entries[i] = e
			return entries
		}
	}
	at := slices.IndexFunc(entries, func(other pack.Entry) bool { return pack.CompareEntries(other, e) > 0 })
	if at < 0 {
		at = len(entries)
	}
	return slices.Insert(entries, at, e)
}

func without(entries []pack.Entry, name string) []pack.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e pack.Entry) bool { return e.Name == name })
}
