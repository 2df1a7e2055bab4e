package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// KeepBytes is how many bytes of objects stay in memory from one commit to the next. A
// site of 50,000 workloads needs this much.
const KeepBytes = 16 << 20

// MemoryBytes is the maximum size of a pack that is unpacked in memory. Packs of a
// partial clone are normally far smaller.
const MemoryBytes = 32 << 20

// Objects are the git objects at hand: the fetched objects in memory, and the objects of
// a repository on disk, if any.
type Objects struct {
	Held map[plumbing.Hash]Object
	Size int64
	// Large are objects that exist and are too large to be read.
	Large map[plumbing.Hash]bool
	Disk  Store // nil without a repository on disk
	// Seen are the paths that were read at an earlier commit. Most objects of their
	// present state are probably in memory.
	Seen map[string]bool
}

// A Store is objects on disk.
type Store interface {
	// Object returns an object, or ErrLarge if it is larger than repo.MostBytes.
	Object(id plumbing.Hash) (Object, error)
	Has(id plumbing.Hash) bool
}

// An Object is a commit, a tree or a blob as git stores it, unpacked.
type Object struct {
	Kind plumbing.ObjectType
	Data []byte
}

// ID returns the id of the object.
func (o Object) ID() plumbing.Hash { return plumbing.ComputeHash(o.Kind, o.Data) }

// NewObjects returns an empty Objects.
func NewObjects() *Objects {
	return &Objects{Held: map[plumbing.Hash]Object{}, Large: map[plumbing.Hash]bool{}, Seen: map[string]bool{}}
}

// Add adds an object to memory. If memory is full, it removes the largest objects.
func (o *Objects) Add(obj Object) { o.Hold(obj.ID(), obj) }

// Hold is Add with an id from a server.
func (o *Objects) Hold(id plumbing.Hash, obj Object) {
	if _, ok := o.Held[id]; ok || o.Large[id] {
		return
	}
	o.Held[id] = obj
	for o.Size += int64(len(obj.Data)); o.Size > repo.MostRead; {
		o.drop()
	}
}

func (o *Objects) drop() {
	var largest plumbing.Hash
	for id, obj := range o.Held {
		if len(obj.Data) >= len(o.Held[largest].Data) {
			largest = id
		}
	}
	o.Large[largest] = true
	o.Size -= int64(len(o.Held[largest].Data))
	delete(o.Held, largest)
}

// Get returns the content of an object; ok is false if the object is not at hand. Call
// Load before to read an object from disk. Get itself reads only commits from disk,
// because a history can be long.
func (o *Objects) Get(kind plumbing.ObjectType, id plumbing.Hash) (data []byte, ok bool) {
	obj, ok := o.Held[id]
	if !ok && o.Disk != nil && kind == plumbing.CommitObject {
		var err error
		obj, err = o.Disk.Object(id)
		ok = err == nil
	}
	return obj.Data, ok && obj.Kind == kind
}

// Load reads objects from disk into memory, and returns the ids of the objects that it
// cannot find.
func (o *Objects) Load(ctx context.Context, ids []plumbing.Hash) (left []plumbing.Hash, err error) {
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, ok := o.Held[id]; ok || o.Large[id] {
			continue
		}
		if o.Disk == nil {
			left = append(left, id)
			continue
		}
		switch obj, err := o.Disk.Object(id); {
		case errors.Is(err, ErrLarge):
			o.Large[id] = true
		case err != nil:
			left = append(left, id)
		default:
			o.Add(obj)
		}
	}
	return left, nil
}

// Take copies a commit and its root tree from other objects, if they have both.
func (o *Objects) Take(from *Objects, commit plumbing.Hash) {
	data, _ := from.Get(plumbing.CommitObject, commit)
	h, err := ParseCommit(data)
	if root, ok := from.Held[h.Tree]; ok && err == nil {
		o.Add(Object{plumbing.CommitObject, data})
		o.Add(root)
	}
}

// Has reports whether an object is at hand, or is in Large.
func (o *Objects) Has(id plumbing.Hash) bool {
	if _, ok := o.Held[id]; ok || o.Large[id] {
		return true
	}
	return o.Disk != nil && o.Disk.Has(id)
}

// Trim clears the memory if it has more than KeepBytes. Later calls fetch the objects
// again.
func (o *Objects) Trim() {
	if o.Size > KeepBytes {
		clear(o.Held)
		clear(o.Large)
		clear(o.Seen)
		o.Size = 0
	}
}

// Keep removes the objects that are not part of a commit. Without it, a process that
// makes many commits would grow.
func (o *Objects) Keep(commit plumbing.Hash) {
	held := o.Held
	o.Held, o.Size = map[plumbing.Hash]Object{}, 0
	var hold func(plumbing.Hash)
	hold = func(id plumbing.Hash) {
		obj, ok := held[id]
		if _, again := o.Held[id]; !ok || again {
			return
		}
		o.Held[id] = obj
		o.Size += int64(len(obj.Data))
		switch obj.Kind {
		case plumbing.CommitObject:
			if h, err := ParseCommit(obj.Data); err == nil {
				hold(h.Tree)
			}
		case plumbing.TreeObject:
			entries, _ := ParseTree(obj.Data)
			for _, e := range entries {
				hold(e.ID)
			}
		}
	}
	hold(commit)
}

// Unpack adds the objects of a pack to memory. It notes objects that are too large in
// Large. If it cannot determine the id of such an object, it adds the others and returns
// ErrTooMuch.
func (o *Objects) Unpack(ctx context.Context, from io.Reader) error {
	data, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	p, err := index(ctx, bytes.NewReader(data), MemoryBytes)
	if err != nil {
		return err
	}
	for id := range p.places {
		obj, err := p.Object(id)
		if err != nil {
			return err
		}
		o.Add(obj)
	}
	for id := range p.large {
		o.Large[id] = true
	}
	if p.lost {
		return fmt.Errorf("%w %d MiB of one object", ErrTooMuch, repo.MostBytes>>20)
	}
	return nil
}

// Encode writes objects as a pack.
func Encode(w io.Writer, objs []Object) error {
	from := memory.NewStorage()
	var ids []plumbing.Hash
	for _, obj := range objs {
		if from.HasEncodedObject(obj.ID()) == nil {
			continue // two files with the same content
		}
		id, err := from.SetEncodedObject(Encoded(obj))
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	_, err := packfile.NewEncoder(w, from, false).Encode(ids, 0)
	return err
}

// Encoded returns an object in the form of go-git.
func Encoded(obj Object) plumbing.EncodedObject {
	m := &plumbing.MemoryObject{}
	m.SetType(obj.Kind)
	_, _ = m.Write(obj.Data) // never fails
	return m
}

// Entry returns a commit as an entry of a history.
func (o *Objects) Entry(id string) (repo.LogEntry, bool, error) {
	data, ok := o.Get(plumbing.CommitObject, plumbing.NewHash(id))
	if !ok {
		return repo.LogEntry{}, false, nil
	}
	h, err := ParseCommit(data)
	if err != nil {
		return repo.LogEntry{}, false, fmt.Errorf("commit %s: %w", id, err)
	}
	e := repo.LogEntry{ID: id, Author: h.author, Committer: h.by, When: h.when, Message: h.message}
	for _, parent := range h.parents {
		e.Parents = append(e.Parents, parent.String())
	}
	return e, true, nil
}
