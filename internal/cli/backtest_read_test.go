package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/term/tty"
)

// The size of a small input is not printed as 0.
func TestProgressSaysSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes int
		known bool
		want  string
	}{
		{1, true, "read past.csv: 100 % of 1 byte "},
		{1023, true, "read past.csv: 100 % of 1023 bytes "},
		{1024, true, "read past.csv: 100 % of 1 KB "},
		{1<<20 - 1, true, "read past.csv: 100 % of 1023 KB "},
		{3 << 20, true, "read past.csv: 100 % of 3 MB "},
		{1500, false, "read past.csv: 1 KB "},
		{0, false, "read past.csv: 0 bytes "},
	} {
		var said strings.Builder
		in := &counted{name: "past.csv", from: strings.NewReader(strings.Repeat("x", c.bytes)), show: &tty.Progress{To: &said, Columns: 60}}
		if c.known {
			in.all = int64(c.bytes)
		}
		if _, err := io.Copy(io.Discard, in); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(said.String(), "\r")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, c.want) {
			t.Errorf("%d bytes: %q, want %q", c.bytes, last, c.want)
		}
	}
}
