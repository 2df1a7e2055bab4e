// Package browser opens pages in a headless Chromium for tests, by playwright-core.
package browser

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

//go:embed serve.js
var serve string

// patience is the time limit of one access to a page, on a busy machine.
const patience = 3 * time.Minute

// A Browser is a Chromium with a separate, empty profile.
type Browser struct{ address string }

// Start starts a browser, which ends with the test. It skips the test if
// Chromium, node or the package is not available; in CI it fails the test.
func Start(t testing.TB) *Browser {
	t.Helper()
	dir := program.Folder(t, "playwright-core, which drives a browser", filepath.Join("scripts", "npm", "install.sh"))
	chromium := program.Folder(t, "Chromium", filepath.Join("scripts", "chromium", "fetch.sh"))
	return &Browser{program.Serve(t, dir, "env", "CHROMIUM="+chromium, "node", "--eval", serve)}
}

// A View contains the display settings of a page. The zero value is a light page of
// 1280 by 900.
type View struct {
	Dark          bool
	Width, Height int // CSS pixels
}

// A Page is one that is open.
type Page struct {
	address string
	id      int
}

// Open opens a page from a separate file, and closes it when the test ends. It then
// fails the test if the page wrote to the console, threw an error, or requested another
// resource.
func (b *Browser) Open(t testing.TB, html []byte, v View) *Page {
	t.Helper()
	p := b.open(t, html, v)
	t.Cleanup(func() {
		for _, wrong := range p.Wrong(t) {
			t.Errorf("the page did what it must not: %s", wrong)
		}
		p.ask(t, map[string]any{"what": "close", "page": p.id}, nil)
	})
	return p
}

func (b *Browser) open(t testing.TB, html []byte, v View) *Page {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, html, 0o600); err != nil {
		t.Fatal(err)
	}
	if v.Width == 0 {
		v.Width, v.Height = 1280, 900
	}
	ask := map[string]any{"what": "open", "html": (&url.URL{Scheme: "file", Path: path}).String(), "scheme": "light", "width": v.Width, "height": v.Height}
	if v.Dark {
		ask["scheme"] = "dark"
	}
	p := &Page{address: b.address}
	p.ask(t, ask, &p.id)
	return p
}

// Wrong returns the page's forbidden actions so far.
func (p *Page) Wrong(t testing.TB) (wrong []string) {
	t.Helper()
	p.ask(t, map[string]any{"what": "wrong", "page": p.id}, &wrong)
	return wrong
}

// Do runs the body of an asynchronous function with the parameters page, which is
// playwright's, and given. It decodes the result into got, which may be nil.
func (p *Page) Do(t testing.TB, script string, given, got any) {
	t.Helper()
	p.ask(t, map[string]any{"what": "do", "page": p.id, "script": script, "given": given}, got)
}

func (p *Page) ask(t testing.TB, what map[string]any, got any) {
	t.Helper()
	body, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Timeout: patience}
	response, err := client.Post(p.address, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatalf("ask the browser: %v", err)
	}
	defer response.Body.Close()
	var answer struct {
		Got   json.RawMessage
		Error string
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatalf("ask the browser: %v", err)
	}
	if answer.Error != "" {
		t.Fatalf("in the browser: %s", answer.Error)
	}
	if got != nil && len(answer.Got) > 0 {
		if err := json.Unmarshal(answer.Got, got); err != nil {
			t.Fatalf("what the script returned: %v: %s", err, answer.Got)
		}
	}
}
