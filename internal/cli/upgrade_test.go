package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/boltstate"
)

// After a downgrade gitlatch refuses the newer state, and the error has both solutions.
// Without the state, git has the levels, and no commit is needed.
func TestARollbackIsToldWhatToDoWithTheState(t *testing.T) {
	t.Parallel()
	w := settled(t)
	tip := w.origin.Tip("main")
	boltstate.PutLatch(t, w.path("state/latch.db"), "prod-eu", "shop/deployment/web", `{"format":99,"state":{}}`)
	got := w.tick()
	for _, want := range []string{"the state has format 99", "Update gitlatch", "delete the site's state"} {
		if got.status != 2 || !strings.Contains(got.err, want) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	must(t, os.Remove(w.path("state/latch.db")))
	for range 3 {
		if got := w.tick(); got.status != 0 {
			t.Errorf("%+v", got)
		}
	}
	if now := w.origin.Tip("main"); now != tip {
		t.Errorf("the branch moved from %s to %s", tip, now)
	}
}
