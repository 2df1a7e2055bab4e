package gitwire

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"
)

// keepBytes is how much content objects are kept in memory for, from one commit
// to the next: far more than checkpoints need.
const keepBytes = 16 << 20

// objects are the git objects at hand: those fetched into memory, and where
// there is one, a repository on disk.
type objects struct {
	held map[plumbing.Hash]object
	size int64
	disk storer.EncodedObjectStorer // nil where there is none
}

// An object is a commit, a tree or a blob as git stores it, unpacked.
type object struct {
	kind plumbing.ObjectType
	data []byte
}

func (o object) id() plumbing.Hash { return plumbing.ComputeHash(o.kind, o.data) }

func newObjects() *objects { return &objects{held: map[plumbing.Hash]object{}} }

func (o *objects) add(obj object) {
	id := obj.id()
	if _, ok := o.held[id]; !ok {
		o.held[id] = obj
		o.size += int64(len(obj.data))
	}
}

// get returns an object's content; ok is false where it is not at hand.
func (o *objects) get(kind plumbing.ObjectType, id plumbing.Hash) (data []byte, ok bool) {
	if obj, ok := o.held[id]; ok {
		return obj.data, obj.kind == kind
	}
	if o.disk == nil {
		return nil, false
	}
	stored, err := o.disk.EncodedObject(kind, id)
	if err != nil {
		return nil, false
	}
	data, err = content(stored)
	return data, err == nil
}

func (o *objects) has(id plumbing.Hash) bool {
	if _, ok := o.held[id]; ok {
		return true
	}
	return o.disk != nil && o.disk.HasEncodedObject(id) == nil
}

// trim forgets what is in memory once it is much; nothing is lost but time.
func (o *objects) trim() {
	if o.size > keepBytes {
		clear(o.held)
		o.size = 0
	}
}

// unpack takes the objects of a pack into memory.
func (o *objects) unpack(pack io.Reader) error {
	into := memory.NewStorage()
	parser, err := packfile.NewParserWithStorage(packfile.NewScanner(pack), into)
	if err == nil {
		_, err = parser.Parse()
	}
	if err != nil && !errors.Is(err, packfile.ErrEmptyPackfile) {
		return fmt.Errorf("read the pack: %w", err)
	}
	for _, stored := range into.Objects {
		data, err := content(stored)
		if err != nil {
			return fmt.Errorf("read the pack: %w", err)
		}
		o.add(object{stored.Type(), data})
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

func content(stored plumbing.EncodedObject) ([]byte, error) {
	r, err := stored.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
