package gitwire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

func TestWhatIsNotATreeIsMalformed(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("x", 20)
	if entries, err := parseTree([]byte("100644 a\x00" + id + "40000 b\x00" + id)); err != nil || len(entries) != 2 {
		t.Fatalf("a tree reads %v, %v", entries, err)
	}
	for _, bad := range []string{"100644", "100644 a", "100644 a\x00", "100644 a\x00short", "100644\x00a " + id, " a\x00" + id} {
		if entries, err := parseTree([]byte(bad)); !errors.Is(err, errMalformed) {
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
		h, err := parseCommit([]byte(c.text))
		if err != nil || h.tree.String() != tree || h.author != c.author || h.message != c.message || h.when.Unix() != c.seconds || len(h.parents) != c.parents {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
	if h, err := parseCommit([]byte("tree " + tree + "\nauthor nobody at all\n\nm")); err != nil || !h.when.IsZero() {
		t.Errorf("nonsense for a time: %+v, %v", h, err)
	}
	if _, err := parseCommit([]byte("not a commit")); !errors.Is(err, errMalformed) {
		t.Errorf("not a commit: %v", err)
	}
}

// Only a report that names the branch as moved is a push that landed.
func TestReportsOfAPush(t *testing.T) {
	t.Parallel()
	line := func(text string) string {
		var r request
		r.linef("%s", text)
		return r.String()
	}
	report := func(lines ...string) string {
		var text string
		for _, l := range lines {
			text += line(l + "\n")
		}
		return line("\x01"+text+"0000") + "0000"
	}
	words := line("\x02remote words\n")
	for name, c := range map[string]struct{ answer, want string }{
		"landed":                   {report("unpack ok", "ok refs/heads/main"), ""},
		"landed, with a greeting":  {words + report("unpack ok", "ok refs/heads/main"), ""},
		"refused":                  {report("unpack ok", "ng refs/heads/main hook declined"), "hook declined"},
		"refused, with words":      {words + report("unpack ok", "ng refs/heads/main hook declined"), "hook declined: remote words"},
		"not unpacked":             {report("unpack index-pack failed", "ng refs/heads/main unpacker error"), "unpack index-pack failed"},
		"not unpacked, but moved?": {report("unpack index-pack failed", "ok refs/heads/main"), "unpack index-pack failed"},
		"nothing of the branch":    {report("unpack ok"), "the report of the push does not name the branch"},
		"fatal":                    {line("\x03out of memory"), "read the report of the push: the server says: out of memory"},
		"cut short":                {report("unpack ok", "ok refs/heads/main")[:20], "read the report of the push: the answer was cut short: unexpected EOF"},
		"empty":                    {"", "read the report of the push: the answer was cut short: unexpected EOF"},
	} {
		got := ""
		if err := reportOf(c.answer); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func reportOf(answer string) error { return report(strings.NewReader(answer)) }

func TestAPackHoldsEachObjectOnce(t *testing.T) {
	t.Parallel()
	same := object{plumbing.BlobObject, []byte("same")}
	var packed bytes.Buffer
	if err := pack(&packed, []object{same, same, commitObject(same.id(), same.id(), DefaultAuthor, time.Unix(1, 0), "m")}); err != nil {
		t.Fatal(err)
	}
	if n := packed.Bytes()[11]; n != 2 {
		t.Errorf("the pack holds %d objects, want 2", n)
	}
	objs := newObjects()
	if err := objs.unpack(t.Context(), &packed); err != nil || len(objs.held) != 2 {
		t.Errorf("unpacked it is %d objects, %v", len(objs.held), err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte("0009abcd\n00010000"))
	f.Add([]byte("000cERR no!\n"))
	f.Add([]byte("0006\x01a0007\x02bc0000"))
	f.Add([]byte("fff"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		in := &packets{r: bytes.NewReader(answer)}
		for {
			if _, err := in.next(); err != nil {
				break
			}
		}
		if err := report(bytes.NewReader(answer)); err == nil && !bytes.Contains(answer, []byte("ok")) {
			t.Errorf("%q is taken for a push that landed", answer)
		}
		io.Copy(io.Discard, &band{packets: &packets{r: bytes.NewReader(answer)}})
		parseTree(answer)
		parseCommit(answer)
	})
}
