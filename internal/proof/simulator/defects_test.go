package simulator

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// root is the root of the repository.
const root = "../../.."

// A defect in testdata/defects is a replacement in a folder of the product: the text, which
// occurs once, and the new text. A defect that no longer applies must be rewritten, so that
// TestSeededDefectsAreFound still says what the simulator finds.
func TestSeededDefectsApply(t *testing.T) {
	for _, file := range seeded(t) {
		t.Run(name(file), func(t *testing.T) { apply(t, file) })
	}
}

// seeded returns the files of the seeded defects.
func seeded(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/defects/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no defects: %v", err)
	}
	return all
}

// name returns the name of a seeded defect.
func name(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

// apply reads a defect, and makes an overlay for go test that has it.
func apply(t *testing.T, file string) (defect *txtar.Archive, overlay string) {
	t.Helper()
	defect, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
	return defect, overlay
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
