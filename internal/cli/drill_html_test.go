package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/drill"
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
		_, rest, _ := strings.Cut(html, `id="document">`)
		data, _, _ := strings.Cut(rest, "</script>")
		var d drill.Document
		must(t, json.Unmarshal([]byte(data), &d))
		if d.Site != "prod-eu" || d.Commit != w.tip() || *d.Fleet.Coverage != 1 || len(d.Workloads) == 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
