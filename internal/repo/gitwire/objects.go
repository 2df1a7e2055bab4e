package gitwire

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

// keepBytes is how much of objects is kept in memory from one commit to the next:
// what a site of 50,000 workloads needs.
const keepBytes = 16 << 20

// objects are the git objects at hand: those fetched into memory, and where
// there is one, a repository on disk.
type objects struct {
	held map[plumbing.Hash]object
	size int64
	// large are those that are there and are not read, since they are too large.
	large map[plumbing.Hash]bool
	disk  store // nil where there is none
	// seen are the paths of which an earlier state was read, so that most of the
	// present one is likely to be held.
	seen map[string]bool
}

// A store is objects on disk.
type store interface {
	// object returns an object. One beyond repo.MostBytes is errLarge.
	object(id plumbing.Hash) (object, error)
	has(id plumbing.Hash) bool
}

// An object is a commit, a tree or a blob as git stores it, unpacked.
type object struct {
	kind plumbing.ObjectType
	data []byte
}

func (o object) id() plumbing.Hash { return plumbing.ComputeHash(o.kind, o.data) }

func newObjects() *objects {
	return &objects{held: map[plumbing.Hash]object{}, large: map[plumbing.Hash]bool{}, seen: map[string]bool{}}
}

// add holds one more object. Where that is too much, the largest are let go.
func (o *objects) add(obj object) {
	id := obj.id()
	if _, ok := o.held[id]; ok || o.large[id] {
		return
	}
	o.held[id] = obj
	for o.size += int64(len(obj.data)); o.size > repo.MostRead; {
		o.drop()
	}
}

func (o *objects) drop() {
	var largest plumbing.Hash
	for id, obj := range o.held {
		if len(obj.data) >= len(o.held[largest].data) {
			largest = id
		}
	}
	o.large[largest] = true
	o.size -= int64(len(o.held[largest].data))
	delete(o.held, largest)
}

// get returns an object's content; ok is false where it is not at hand. What is on
// disk is loaded before, but for commits, of which a history may be long.
func (o *objects) get(kind plumbing.ObjectType, id plumbing.Hash) (data []byte, ok bool) {
	obj, ok := o.held[id]
	if !ok && o.disk != nil && kind == plumbing.CommitObject {
		var err error
		obj, err = o.disk.object(id)
		ok = err == nil
	}
	return obj.data, ok && obj.kind == kind
}

// load takes objects from disk into memory, and returns those that are not at hand
// then.
func (o *objects) load(ctx context.Context, ids []plumbing.Hash) (left []plumbing.Hash, err error) {
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, ok := o.held[id]; ok || o.large[id] {
			continue
		}
		if o.disk == nil {
			left = append(left, id)
			continue
		}
		switch obj, err := o.disk.object(id); {
		case errors.Is(err, errLarge):
			o.large[id] = true
		case err != nil:
			left = append(left, id)
		default:
			o.add(obj)
		}
	}
	return left, nil
}

// take takes a commit from others, where its root tree is among them.
func (o *objects) take(from *objects, commit plumbing.Hash) {
	data, _ := from.get(plumbing.CommitObject, commit)
	h, err := parseCommit(data)
	if root, ok := from.held[h.tree]; ok && err == nil {
		o.add(object{plumbing.CommitObject, data})
		o.add(root)
	}
}

// has reports whether an object is at hand, or is too large to be.
func (o *objects) has(id plumbing.Hash) bool {
	if _, ok := o.held[id]; ok || o.large[id] {
		return true
	}
	return o.disk != nil && o.disk.has(id)
}

// trim forgets what is in memory once it is much; nothing is lost but time.
func (o *objects) trim() {
	if o.size > keepBytes {
		clear(o.held)
		clear(o.large)
		clear(o.seen)
		o.size = 0
	}
}

// keep forgets what a commit does not hold, so that a process that makes one commit
// after the other does not grow.
func (o *objects) keep(commit plumbing.Hash) {
	held := o.held
	o.held, o.size = map[plumbing.Hash]object{}, 0
	var hold func(plumbing.Hash)
	hold = func(id plumbing.Hash) {
		obj, ok := held[id]
		if _, again := o.held[id]; !ok || again {
			return
		}
		o.held[id] = obj
		o.size += int64(len(obj.data))
		switch obj.kind {
		case plumbing.CommitObject:
			if h, err := parseCommit(obj.data); err == nil {
				hold(h.tree)
			}
		case plumbing.TreeObject:
			entries, _ := parseTree(obj.data)
			for _, e := range entries {
				hold(e.id)
			}
		}
	}
	hold(commit)
}

// unpack takes the objects of a pack into memory. Where some are too large, the
// others are taken, and the error is errTooMuch.
func (o *objects) unpack(ctx context.Context, from io.Reader) error {
	data, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	p, err := index(ctx, bytes.NewReader(data), memoryBytes)
	if err != nil {
		return err
	}
	for id := range p.places {
		obj, err := p.object(id)
		if err != nil {
			return err
		}
		o.add(obj)
	}
	for id := range p.large {
		o.large[id] = true
	}
	if p.lost {
		return fmt.Errorf("%w %d MiB of one object", errTooMuch, repo.MostBytes>>20)
	}
	return nil
}

// pack writes objects as a pack.
func pack(w io.Writer, objs []object) error {
	from := memory.NewStorage()
	var ids []plumbing.Hash
	for _, obj := range objs {
		if from.HasEncodedObject(obj.id()) == nil {
			continue // two files with the same content
		}
		id, err := from.SetEncodedObject(encoded(obj))
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	_, err := packfile.NewEncoder(w, from, false).Encode(ids, 0)
	return err
}

func encoded(obj object) plumbing.EncodedObject {
	m := &plumbing.MemoryObject{}
	m.SetType(obj.kind)
	_, _ = m.Write(obj.data) // never fails
	return m
}

// entry returns a commit at hand as an entry of a history.
func (o *objects) entry(id string) (repo.LogEntry, bool, error) {
	data, ok := o.get(plumbing.CommitObject, plumbing.NewHash(id))
	if !ok {
		return repo.LogEntry{}, false, nil
	}
	h, err := parseCommit(data)
	if err != nil {
		return repo.LogEntry{}, false, fmt.Errorf("commit %s: %w", id, err)
	}
	e := repo.LogEntry{ID: id, Author: h.author, Committer: h.by, When: h.when, Message: h.message}
	for _, parent := range h.parents {
		e.Parents = append(e.Parents, parent.String())
	}
	return e, true, nil
}
