//go:build long

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestFigures measures all figures, one part after the other, because a concurrent part
// would affect the result. Without -figures it runs the parts that have a small form
// and ignores their figures: it checks only that the measurements still work.
func TestFigures(t *testing.T) {
	small := !*figures
	if small {
		*size = .02
	}
	b := book{}
	for _, part := range []struct {
		name    string
		measure func(*testing.T, book)
		small   bool // has a small form, of seconds
	}{
		{"git", crossings, true}, {"sample", sampling, false}, {"state", states, true}, {"memory", memories, false}, {"noise", noises, true}, {"cold", cold, false},
	} {
		if (*only == "" || *only == part.name) && (part.small || !small) {
			t.Run(part.name, func(t *testing.T) { part.measure(t, b) })
		}
	}
	for _, f := range accepted {
		if m, ok := b[f.name]; ok && !small {
			fmt.Printf("figure %s %.4g\n", f.name, m.value)
		}
	}
	if *only != "" || *size != 1 {
		t.Logf("\n%s", b.table())
		return
	}
	if err := b.lacks(); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join("..", "..", "..", "testdata", "bench")
	must(t, os.MkdirAll(folder, 0o755))
	must(t, os.WriteFile(filepath.Join(folder, "figures.md"), []byte(b.table()), 0o644))
	for _, f := range accepted {
		if m := b[f.name]; !f.holds(m.value) {
			t.Errorf("figure %s is %.4g, and is held to %s", f.name, m.value, f.bound())
		}
	}
}
