package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page of a drill is written on request, and stored next to the document. Both
// pages show the values of the document.
func TestADrillAsAPage(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	got := w.run("drill", "--flush", "-o", "html")
	if got.status != 0 || got.err != "" || !strings.HasPrefix(got.out, "<!doctype html>") {
		t.Fatalf("%d %s %.100s", got.status, got.err, got.out)
	}
	kept, err := filepath.Glob(w.path("drills/prod-eu/*.html"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	page, err := os.ReadFile(kept[0])
	must(t, err)
	for name, html := range map[string]string{"written": got.out, "kept": string(page)} {
		for _, want := range []string{"Drill of prod-eu", "<dd>" + w.tip() + "</dd>", "<dd class=\"figure\">100\u00a0%</dd>", `<span class="quiet">shop/</span>web`} {
			if !strings.Contains(html, want) {
				t.Errorf("%s has no %q: %s", name, want, html)
			}
		}
	}
}
