package pack

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

func TestWhatIsNotATreeIsMalformed(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("x", 20)
	if entries, err := ParseTree([]byte("100644 a\x00" + id + "40000 b\x00" + id)); err != nil || len(entries) != 2 {
		t.Fatalf("a tree reads %v, %v", entries, err)
	}
	for _, bad := range []string{"100644", "100644 a", "100644 a\x00", "100644 a\x00short", "100644\x00a " + id, " a\x00" + id} {
		if entries, err := ParseTree([]byte(bad)); !errors.Is(err, errMalformed) {
			t.Errorf("%q reads %v, %v", bad, entries, err)
		}
	}
}

func TestCommitsOfAnyOriginAreRead(t *testing.T) {
	t.Parallel()
	tree := strings.Repeat("ab", 20)
	for name, c := range map[string]struct {
		text, author, message string
		seconds               int64
		parents               int
	}{
		"signed, merged, in another zone": {
			"tree " + tree + "\nparent " + tree + "\nparent " + tree + "\nauthor Ä <ä@b> 1700000000 +0530\ncommitter x <y> 1 +0000\n" +
				"gpgsig -----BEGIN\n parent nothing\n author nobody\n\nsubject\n\nbody",
			"Ä <ä@b>", "subject\n\nbody", 1700000000, 2},
		"no message":           {"tree " + tree + "\nauthor a <b> 1 +0000\n", "a <b>", "", 1, 0},
		"an author of > and >": {"tree " + tree + "\nauthor a> <b> 5 +0000\n\nm", "a> <b>", "m", 5, 0},
	} {
		h, err := ParseCommit([]byte(c.text))
		if err != nil || h.Tree.String() != tree || h.author != c.author || h.message != c.message || h.when.Unix() != c.seconds || len(h.parents) != c.parents {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
	if h, err := ParseCommit([]byte("tree " + tree + "\nauthor nobody at all\n\nm")); err != nil || !h.when.IsZero() {
		t.Errorf("nonsense for a time: %+v, %v", h, err)
	}
	if _, err := ParseCommit([]byte("not a commit")); !errors.Is(err, errMalformed) {
		t.Errorf("not a commit: %v", err)
	}
}

func TestAPackHoldsEachObjectOnce(t *testing.T) {
	t.Parallel()
	same := Object{plumbing.BlobObject, []byte("same")}
	var packed bytes.Buffer
	if err := Encode(&packed, []Object{same, same, CommitObject(same.ID(), same.ID(), "A <a@example.com>", time.Unix(1, 0), "m")}); err != nil {
		t.Fatal(err)
	}
	if n := packed.Bytes()[11]; n != 2 {
		t.Errorf("the pack holds %d objects, want 2", n)
	}
	objs := NewObjects()
	if err := objs.Unpack(t.Context(), &packed); err != nil || len(objs.Held) != 2 {
		t.Errorf("unpacked it is %d objects, %v", len(objs.Held), err)
	}
}

func FuzzObjects(f *testing.F) {
	f.Add([]byte("40000 apps\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@example.com> 1 +0000\n\nbegin\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = ParseTree(data)   // must not panic
		_, _ = ParseCommit(data) // must not panic
	})
}
