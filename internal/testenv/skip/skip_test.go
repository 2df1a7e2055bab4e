package skip

import (
	"fmt"
	"testing"
)

// A recorder records the end of a test instead of ending it.
type recorder struct {
	testing.TB
	end string
}

func (*recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.end += "failed, " + fmt.Sprintf(format, args...)
}

func (r *recorder) Skipf(format string, args ...any) {
	r.end += "skipped, " + fmt.Sprintf(format, args...)
}

// After a failure in CI, the recorder goes on, and a real test ends.
func TestATestIsSkippedOutsideOfCIOnly(t *testing.T) {
	for ci, want := range map[string]string{
		"":     "skipped, needs make 4",
		"true": "failed, skipped in CI: needs make 4skipped, needs make 4",
	} {
		t.Setenv("CI", ci)
		r := &recorder{TB: t}
		Test(r, "needs make %d", 4)
		if r.end != want {
			t.Errorf("with CI=%s, the test %s; want %s", ci, r.end, want)
		}
	}
}
