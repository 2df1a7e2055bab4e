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

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
)

// fixed is a transport to a server that sends the requested objects that it has. before
// may write to the answer first.
type fixed struct {
	has    map[plumbing.Hash]pack.Object
	before func(*wire.Request)
	wants  map[string]int // requests for each id
}

func (f *fixed) String() string { return "fixed" }

func (f *fixed) Get(context.Context, string) (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }

func (f *fixed) Post(_ context.Context, _ string, body *wire.Request, _ bool) (io.ReadCloser, error) {
	var send []pack.Object
	for line := range strings.Lines(body.String()) {
		if _, id, ok := strings.Cut(strings.TrimSpace(line), "want "); ok {
			f.wants[id]++
			if obj, ok := f.has[plumbing.NewHash(id)]; ok {
				send = append(send, obj)
			}
		}
	}
	var content bytes.Buffer
	if err := pack.Encode(&content, send); err != nil {
		return nil, err
	}
	var answer wire.Request
	answer.Linef("packfile\n")
	if f.before != nil {
		f.before(&answer)
	}
	fmt.Fprintf(&answer, "%04x\x01%s", content.Len()+5, content.Bytes())
	answer.Flush()
	return io.NopCloser(&answer), nil
}

// shop returns a repository with two namespaces, and the commit and the two checkpoint
// files in it.
func shop() (f *fixed, commit pack.Object, good, bad pack.Object) {
	f = &fixed{has: map[plumbing.Hash]pack.Object{}, wants: map[string]int{}}
	put := func(obj pack.Object) pack.Object {
		f.has[obj.ID()] = obj
		return obj
	}
	good = put(pack.Object{Kind: plumbing.BlobObject, Data: []byte("good")})
	bad = put(pack.Object{Kind: plumbing.BlobObject, Data: []byte("bad")})
	folder := func(of pack.Object) pack.Entry {
		return pack.NewEntry("40000", string(of.Data), put(pack.TreeObject([]pack.Entry{pack.NewEntry("100644", "record", of.ID())})).ID())
	}
	root := put(pack.TreeObject([]pack.Entry{folder(bad), folder(good)}))
	commit = put(pack.CommitObject(root.ID(), plumbing.Hash{1}, repo.DefaultAuthor.String(), time.Unix(1_800_000_000, 0), "begin"))
	return f, commit, good, bad
}

func through(w wire.Transport) *Repository {
	s := wire.Serve(wire.Limits{}, "tree:1", "tree:1", w)
	s.Asked = true
	return &Repository{remote: s, base: plumbing.NewBranchReferenceName("main"), objects: pack.NewObjects()}
}

// The reader requests an object that the server does not send with the other objects,
// and then once alone. It reports the object's path, and reads the rest.
func TestAnObjectThatNeverComesCostsItsPath(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]string{"record": "bad/record", "folder": "bad"} {
		f, commit, good, bad := shop()
		id := bad.ID()
		if name == "folder" {
			id = pack.TreeObject([]pack.Entry{pack.NewEntry("100644", "record", bad.ID())}).ID()
		}
		delete(f.has, id)
		r := through(f)
		for _, path := range []string{"bad", "good"} {
			found, err := r.Read(t.Context(), commit.ID().String(), nil, path)
			switch o := found[path]; {
			case path == missing:
				var unsafe *repo.UnsafeError
				if !errors.As(err, &unsafe) || *unsafe != (repo.UnsafeError{Path: missing, Why: repo.Missing}) {
					t.Errorf("%s: %v", name, err)
				}
			case err != nil:
				t.Errorf("%s: read %s: %v", name, path, err)
			case path == "bad" && o.Unsafe[missing] != repo.Missing, path == "good" && !bytes.Equal(o.Files["good/record"], good.Data):
				t.Errorf("%s: %s holds %q, and unsafe are %q", name, path, o.Files, o.Unsafe)
			}
		}
		if n := f.wants[id.String()]; n > 2 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
}

// A server may send much text next to the pack. The client does not store it.
func TestWordsWithoutEndAreNotKept(t *testing.T) {
	t.Parallel()
	f, commit, _, _ := shop()
	f.before = func(answer *wire.Request) {
		for range 300 {
			fmt.Fprintf(answer, "%04x\x02%s", 60_005, strings.Repeat("x", 60_000))
		}
	}
	r := through(f)
	if _, err := r.Read(t.Context(), commit.ID().String(), nil, "good"); err != nil {
		t.Errorf("with words beside the pack: %v", err)
	}
}
