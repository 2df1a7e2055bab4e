package cli_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/drill"
)

// keeping returns a tended world that stores its drills in a folder.
func keeping(t *testing.T) *world {
	t.Helper()
	w := tended(t)
	text, err := os.ReadFile(w.path("config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "config.yaml", string(text)+"drills: "+w.path("drills")+"\n")
	return w
}

func drilled(t *testing.T, got outcome, status int) (d drill.Document) {
	t.Helper()
	if got.status != status || got.err != "" {
		t.Fatalf("%+v, want status %d", got, status)
	}
	if err := json.Unmarshal([]byte(got.out), &d); err != nil {
		t.Fatalf("%v in %s", err, got.out)
	}
	return d
}

func TestADrillDeclaresWhatIsNeededAndIsContent(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	w.api.workloads["shop/deployment/web"].desired, w.api.workloads["shop/deployment/web"].ready = 187, 187
	tip := w.origin.Tip("main")
	got := w.run("drill", "--flush")
	if got.status != 0 || got.err != "" {
		t.Errorf("%+v", got)
	}
	after := w.origin.Tip("main")
	golden(t, "drill-good.txt", w.plain(got.out))
	message := w.origin.Git(t, "log", "-1", "--format=%B", "main")
	if after == tip || !strings.Contains(message, "latch(prod-eu): shop/web 100 -> 200") || !strings.Contains(message, "a drill finds a need of 187, which rounds to 200") {
		t.Errorf("commit %s", message)
	}

	// A second flush has nothing to write, and neither does the tick after it.
	w.now = w.now.Add(time.Minute)
	d := drilled(t, w.run("drill", "--flush", "-o", "json"), 0)
	if d.Flush.Commit != "" || d.Commit != after || d.Last == nil || len(d.Last.Changes) != 0 || *d.Last.Coverage != 1 {
		t.Errorf("flush %+v, last %+v", d.Flush, d.Last)
	}
	if w.tick(); w.origin.Tip("main") != after {
		t.Error("the tick after it commits")
	}
}

// plain returns an output without the parts that differ from run to run.
func (w *world) plain(text string) string {
	return strings.NewReplacer(w.dir, "<dir>", w.tip()[:7], "<tip>", w.tip(), "<commit>").Replace(text)
}

func (w *world) tip() string {
	data, err := os.ReadFile(filepath.Join(w.origin.Dir, "refs/heads/main"))
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(data))
}

// shorn is a world in which a rebuild does not start every workload at its level: the
// manifest of cart states 1 replica.
func shorn(t *testing.T) *world {
	t.Helper()
	w := keeping(t)
	drilled(t, w.run("drill", "--flush", "-o", "json"), 0)
	w.now = w.now.Add(7 * 24 * time.Hour)
	w.api.workloads["shop/deployment/api"].ready = 20
	w.api.workloads["shop/deployment/cart"].noted = `{"spec": {"replicas": 1}}`
	return w
}

func TestADrillSaysWhatARebuildLacks(t *testing.T) {
	t.Parallel()
	w := shorn(t)
	got := w.run("drill", "--flush")
	if got.status != 1 || got.err != "" {
		t.Errorf("%+v", got)
	}
	golden(t, "drill-low.txt", w.plain(got.out))
	for line := range strings.Lines(w.plain(got.out)) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	shown, _, _ := strings.Cut(strings.ReplaceAll(w.plain(got.out), "<tip>", "5484ca8"), "json: ")
	shown = strings.ReplaceAll(strings.TrimSpace(shown), "\n", "\n    ")
	if shown = strings.ReplaceAll(shown, "    \n", "\n"); !strings.Contains(docs.Text("drill"), "    "+shown+"\n") {
		t.Errorf("topic drill does not show\n%s", shown)
	}
	d := drilled(t, w.run("drill", "--flush", "-o", "json", "--min-coverage", "0.8"), 0)
	cart := d.Workloads[0]
	if cart.Name != "cart" || cart.Start.AtLeast != 1 || *cart.Declared != 20 || cart.Missing != 17 || d.Fleet.Covered != d.Fleet.Need-17 || d.Fleet.Low != 1 {
		t.Errorf("cart %+v, fleet %+v", cart, d.Fleet)
	}
}

// No desired replicas, or unknown ones, are not a coverage: the report states that, and
// a gate does not pass it.
func TestADrillOfNothingIsNotAPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make    func(w *world)
		unknown int
		says    []string // in the report
		err     string
	}{
		"all is deleted":            {func(w *world) { clear(w.api.workloads) }, 0, []string{"the coverage of a rebuild is unknown"}, "but git has levels for 3 workloads"},
		"autoscalers are forbidden": {func(w *world) { w.api.refuse["horizontalpodautoscalers"] = http.StatusForbidden }, 4, []string{"unknown: shop/api, shop/batch, shop/cart, shop/web\n  its scale is unknown: horizontalpodautoscalers could not be listed\n", "could not be read: horizontalpodautoscalers"}, "the need of 4 workloads is unknown"},
		"deployments are forbidden": {func(w *world) { w.api.refuse["deployments"] = http.StatusForbidden }, 3, []string{"unknown: shop/api, shop/cart, shop/web\n", "could not be read: deployments"}, "the need of 3 workloads is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := keeping(t)
			c.make(w)
			got := w.run("drill", "--flush")
			if got.status != 2 || !strings.Contains(got.err, c.err) || strings.Contains(got.out, " % of the needed") {
				t.Errorf("%+v", got)
			}
			for _, says := range c.says {
				if !strings.Contains(got.out, says) {
					t.Errorf("no %q in\n%s", says, got.out)
				}
			}
			w.now = w.now.Add(time.Minute)
			got = w.run("drill", "--flush", "-o", "json")
			var d drill.Document
			must(t, json.Unmarshal([]byte(got.out), &d))
			if got.status != 2 || d.Passed || d.Fleet.NeedUnknown != c.unknown || !strings.Contains(d.Fleet.Nothing, c.err) || d.Last == nil || d.Last.Nothing != d.Fleet.Nothing {
				t.Errorf("status %d, passed %v, fleet %+v, last %+v", got.status, d.Passed, d.Fleet, d.Last)
			}
		})
	}
}

// A drill in an outage proves nothing: it covers only the workloads that remain.
func TestADrillInAMassDropIsNotAPass(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	drilled(t, w.run("drill", "--flush", "-o", "json"), 0)
	for _, one := range w.api.workloads {
		one.desired, one.ready = max(1, one.desired/10), max(1, one.ready/10)
	}
	w.now = w.now.Add(5 * time.Minute)
	got := w.run("drill", "--flush")
	said := strings.Join(strings.Fields(got.out), " ")
	for _, says := range []string{"a rebuild starts with 100 % of the needed pods, but there is a mass drop", "3 workloads at once. Coverage compares with the live replicas", "drill, 3 workloads changed"} {
		if got.status != 1 || got.err != "" || !strings.Contains(said, says) {
			t.Errorf("status %d %s: no %q in\n%s", got.status, got.err, says, got.out)
		}
	}
}

// The page is stored next to the JSON document.
func TestADrillHasAPage(t *testing.T) {
	t.Parallel()
	w := shorn(t)
	d := drilled(t, w.run("drill", "--flush", "-o", "json"), 1)
	if len(d.Links) != 2 || d.Links[1].Form != "html" {
		t.Fatalf("links %+v", d.Links)
	}
	kept, err := os.ReadFile(d.Links[1].URI)
	if err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Minute)
	printed := w.run("drill", "--flush", "-o", "html")
	for _, page := range []string{string(kept), printed.out} {
		if !strings.HasPrefix(strings.ToLower(page), "<!doctype html>") || !strings.Contains(page, "replicas-reset") || printed.status != 1 {
			t.Errorf("status %d, page %.300s", printed.status, page)
		}
	}
}

func TestADrillSaysWhichVersionReturns(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	web := w.api.workloads["shop/deployment/web"]
	web.rolls = &rolls{updated: 9, failed: "ProgressDeadlineExceeded"}
	for range 3 {
		w.tick()
	}
	const before = "A rebuild returns to the template before, at milestone 0 %: app=web:v1"
	d := drilled(t, w.run("drill", "--flush", "-o", "json"), 0)
	at := slices.IndexFunc(d.Workloads, func(one drill.Workload) bool { return one.Name == "web" })
	if at < 0 {
		t.Fatalf("no web in %+v", d.Workloads)
	}
	r := d.Workloads[at].Rollout
	if r == nil || !r.InFlight || r.Returns != drill.ReturnsFrom || r.Version != "app=web:v1" || *r.Milestone != 0 || r.Phase != "failed" || r.ByItself || r.Text != before+"; the admission policy does not replace images, so a rebuild creates the manifest's template" {
		t.Errorf("rollout %+v", r)
	}
}

// A drill without --flush only reads, and so does the dry run of one that would flush.
func TestADrillWritesNothing(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	w.api.workloads["shop/deployment/web"].desired, w.api.workloads["shop/deployment/web"].ready = 187, 187
	before := w.hash(t)
	d := drilled(t, w.run("drill", "-o", "json"), 1)
	if dry := drilled(t, w.run("drill", "--flush", "--dry-run", "-o", "json"), 1); !reflect.DeepEqual(dry, d) {
		t.Errorf("a dry run says %+v", dry)
	}
	for _, command := range []string{"doctor", "drill"} {
		if got := w.run(command, "--aws"); got.status != 2 || !strings.Contains(got.err, "--aws: the configuration names no EKS cluster. Set cluster.eks, or standby.eks") {
			t.Errorf("%s: status %d: %s", command, got.status, got.err)
		}
	}
	if w.hash(t) != before {
		t.Error("it wrote")
	}
	if !d.DryRun || d.Workloads[0].Name != "web" || d.Workloads[0].Start.AtLeast != 100 || len(d.Flush.Levels) != 1 || *d.Flush.Levels[0].To != 200 || d.Flush.Commit != "" {
		t.Errorf("%+v, flush %+v", d.Workloads[0], d.Flush)
	}
	if c := d.Workloads[0].Causes; len(c) != 1 || c[0].Name != drill.CauseDeclared {
		t.Errorf("causes %+v", c)
	}
}

func TestADrillOfASiteThatObservesScoresGitAsItIs(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": strings.Replace(latching, "mode: latch", "mode: observe", 1)}, "observe")
	w.api.workloads["shop/deployment/web"].desired, w.api.workloads["shop/deployment/web"].ready = 187, 187
	tip := w.origin.Tip("main")
	d := drilled(t, w.run("drill", "--flush", "-o", "json"), 1)
	if w.origin.Tip("main") != tip || d.Mode != "observe" || len(d.Flush.Withheld) != 1 || d.Workloads[0].Causes[0].Name != "observe" {
		t.Errorf("flush %+v, worst %+v", d.Flush, d.Workloads[0])
	}
}

func TestADrillThatCannotLookSaysSo(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	for flag, want := range map[string]string{"--min-coverage=95": "For percent, write 95%", "--output=xml": "table, json, yaml, html"} {
		if got := w.run("drill", "--flush", flag); got.status != 2 || !strings.Contains(got.err, want) {
			t.Errorf("%s: %+v", flag, got)
		}
	}
	// A partial read may miss workloads in the part that could not be listed.
	w.api.refuse["statefulsets"] = http.StatusForbidden
	w.now = w.now.Add(2 * time.Hour)
	d := drilled(t, w.run("drill", "--flush", "-o", "json"), 1)
	if len(d.Unread) == 0 || d.Passed || *d.Fleet.Coverage != 1 {
		t.Errorf("unread %q, passed %v, %v", d.Unread, d.Passed, *d.Fleet.Coverage)
	}
}

// A drill without --flush writes no levels, and prints each reason once. It also prints
// the reason of a level without a specific cause: here api, whose pods suffice.
func TestADrillPrintsEachReasonOnce(t *testing.T) {
	t.Parallel()
	w := tended(t)
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latches + "policies: [{name: default, match: {}, series: 1-2-5, scale: report}]\n"}, "report")
	w.api.workloads["shop/deployment/web"].desired, w.api.workloads["shop/deployment/web"].ready = 187, 187
	w.api.workloads["shop/deployment/api"].desired, w.api.workloads["shop/deployment/api"].ready = 5, 5
	for _, args := range [][]string{{"drill"}, {"drill", "--flush"}} {
		got := w.run(args...)
		text := strings.Join(strings.Fields(got.out), " ")
		if strings.Contains(text, "declares the present need") {
			t.Errorf("%v claims to declare a level:\n%s", args, got.out)
		}
		for reason, want := range map[string]int{"a drill finds a need of 187, which rounds to 200": 1, "a drill finds a need of 5, which rounds to 5": 0} {
			if n := strings.Count(text, reason); n != want {
				t.Errorf("%v prints %q %d times:\n%s", args, reason, n, got.out)
			}
		}
	}
}
