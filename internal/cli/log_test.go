package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// lived returns a world in which the level of web was raised and edited, and which had a
// rollout and a merge.
func lived(t *testing.T) *world {
	t.Helper()
	w := settled(t)
	w.set("shop/deployment/web", 187)
	w.tick()
	w.tick()
	edit := func(message string, pairs ...string) {
		w.origin.Push(t, "main", map[string]string{shopRecord: strings.NewReplacer(pairs...).Replace(w.origin.Show(t, "main", shopRecord))}, message)
	}
	edit("room for the sale", `web: "200"`, `web: "500"`, `web_max: "500"`, `web_max: "900"`)
	edit("a rollout", `web_min: "3"`, `web_min: "3"
  deployment.web_milestone: "25"
  deployment.web_phase: "progressing"
  deployment.web_from: "a"
  deployment.web_to: "b"
  deployment.web_returns: "from"
  deployment.web_differ: "images"`)
	edit("half of it", `milestone: "25"`, `milestone: "50"`, `returns: "from"`, `returns: "to"`)
	edit("it failed", `milestone: "50"`, `milestone: "0"`, `"progressing"`, `"failed"`, `returns: "to"`, `returns: "from"`)
	edit("another", `cart: "20"`, `cart: "50"`)
	w.api.Close() // log reads only git
	return w
}

// shortID matches commit ids, which differ in each run.
var shortID = regexp.MustCompile(`\b[0-9a-f]{7}\b|\b[0-9a-f]{40}\b`)

func TestLogTellsHowACheckpointCameToBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		golden string
		args   []string
	}{
		{"log.txt", []string{"shop/web"}},
		{"log.json", []string{"shop/deployment/web", "-o", "json"}},
		{"log-cut.txt", []string{"shop/web", "--repository", "SHALLOW", "--site", "prod-eu"}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			t.Parallel()
			w := lived(t)
			before := w.hash(t)
			args := append([]string{"log"}, c.args...)
			for i, arg := range args {
				if arg == "SHALLOW" {
					args[i] = w.shallow(t, 3)
				}
			}
			got := w.run(args...)
			if got.status != 0 || got.err != "" || strings.Contains(got.out, "\x1b") {
				t.Errorf("%+v", got)
			}
			for line := range strings.Lines(got.out) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && strings.HasSuffix(c.golden, ".txt") {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			golden(t, c.golden, shortID.ReplaceAllStringFunc(got.out, func(id string) string { return strings.Repeat("c", len(id)) }))
			if c.golden == "log.json" && !json.Valid([]byte(got.out)) {
				t.Error("it is no JSON")
			}
			if w.hash(t) != before {
				t.Error("it wrote")
			}
		})
	}
}

// shallow returns a bare clone with the last commits of the repository.
func (w *world) shallow(t *testing.T, commits int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shallow.git")
	w.origin.Git(t, "clone", "--quiet", "--bare", fmt.Sprintf("--depth=%d", commits), "file://"+w.origin.Dir, dir)
	return dir
}

func TestLogSince(t *testing.T) {
	t.Parallel()
	w := lived(t)
	for since, want := range map[string]int{"0d": 0, "1h": 0, "": 6, "400d": 6, "2026-11-02T08:05:00Z": 0, "2026-11-02T08:03:00Z": 2} {
		args := []string{"log", "shop/web", "-o", "json"}
		if since != "" {
			args = append(args, "--since", since)
		}
		at := w.now
		if since == "1h" || since == "0d" {
			w.now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		got := w.run(args...)
		w.now = at
		var d struct{ Changes []any }
		if err := json.Unmarshal([]byte(got.out), &d); err != nil || len(d.Changes) != want {
			t.Errorf("since %q: %d changes, want %d: %+v", since, len(d.Changes), want, got)
		}
	}
}

func TestLogSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := settled(t)
	for args, want := range map[string]string{
		"log":                        "requires one workload, as shop/web",
		"log shop/wep":               `"shop/wep": git has no workload with this name; there are shop/api, shop/cart, shop/web. For a live workload, run "gitlatch explain NAMESPACE/NAME". For a workload that git no longer contains, use NAMESPACE/KIND/NAME`,
		"log new/web":                `"new/web": git has no workload with this name, or any other in namespace new; there are the namespaces pay, shop. For a live workload, run "gitlatch explain NAMESPACE/NAME"`,
		"log shop":                   "give one workload of namespace shop: shop/api",
		"log shop/web -o html":       "must be one of table, json, yaml",
		"log shop/web --since 3x":    "must be a time",
		"log shop/web --since -3h":   "must be a time",
		"log shop/widget/../etc":     "NAMESPACE/KIND/NAME",
		"log shop/deployment/../etc": "NAMESPACE",
	} {
		if got := w.run(strings.Fields(args)...); got.status != 2 || !strings.Contains(got.err, want) {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
	for name, want := range map[string]string{
		"shop/pod/web":         "there are shop/api, shop/cart, shop/web",
		"shop/deployment/gone": "there are shop/api, shop/cart, shop/web",
		"nope/deployment/web":  "or any other in namespace nope",
	} {
		for _, output := range []string{"table", "json"} {
			got := w.run("log", name, "-o", output)
			if got.status != 2 || got.out != "" || !strings.Contains(got.err, `"`+name+`": git has no workload with this name, now or in the last 2 commits`) || !strings.Contains(got.err, want) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
	// The part of the history that was not read may contain the workload.
	if got := w.run("log", "shop/deployment/gone", "--repository", w.shallow(t, 1), "--site", "prod-eu"); got.status != 0 || !strings.Contains(got.out, "no change in 0 commits\n\"gitlatch log\" did not read older commits") {
		t.Errorf("%+v", got)
	}
}

func TestLogOfWhatWasRetired(t *testing.T) {
	t.Parallel()
	w := settled(t)
	is := w.origin.Show(t, "main", shopRecord)
	w.origin.Push(t, "main", map[string]string{shopRecord: strings.Replace(is, "\ndata:\n", "\ndata:\n  deployment.a: \"5\"\n", 1)}, "one more")
	w.origin.Push(t, "main", map[string]string{shopRecord: is}, "one less")
	got := w.run("log", "shop/deployment/a")
	if got.status != 0 || !strings.Contains(got.out, "5 -> removed") {
		t.Errorf("%+v", got)
	}
	w.now = w.now.AddDate(1, 0, 0)
	if got := w.run("log", "shop/deployment/a", "--since", "1h"); got.status != 0 || !strings.Contains(got.out, "no change in 0 commits") {
		t.Errorf("since: %+v", got)
	}
}
