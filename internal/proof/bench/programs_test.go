package bench

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// cold reads the figures of programs that measure themselves.
func cold(t *testing.T, b book) {
	b.beside("cold_ratio", figured(t, "go", "run", "./scripts/bench-cold")["cold_ratio"], "a cold start", "an idle bootstrap's")
	b.alone("zip_mb_arm64", figured(t, "make", "--no-print-directory", "zip-size")["zip_mb_arm64"])
}

// figured runs a program at the root of the repository, and returns its figures.
func figured(t *testing.T, program string, args ...string) map[string]float64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = filepath.Join("..", "..", "..")
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, words.String())
	}
	found := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "figure" {
			value, err := strconv.ParseFloat(f[2], 64)
			must(t, err)
			found[f[1]] = value
		}
	}
	return found
}
