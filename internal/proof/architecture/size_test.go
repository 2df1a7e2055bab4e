//go:build long

package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The most bytes of the command, as a release builds it and with the tables of a debugger.
const (
	mostStripped = 45_000_000
	mostBuilt    = 60_000_000
)

// A template, or a method that a program looks up by its name, makes the linker keep each
// exported method: the command then has 54 and 76 MB.
func TestTheSizeOfTheCommand(t *testing.T) {
	t.Parallel()
	for flags, most := range map[string]int64{"-s -w": mostStripped, "": mostBuilt} {
		path := filepath.Join(t.TempDir(), "gitlatch")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", flags, "-o", path, module+"functions/gitlatch").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("with -ldflags=%q: %.1f MB", flags, float64(info.Size())/1e6)
		if info.Size() > most {
			t.Errorf("with -ldflags=%q: %d bytes, want at most %d", flags, info.Size(), most)
		}
	}
}
