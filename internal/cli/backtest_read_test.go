package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/term/tty"
)

// Progress shows how far a file was read. A file below a megabyte is read at once.
func TestProgressShowsMegabytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes int
		known bool
		want  string
	}{
		{1<<20 - 1, true, ""},
		{3 << 20, true, "read past.csv: 100 % of 3 MB "},
		{3 << 20, false, "read past.csv: 3 MB "},
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
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, c.want) || c.want == "" && last != "" {
			t.Errorf("%d bytes: %q, want %q", c.bytes, last, c.want)
		}
	}
}
