package pack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// index gives up a small pack that unpacks to a large size, and a pack whose context has
// ended.
func TestUnpackingIsBounded(t *testing.T) {
	t.Parallel()
	large := Object{plumbing.BlobObject, make([]byte, repo.MostBytes+1)}
	small := Object{plumbing.BlobObject, []byte("small")}
	var content bytes.Buffer
	if err := Encode(&content, []Object{large, small}); err != nil {
		t.Fatal(err)
	}
	from := func() io.ReadSeeker { return bytes.NewReader(content.Bytes()) }

	p, err := index(t.Context(), from(), MemoryBytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Object(large.ID()); !errors.Is(err, ErrLarge) {
		t.Errorf("the large one: %v", err)
	}
	if got, err := p.Object(small.ID()); err != nil || string(got.Data) != "small" {
		t.Errorf("the small one: %q, %v", got.Data, err)
	}
	if _, err := index(t.Context(), from(), int64(content.Len())); !errors.Is(err, ErrTooMuch) {
		t.Errorf("of a pack that may have %d bytes: %v", content.Len(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := index(ctx, from(), MemoryBytes); !errors.Is(err, context.Canceled) {
		t.Errorf("after the deadline: %v", err)
	}
}

// A delta states the size of its result. A delta with a result beyond the limit is not
// applied.
func TestADeltaThatGrowsIsNotApplied(t *testing.T) {
	t.Parallel()
	base := Object{plumbing.BlobObject, bytes.Repeat([]byte("x"), 0x10000)}
	for _, c := range []struct {
		copies int
		want   error
	}{{2, nil}, {repo.MostBytes / 0x10000, nil}, {repo.MostBytes/0x10000 + 1, ErrLarge}} {
		delta := bytes.Join([][]byte{number(len(base.Data)), number(c.copies * len(base.Data)), bytes.Repeat([]byte{0x80}, c.copies)}, nil)
		p := &packed{kinds: map[int64]plumbing.ObjectType{}, whole: cache.NewBufferLRU(0), work: &work{ctx: t.Context(), left: 1 << 40}}
		got, err := p.patch(base, [][]byte{delta}, 0)
		if !errors.Is(err, c.want) || err == nil && len(got.Data) != c.copies*len(base.Data) {
			t.Errorf("%d copies: %d bytes, %v; want %v", c.copies, len(got.Data), err, c.want)
		}
	}
}

func number(n int) (text []byte) {
	for ; n > 0x7f; n >>= 7 {
		text = append(text, byte(n)|0x80)
	}
	return append(text, byte(n))
}

// FuzzPack reads any bytes as a pack. Reading ends, and never returns an object that is
// too large.
func FuzzPack(f *testing.F) {
	good, bad := Object{plumbing.BlobObject, []byte("good")}, Object{plumbing.BlobObject, []byte("bad")}
	root := TreeObject([]Entry{NewEntry("100644", "bad", bad.ID()), NewEntry("100644", "good", good.ID())})
	var content bytes.Buffer
	if err := Encode(&content, []Object{root, good, bad}); err != nil {
		f.Fatal(err)
	}
	f.Add(content.Bytes())
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		into := NewObjects()
		if err := into.Unpack(t.Context(), bytes.NewReader(data)); err != nil {
			return
		}
		for id, obj := range into.Held {
			if obj.ID() != id || len(obj.Data) > repo.MostBytes {
				t.Errorf("%s is %s of %d bytes", id, obj.Kind, len(obj.Data))
			}
		}
	})
}
