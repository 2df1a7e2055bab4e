package gitwire_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// loud pushes commits to main with messages of the given size that do not compress.
func loud(t *testing.T, o *gitserver.Origin, commits, size int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	var stream strings.Builder
	for n := range commits {
		message := make([]byte, size)
		for i := range message {
			message[i] = byte('!' + r.IntN(90))
		}
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A Person <person@example.com> %d +0000\ndata %d\n%s\n", gitserver.Epoch.Unix()+int64(n), size, message)
		if n == 0 {
			fmt.Fprintf(&stream, "from %s\n", o.Tip("main"))
		}
	}
	o.GitInput(t, stream.String(), "fast-import", "--quiet")
}

// A window that is too large to read is cut, which is not an error.
func TestAWindowThatIsTooLargeIsCut(t *testing.T) {
	t.Parallel()
	s := gitserver.Start(t)
	o := s.Create(t, "shop", map[string]string{"a": "0"})
	base := o.Tip("main")
	loud(t, o, 60, 100_000)
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	got, err := r.Between(t.Context(), base, o.Tip("main"))
	if err != nil || !got.Cut || got.Descends || got.Commits != nil {
		t.Errorf("descends %v, cut %v, %d commits, %v; want a window that was cut", got.Descends, got.Cut, len(got.Commits), err)
	}
}

// A clone with a history that ends before the base does not report that the tip has
// left the base.
func TestAShallowCloneCannotTell(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"a": "0"})
	first := o.Tip("main")
	loud(t, o, 10, 10)
	dir := t.TempDir()
	if out, err := exec.Command("git", "clone", "--quiet", "--bare", "--depth", "5", "file://"+o.Dir, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := open(t, gitwire.Options{URL: dir})
	for base, want := range map[string]repo.Window{
		first:                           {Cut: true},
		o.Git(t, "rev-parse", "main~3"): {Descends: true},
	} {
		got, err := r.Between(t.Context(), base, o.Tip("main"))
		if err != nil || got.Cut != want.Cut || got.Descends != want.Descends {
			t.Errorf("from %s: descends %v, cut %v, %v; want %+v", base, got.Descends, got.Cut, err, want)
		}
	}
}
