package pack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// go-git's own reader unpacks every object of a pack into memory, and a pack of 1 MiB may
// contain 1 GiB. This reader reads no object larger than repo.MostBytes, and limits the
// bytes that it unpacks.

// A packed finds the objects of a pack by their ids, and unpacks them on demand.
type packed struct {
	scanner *packfile.Scanner
	places  map[plumbing.Hash]int64 // offset of each object in the pack
	large   map[plumbing.Hash]bool  // objects that are too large to be read
	lost    bool                    // the pack has further such objects, with unknown ids
	whole   *cache.BufferLRU        // recently unpacked content, by offset
	kinds   map[int64]plumbing.ObjectType
	work    *work
}

// unpackRatio is how many bytes may be unpacked for each byte that a pack may have. Text
// has a ratio of about 5.
const unpackRatio = 16

// wholeBytes is the size of the cache of unpacked objects. Deltas of the pack are applied
// to these objects.
const wholeBytes = 16 << 20

// index finds the objects of a pack. most is the maximum size of the pack in bytes.
func index(ctx context.Context, pack io.ReadSeeker, most int64) (*packed, error) {
	p := &packed{
		scanner: packfile.NewScanner(pack),
		places:  map[plumbing.Hash]int64{},
		large:   map[plumbing.Hash]bool{},
		whole:   cache.NewBufferLRU(cache.FileSize(wholeBytes)),
		kinds:   map[int64]plumbing.ObjectType{},
		work:    &work{ctx: ctx, left: unpackRatio * most},
	}
	deltas, err := p.scan()
	if err == nil {
		err = p.resolve(deltas)
	}
	if err != nil && !errors.Is(err, packfile.ErrEmptyPackfile) {
		return nil, fmt.Errorf("read the pack: %w", err)
	}
	return p, nil
}

// scan reads a pack once, and returns the offsets of its deltas.
func (p *packed) scan() (deltas []int64, err error) {
	_, count, err := p.scanner.Header()
	if err != nil {
		return nil, err
	}
	for range count {
		h, err := p.scanner.NextObjectHeader()
		if err != nil {
			return nil, err
		}
		id := plumbing.NewHasher(h.Type, h.Length)
		if _, _, err := p.scanner.NextObject(io.MultiWriter(p.work, id)); err != nil {
			return nil, err
		}
		switch {
		case h.Type.IsDelta():
			deltas = append(deltas, h.Offset)
		case h.Length > repo.MostBytes:
			p.large[id.Sum()] = true
		default:
			p.places[id.Sum()] = h.Offset
		}
	}
	_, err = p.scanner.Checksum()
	return deltas, err
}

// resolve finds the ids of deltas. A delta may come before its base in the pack.
func (p *packed) resolve(deltas []int64) error {
	for len(deltas) > 0 {
		var left []int64
		for _, at := range deltas {
			obj, err := p.at(at)
			switch {
			case errors.Is(err, errNoBase):
				left = append(left, at)
			case errors.Is(err, ErrLarge):
				p.lost = true
			case err != nil:
				return err
			default:
				p.places[obj.ID()] = at
			}
		}
		if len(left) == len(deltas) {
			p.lost = true // their bases are too large or missing
			return nil
		}
		deltas = left
	}
	return nil
}

var (
	errNoBase = errors.New("a delta is of an object that is not in the pack")
	ErrLarge  = errors.New("an object is too large to be read")

	ErrTooMuch = errors.New("the server sends more than")
)

// at unpacks the object at an offset.
func (p *packed) at(place int64) (Object, error) {
	var deltas [][]byte
	bytes, begin := 0, place
	for {
		if data, ok := p.whole.Get(place); ok {
			return p.patch(Object{p.kinds[place], data}, deltas, begin)
		}
		h, data, err := p.read(place)
		if err != nil {
			return Object{}, err
		}
		switch h.Type {
		default:
			return p.patch(Object{h.Type, data}, deltas, begin)
		case plumbing.OFSDeltaObject:
			place = h.OffsetReference
		case plumbing.REFDeltaObject:
			base, ok := p.places[h.Reference]
			if !ok {
				return Object{}, errNoBase
			}
			place = base
		}
		bytes += len(data)
		if bytes > repo.MostBytes {
			return Object{}, ErrLarge
		}
		deltas = append(deltas, data)
	}
}

// read returns the object or the delta at an offset.
func (p *packed) read(place int64) (*packfile.ObjectHeader, []byte, error) {
	h, err := p.scanner.SeekObjectHeader(place)
	switch {
	case err != nil:
		return nil, nil, err
	case h.Length > repo.MostBytes:
		return nil, nil, ErrLarge
	}
	var content bytes.Buffer
	if _, _, err := p.scanner.NextObject(io.MultiWriter(p.work, &content)); err != nil {
		return nil, nil, err
	}
	return h, content.Bytes(), nil
}

// patch applies deltas, the last first, and caches the result for the offset.
func (p *packed) patch(obj Object, deltas [][]byte, place int64) (Object, error) {
	for i := len(deltas) - 1; i >= 0; i-- {
		size, err := patched(deltas[i])
		if err == nil && size > repo.MostBytes {
			err = ErrLarge
		}
		if err == nil {
			obj.Data, err = packfile.PatchDelta(obj.Data, deltas[i])
		}
		if err == nil {
			_, err = p.work.Write(obj.Data)
		}
		if err != nil {
			return Object{}, err
		}
	}
	p.kinds[place] = obj.Kind
	p.whole.Put(place, obj.Data)
	return obj, nil
}

// patched returns the size of a delta's result: the second number at the start of the
// delta.
func patched(delta []byte) (size uint64, err error) {
	for range 2 {
		n := 0
		size, n = binary.Uvarint(delta)
		if n <= 0 {
			return 0, packfile.ErrInvalidDelta
		}
		delta = delta[n:]
	}
	return size, nil
}

func (p *packed) Object(id plumbing.Hash) (Object, error) {
	place, ok := p.places[id]
	switch {
	case ok:
		return p.at(place)
	case p.large[id] || p.lost:
		return Object{}, ErrLarge
	}
	return Object{}, plumbing.ErrObjectNotFound
}

func (p *packed) Has(id plumbing.Hash) bool {
	_, ok := p.places[id]
	return ok || p.large[id] || p.lost
}

// A work limits the number of unpacked bytes. It stops with an error if the limit is
// reached or the context is done.
type work struct {
	ctx  context.Context
	left int64
}

func (w *work) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	w.left -= int64(len(b))
	if w.left < 0 {
		return 0, fmt.Errorf("%w may come of a pack when unpacked", ErrTooMuch)
	}
	return len(b), nil
}

// A Spool is a pack in a file.
type Spool struct {
	*packed
	file *os.File
}

// Spooled writes a pack to a file in a folder and finds its objects. Its Object returns
// ErrLarge for an object that is too large.
func Spooled(ctx context.Context, pack io.Reader, folder string, most int64) (_ *Spool, err error) {
	s := &Spool{}
	if s.file, err = os.CreateTemp(folder, "gitlatch-"); err != nil {
		return nil, err
	}
	if _, err = io.Copy(s.file, pack); err == nil {
		_, err = s.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		s.packed, err = index(ctx, s.file, most)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.work = &work{ctx: context.WithoutCancel(ctx), left: 1<<63 - 1} // from now on, only requested objects are unpacked
	return s, nil
}

// Close removes the file.
func (s *Spool) Close() error { return errors.Join(s.file.Close(), os.Remove(s.file.Name())) }
