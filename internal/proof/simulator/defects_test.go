//go:build long

package simulator

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var defects = flag.Bool("defects", false, "build the product with each defect of testdata/defects, and play until it is found")

// root is the root of the repository.
const root = "../../.."

// Each defect in testdata/defects breaks, within 100,000 ticks, the law that its head
// names. "only" limits the drawn events if most of them would only take time, and "clouds" is
// the share of histories with the adapters of AWS, in percent; 0 by default. A defect
// is a replacement in a folder of the product: the text, which occurs once, and the new
// text. A defect that no longer applies fails, and must be rewritten.
func TestSeededDefectsAreFound(t *testing.T) {
	all, err := filepath.Glob("testdata/defects/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no defects: %v", err)
	}
	tried := all
	if !*defects {
		tried = all[:1] // make faults tries all of them
	}
	caught := 0
	for _, file := range all {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			defect, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			overlay := apply(t, defect)
			if !slices.Contains(tried, file) {
				return
			}
			law, only, clouds := head(defect, "law"), head(defect, "only"), cmp.Or(head(defect, "clouds"), "0")
			out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count", "1", "-timeout", "1h", ".",
				"-run", "^TestRandomHistoriesBreakNoLaw$", "-ticks", "100000", "-clouds", clouds, "-law", law, "-only", only).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "histories break the law that "+law+":") {
				t.Fatalf("does not break the law that %s: %v\n%s", law, err, out)
			}
			caught++
		})
	}
	fmt.Printf("figure seeded_defects %d\nfigure seeded_defects_caught %d\n", len(tried), caught)
}

// head returns the value of a line in the head of a defect; "" without that line.
func head(defect *txtar.Archive, key string) string {
	found := regexp.MustCompile(`(?m)^` + key + `: (.*)$`).FindSubmatch(defect.Comment)
	if found == nil {
		return ""
	}
	return string(found[1])
}

// apply makes an overlay for go test that has a defect in it.
func apply(t *testing.T, defect *txtar.Archive) (overlay string) {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for _, change := range defect.Files {
		was, is, _ := strings.Cut(string(change.Data), "\n=>\n")
		file, text := holds(t, change.Name, was)
		copied := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(copied, []byte(strings.Replace(text, was, strings.TrimSuffix(is, "\n"), 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[file] = copied
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

// holds finds the one place of a text below a folder of the product.
func holds(t *testing.T, folder, words string) (file, text string) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		if n := strings.Count(string(data), words); n > 0 {
			found, text = found+n, string(data)
			file, err = filepath.Abs(path)
		}
		return err
	})
	if err != nil || found != 1 {
		t.Fatalf("does not apply: %s holds %d times, and not once: %v\n%s", folder, found, err, words)
	}
	return file, text
}
