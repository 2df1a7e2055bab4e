package simulator

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var defects = flag.Bool("defects", false, "build the product with each defect of testdata/defects, and play until it is found")

// root is the root of the repository.
const root = "../../.."

// Each defect of testdata/defects, a patch to the product, breaks within 100,000
// ticks the law that its head names; "only" names the events that are drawn, where
// those without open holes do not do. One that does not apply any more fails: it is
// to be made anew.
func TestSeededDefectsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("each defect is a build of its own: run without -short")
	}
	patches, err := filepath.Glob("testdata/defects/*.patch")
	if err != nil || len(patches) == 0 {
		t.Fatalf("no defects: %v", err)
	}
	if !*defects {
		patches = patches[:1] // make faults tries all of them
	}
	caught := 0
	for _, patch := range patches {
		name := strings.TrimSuffix(filepath.Base(patch), ".patch")
		t.Run(name, func(t *testing.T) {
			overlay := apply(t, patch)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			law, only := head(t, patch, "law"), head(t, patch, "only")
			out, err := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-count", "1", ".",
				"-run", "^TestRandomHistoriesBreakNoLaw$", "-ticks", "100000", "-law", law, "-only", only).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "histories break the law that "+law+":") {
				t.Fatalf("does not break the law that %s: %v\n%s", law, err, out)
			}
			caught++
		})
	}
	fmt.Printf("figure seeded_defects %d\nfigure seeded_defects_caught %d\n", len(patches), caught)
}

// head is a line at the head of a patch; "" where there is none.
func head(t *testing.T, patch, key string) string {
	t.Helper()
	text, err := os.ReadFile(patch)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + key + `: (.*)$`).FindSubmatch(text)
	if found == nil {
		return ""
	}
	return string(found[1])
}

var patched = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)$`)

// apply makes an overlay for go test, in which a patch is applied.
func apply(t *testing.T, patch string) (overlay string) {
	t.Helper()
	text, err := os.ReadFile(patch)
	if err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	for _, file := range patched.FindAllStringSubmatch(string(text), -1) {
		source, err := os.ReadFile(filepath.Join(module, file[1]))
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, file[1])
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, source, 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(module, file[1])] = copied
	}
	git := exec.CommandContext(t.Context(), "git", "apply", "-")
	git.Dir, git.Stdin = dir, strings.NewReader(string(text))
	git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%s does not apply: %v\n%s", patch, err, out)
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}
