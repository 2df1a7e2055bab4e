package gitwire_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// The limits for a process that reads a hostile repository. The time is processor time,
// which other work on the machine does not affect.
const (
	mostMemory = 256 << 20 // bytes
	mostTime   = time.Minute
)

// hostile contains the changes that a user with push access makes to the namespace bad
// of a site. why is the reason for which the site's tree leaves out that namespace, or
// "" if it does not.
var hostile = map[string]struct {
	put func(*testing.T, *gitserver.Origin)
	why string
}{
	"nested trees beside the record": {func(t *testing.T, o *gitserver.Origin) {
		o.Put(t, "main", "checkpoints/prod/bad/nested", o.Nested(t, 7))
	}, ""},
	"nested trees as the record": {func(t *testing.T, o *gitserver.Origin) {
		o.Put(t, "main", "checkpoints/prod/bad.levels.yaml", o.Nested(t, 7))
	}, "checkpoints/prod/bad.levels.yaml is a directory"},
	"zeros as the record": {func(t *testing.T, o *gitserver.Origin) {
		o.Put(t, "main", "checkpoints/prod/bad.levels.yaml", o.Zeros(t, 2*mostMemory))
	}, "checkpoints/prod/bad.levels.yaml " + repo.TooLarge},
	"zeros beside the record": {func(t *testing.T, o *gitserver.Origin) {
		o.Put(t, "main", "checkpoints/prod/bad/zeros", o.Zeros(t, 2*mostMemory))
	}, ""},
	"many zeros": {func(t *testing.T, o *gitserver.Origin) {
		for n := range 40 { // 160 MiB, each file below the limit
			o.Put(t, "main", fmt.Sprintf("checkpoints/prod/bad-%d.levels.yaml", n), o.Zeros(t, repo.MostBytes-int64(n)))
		}
		o.Put(t, "main", "checkpoints/prod/bad.levels.yaml", o.Zeros(t, repo.MostBytes))
	}, "checkpoints/prod/bad.levels.yaml " + repo.TooLarge},
	"a wide folder": {func(t *testing.T, o *gitserver.Origin) {
		o.Put(t, "main", "checkpoints/prod/bad", o.Wide(t, 200_000))
	}, ""},
	"a deep folder": {func(t *testing.T, o *gitserver.Origin) {
		o.Push(t, "main", map[string]string{"checkpoints/prod/bad" + strings.Repeat("/d", 1000) + "/file": "deep"}, "deep")
	}, ""},
}

// The content of one namespace does not affect the rest of the site: the reader reads the
// rest within 256 MiB and some seconds, and reports the path of the problem.
func TestAHostileNamespaceCostsItselfAlone(t *testing.T) {
	t.Parallel()
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gitserver.Start(t)
			o := s.Create(t, "shop", map[string]string{
				"checkpoints/prod/shop.levels.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop, namespace: gitlatch-levels}\ndata: {}\n",
			})
			c.put(t, o)
			for way, url := range map[string]string{"http": s.URL("shop"), "disk": o.Dir} {
				out := limited(t, url, o.Tip("main"))
				if want := "bad: " + c.why; !strings.Contains(out, "shop is read") || c.why != "" && !strings.Contains(out, want) {
					t.Errorf("over %s: %s\nwant that shop is read, and %s", way, out, want)
				}
			}
			gitserver.WithoutFilter(t, o)
			if out := limited(t, s.URL("shop"), o.Tip("main")); !strings.Contains(out, "shop is read") {
				t.Errorf("of a server without partial clone: %s", out)
			}
		})
	}
}

const limitedURL, limitedCommit = "GITWIRE_TEST_URL", "GITWIRE_TEST_COMMIT"

// limited reads a site in a separate process, and returns the output of the process.
func limited(t *testing.T, url, commit string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*mostTime)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), limitedURL+"="+url, limitedCommit+"="+commit)
	out, err := child.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v: %.2000s", errors.Join(err, ctx.Err()), out)
	}
	if spent := child.ProcessState.UserTime() + child.ProcessState.SystemTime(); spent > mostTime {
		t.Errorf("%s took %s of a processor, of %s", url, spent, mostTime)
	}
	_, peak, told := strings.Cut(string(out), "VmHWM:")
	var kib int
	if _, err := fmt.Sscan(peak, &kib); !told || err != nil || kib<<10 > mostMemory {
		t.Errorf("%s took %d MiB, of %d: %v", url, kib>>10, mostMemory>>20, err)
	}
	return string(out)
}

// TestMain also runs in the process that limited starts.
func TestMain(m *testing.M) {
	url := os.Getenv(limitedURL)
	if url == "" {
		os.Exit(m.Run())
	}
	if err := readLimited(url); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func readLimited(url string) error {
	limit := syscall.Rlimit{Cur: 2 * mostMemory, Max: 2 * mostMemory} // protects the memory of the machine
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return err
	}
	r, err := gitwire.Open(gitwire.Options{URL: url, Branch: "main"})
	if err != nil {
		return err
	}
	directory := ledger.Checkpoints("prod")
	found, err := r.Read(context.Background(), os.Getenv(limitedCommit), nil, directory)
	if err != nil {
		return err
	}
	tree, err := ledger.Tree("prod", found[directory])
	if err != nil {
		return err
	}
	if _, read := tree.Records["shop"]; read {
		fmt.Println("shop is read")
	}
	for namespace, why := range tree.Broken {
		fmt.Printf("%s: %v\n", namespace, why)
	}
	// The process reads its own peak: the peak that the parent gets includes the
	// parent's.
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	fmt.Printf("%s", status)
	return nil
}
