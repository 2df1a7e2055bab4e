package cli_test

import (
	"strings"
	"testing"
)

// Where 1 is what a command found, a call that it does not understand is 2; of
// the other commands it is 1, as any failure.
func TestACallThatIsNotUnderstoodIsNoFinding(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]struct {
		status int
		says   string
	}{
		"drill --bogus":          {2, "unknown flag: --bogus; see gitlatch drill --help"},
		"drill extra":            {2, "wants no arguments"},
		"drill --min-coverage x": {2, "invalid argument"},
		"doctor --bogus":         {2, "see gitlatch doctor --help"},
		"doctor extra":           {2, "wants no arguments"},
		"diff --bogus":           {2, "see gitlatch diff --help"},
		"tick --bogus":           {1, "see gitlatch tick --help"},
	} {
		w := &world{dir: t.TempDir()}
		if got := w.run(strings.Fields(call)...); got.status != want.status || !strings.Contains(got.err, want.says) {
			t.Errorf("%s: %+v", call, got)
		}
	}
}
