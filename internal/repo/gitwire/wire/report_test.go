package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
)

// A push succeeded only if the report names the branch as moved.
func TestReportsOfAPush(t *testing.T) {
	t.Parallel()
	line := func(text string) string {
		var r Request
		r.Linef("%s", text)
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
	})
}

// A server may send any amount of text next to the pack. The client stores only its
// start.
func TestTheWordsBesideAPackAreBounded(t *testing.T) {
	t.Parallel()
	var answer Request
	for range 300 {
		fmt.Fprintf(&answer, "%04x\x02%s", 60_005, strings.Repeat("x", 60_000))
	}
	in := &band{packets: &packets{r: &answer}}
	_, err := io.Copy(io.Discard, in)
	if kept := in.words.text.Len(); !errors.Is(err, io.ErrUnexpectedEOF) || kept > sanitize.MostAnswer {
		t.Errorf("%d bytes are kept, %v", kept, err)
	}
}
