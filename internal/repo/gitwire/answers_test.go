package gitwire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// A fixed wire leads to a server that sends what it has of what is asked for, and
// before it what it likes.
type fixed struct {
	has    map[plumbing.Hash]object
	before func(*request)
	wants  map[string]int // how often each id was asked for
}

func (f *fixed) String() string { return "fixed" }

func (f *fixed) get(context.Context, string) (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }

func (f *fixed) post(_ context.Context, _ string, body *request, _ bool) (io.ReadCloser, error) {
	var send []object
	for line := range strings.Lines(body.String()) {
		if _, id, ok := strings.Cut(strings.TrimSpace(line), "want "); ok {
			f.wants[id]++
			if obj, ok := f.has[plumbing.NewHash(id)]; ok {
				send = append(send, obj)
			}
		}
	}
	var content bytes.Buffer
	if err := pack(&content, send); err != nil {
		return nil, err
	}
	var answer request
	answer.linef("packfile\n")
	if f.before != nil {
		f.before(&answer)
	}
	fmt.Fprintf(&answer, "%04x\x01%s", content.Len()+5, content.Bytes())
	answer.flush()
	return io.NopCloser(&answer), nil
}

// shop is a repository of two namespaces, whose records are returned as well.
func shop() (f *fixed, commit object, good, bad object) {
	f = &fixed{has: map[plumbing.Hash]object{}, wants: map[string]int{}}
	put := func(obj object) object {
		f.has[obj.id()] = obj
		return obj
	}
	good = put(object{plumbing.BlobObject, []byte("good")})
	bad = put(object{plumbing.BlobObject, []byte("bad")})
	folder := func(of object) entry {
		return newEntry("40000", string(of.data), put(treeObject([]entry{newEntry("100644", "record", of.id())})).id())
	}
	root := put(treeObject([]entry{folder(bad), folder(good)}))
	commit = put(commitObject(root.id(), plumbing.Hash{1}, DefaultAuthor, time.Unix(1_800_000_000, 0), "begin"))
	return f, commit, good, bad
}

func through(w wire) *Repository {
	s := serve(Options{}, "tree:1", "tree:1", w)
	s.asked = true
	return &Repository{remote: s, base: plumbing.NewBranchReferenceName("main"), objects: newObjects()}
}

// An object that the server does not send is asked for with the others and once
// alone. Its path is named, and the rest is read.
func TestAnObjectThatNeverComesCostsItsPath(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]string{"record": "bad/record", "folder": "bad"} {
		f, commit, good, bad := shop()
		id := bad.id()
		if name == "folder" {
			id = treeObject([]entry{newEntry("100644", "record", bad.id())}).id()
		}
		delete(f.has, id)
		r := through(f)
		for _, path := range []string{"bad", "good"} {
			found, err := r.Read(t.Context(), commit.id().String(), nil, path)
			switch o := found[path]; {
			case path == missing:
				var unsafe *repo.UnsafeError
				if !errors.As(err, &unsafe) || *unsafe != (repo.UnsafeError{Path: missing, Why: repo.Missing}) {
					t.Errorf("%s: %v", name, err)
				}
			case err != nil:
				t.Errorf("%s: read %s: %v", name, path, err)
			case path == "bad" && o.Unsafe[missing] != repo.Missing, path == "good" && !bytes.Equal(o.Files["good/record"], good.data):
				t.Errorf("%s: %s holds %q, and unsafe are %q", name, path, o.Files, o.Unsafe)
			}
		}
		if n := f.wants[id.String()]; n > 2 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
}

// A server may say much beside the pack. None of it is kept.
func TestWordsWithoutEndAreNotKept(t *testing.T) {
	t.Parallel()
	f, commit, _, _ := shop()
	said := 0
	f.before = func(answer *request) {
		for range 300 {
			said += 60_000
			fmt.Fprintf(answer, "%04x\x02%s", 60_005, strings.Repeat("x", 60_000))
		}
	}
	r := through(f)
	if _, err := r.Read(t.Context(), commit.id().String(), nil, "good"); err != nil {
		t.Errorf("with words beside the pack: %v", err)
	}
	var answer request
	f.before(&answer)
	in := &band{packets: &packets{r: &answer}}
	_, err := io.Copy(io.Discard, in)
	if kept := in.words.text.Len(); !errors.Is(err, io.ErrUnexpectedEOF) || kept > 1000 {
		t.Errorf("%d bytes of %d are kept, %v", kept, said, err)
	}
}

// A pack that says little and unpacks to much is given up, and so is one for
// which nobody waits any more.
func TestUnpackingIsBounded(t *testing.T) {
	t.Parallel()
	large := object{plumbing.BlobObject, make([]byte, repo.MostBytes+1)}
	small := object{plumbing.BlobObject, []byte("small")}
	var content bytes.Buffer
	if err := pack(&content, []object{large, small}); err != nil {
		t.Fatal(err)
	}
	from := func() io.ReadSeeker { return bytes.NewReader(content.Bytes()) }

	p, err := index(t.Context(), from(), memoryBytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.object(large.id()); !errors.Is(err, errLarge) {
		t.Errorf("the large one: %v", err)
	}
	if got, err := p.object(small.id()); err != nil || string(got.data) != "small" {
		t.Errorf("the small one: %q, %v", got.data, err)
	}
	if _, err := index(t.Context(), from(), int64(content.Len())); !errors.Is(err, errTooMuch) {
		t.Errorf("of a pack that may have %d bytes: %v", content.Len(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := index(ctx, from(), memoryBytes); !errors.Is(err, context.Canceled) {
		t.Errorf("after the deadline: %v", err)
	}
}

// A delta says how large its result is. One beyond the bound is not applied.
func TestADeltaThatGrowsIsNotApplied(t *testing.T) {
	t.Parallel()
	base := object{plumbing.BlobObject, bytes.Repeat([]byte("x"), 0x10000)}
	for _, c := range []struct {
		copies int
		want   error
	}{{2, nil}, {repo.MostBytes / 0x10000, nil}, {repo.MostBytes/0x10000 + 1, errLarge}} {
		delta := bytes.Join([][]byte{number(len(base.data)), number(c.copies * len(base.data)), bytes.Repeat([]byte{0x80}, c.copies)}, nil)
		p := &packed{kinds: map[int64]plumbing.ObjectType{}, whole: cache.NewBufferLRU(0), work: &work{ctx: t.Context(), left: 1 << 40}}
		got, err := p.patch(base, [][]byte{delta}, 0)
		if !errors.Is(err, c.want) || err == nil && len(got.data) != c.copies*len(base.data) {
			t.Errorf("%d copies: %d bytes, %v; want %v", c.copies, len(got.data), err, c.want)
		}
	}
}

func number(n int) (text []byte) {
	for ; n > 0x7f; n >>= 7 {
		text = append(text, byte(n)|0x80)
	}
	return append(text, byte(n))
}

// FuzzPack reads any bytes as a pack: it ends, and holds no object that is too
// large.
func FuzzPack(f *testing.F) {
	_, commit, good, bad := shop()
	var content bytes.Buffer
	if err := pack(&content, []object{commit, good, bad}); err != nil {
		f.Fatal(err)
	}
	f.Add(content.Bytes())
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		into := newObjects()
		if err := into.unpack(t.Context(), bytes.NewReader(data)); err != nil {
			return
		}
		for id, obj := range into.held {
			if obj.id() != id || len(obj.data) > repo.MostBytes {
				t.Errorf("%s is %s of %d bytes", id, obj.kind, len(obj.data))
			}
		}
	})
}
