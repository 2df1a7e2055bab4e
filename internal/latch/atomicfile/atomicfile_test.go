package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gitlatch/gitlatch/internal/latch/atomicfile"
)

func TestAFileIsThereWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.prom")
	for _, text := range []string{"the first", "next"} {
		if err := atomicfile.Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("reads %q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("another user cannot read it: %v %v", info, err)
	}
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	folder := filepath.Join(above, "folder")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(folder, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if err := atomicfile.Write(filepath.Join(folder, "gone", "a.prom"), nil); err == nil {
		t.Error("a folder was made")
	}
	for dir, want := range map[string]int{above: 1, folder: 0} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
			t.Errorf("left in %s: %v %v", dir, entries, err)
		}
	}
}
