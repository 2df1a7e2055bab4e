package cli_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/report"
)

func TestAdoptTakesARebuiltClusterForTheSitesOwn(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.api.uid = "9a41-green"
	w.now = w.now.Add(time.Hour) // blue is no longer live
	if got := w.tick(); !strings.Contains(got.out, "no level is lowered (other-cluster): cluster 9a41-green is not the site's own cluster 1f0c-blue") {
		t.Errorf("before: %+v", got)
	}
	if got := w.run("adopt"); got != (outcome{0, "site prod-eu: cluster 9a41-green is now the site's cluster\n0 of 4 workloads were created with their level; run \"gitlatch restore\"\n", ""}) {
		t.Errorf("adopt: %+v", got)
	}
	if got := w.tick(); got.status != 0 || strings.Contains(got.out, "other-cluster") {
		t.Errorf("after: %+v", got)
	}
}

func TestAdoptAsksAWorkloadBackIn(t *testing.T) {
	t.Parallel()
	w := settled(t)
	record := checkpoint.RecordPath("prod-eu", "shop")
	lines := slices.DeleteFunc(strings.SplitAfter(w.origin.Show(t, "main", record), "\n"), func(l string) bool {
		return strings.Contains(l, "deployment.web")
	})
	w.origin.Push(t, "main", map[string]string{record: strings.Join(lines, "")}, "web has its own ways")
	if got := w.tick(); got.status != 0 || !strings.Contains(got.out, "opted-out shop/deployment/web: a user deleted its entry") {
		t.Errorf("opted out: %+v", got)
	}
	if got := w.run("adopt", "shop/web"); got != (outcome{0, "shop/deployment/web: latched from the next tick on\n", ""}) {
		t.Errorf("adopt: %+v", got)
	}
	w.tick()
	if got := w.tick(); got.status != 0 || !strings.Contains(got.out, "shop/web new -> 100") {
		t.Errorf("back in: %+v", got)
	}
}

// An edit by a user starts an edit grace period, which is not a pause. Status shows its
// end.
func TestAnEditIsLeftAloneUntilItIsAdopted(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.replace(t, shopRecord, `deployment.web: "100"`, `deployment.web: "150"`)
	if got := w.tick(); got.status != 0 || !strings.Contains(unfolded(got.out), "level 150 accepted; edit grace period until 2026-03-03T08:15:00Z, or until gitlatch adopt shop/web") {
		t.Errorf("tick: %+v", got)
	}
	if got := w.run("status"); !strings.Contains(got.out, "edit grace  shop/deployment/web until 2026-03-03T08:15:00Z\n") || strings.Contains(got.out, "paused") {
		t.Errorf("status: %+v", got)
	}
	w.run("adopt", "shop/web")
	if got := w.run("status"); strings.Contains(got.out, "edit grace") {
		t.Errorf("adopted: %+v", got)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.api.workloads["shop/deployment/web"].desired, w.api.workloads["shop/deployment/web"].ready = 187, 187
	tip := w.origin.Tip("main")

	if got := w.run("pause", "--until", "30m"); got != (outcome{0, "site prod-eu: paused until 2026-03-02T08:45:00Z\n", ""}) {
		t.Errorf("site: %+v", got)
	}
	for range 3 {
		if got := w.tick(); got.status != 0 || !strings.Contains(got.out, "no level is changed (hold): a user paused the site until 2026-03-02T08:45:00Z") {
			t.Errorf("held: %+v", got)
		}
	}
	for _, past := range []string{"-1s", "-3h", "0s", "2026-03-02T07:00:00Z"} { // typing errors
		if got := w.run("pause", "--until", past); got.status != 2 || got.out != "" || !strings.Contains(got.err, "or now") {
			t.Errorf("until %s: %+v", past, got)
		}
	}
	if got := w.tick(); !strings.Contains(got.out, "a user paused the site until 2026-03-02T08:45:00Z") {
		t.Errorf("a typo ended it: %+v", got)
	}
	if got := w.run("pause", "--until", "now"); got != (outcome{0, "site prod-eu: no longer paused\n", ""}) {
		t.Errorf("end: %+v", got)
	}
	if got := w.run("pause", "shop/web", "shop/deployment/api", "--until", "2026-03-03T08:00:00Z"); got != (outcome{0,
		"shop/deployment/web: paused until 2026-03-03T08:00:00Z\nshop/deployment/api: paused until 2026-03-03T08:00:00Z\n", ""}) {
		t.Errorf("workloads: %+v", got)
	}
	w.tick()
	if got := w.tick(); got.status != 0 || !strings.Contains(got.out, "a user paused the workload until 2026-03-03T08:00:00Z") {
		t.Errorf("held: %+v", got)
	}
	if got := w.run("explain", "shop/web"); !strings.Contains(unfolded(got.out), "a user paused the workload until 2026-03-03T08:00:00Z. To end the pause now, run \"gitlatch pause shop/web --until now\".") {
		t.Errorf("explain: %+v", got)
	}
	if w.origin.Tip("main") != tip {
		t.Error("it committed")
	}
}

func TestASecondTickEndsQuietlyWhereTheFirstHoldsTheLease(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.lease(t, "another run", w.now.Add(time.Minute))
	before := w.state(t)
	want := "site prod-eu: lease is held by another run until 2026-03-02T08:16:00Z: nothing to do\n"
	if got := w.run("tick"); got != (outcome{0, want, ""}) {
		t.Errorf("%+v", got)
	}
	if got := w.run("pause", "--until", "3h"); got.status != 2 || !strings.Contains(got.err, "lease is held by another run until 2026-03-02T08:16:00Z") {
		t.Errorf("%+v", got)
	}
	if w.state(t) != before {
		t.Error("state changed")
	}
}

// If a tick takes longer than its period, a second tick on the same machine finds the
// state file open. That is not a failure, as with a taken lease. A command of a user
// reports that it did nothing.
func TestASecondTickEndsQuietlyWhereTheFirstHasTheStateOpen(t *testing.T) {
	t.Parallel()
	w := settled(t)
	before := w.state(t)
	file := w.path("state/latch.db")
	store, err := bolt.Open(file)
	must(t, err)
	want := "site prod-eu: state " + file + " is open in another gitlatch: nothing to do\n"
	if got := w.run("tick"); got != (outcome{0, want, ""}) {
		t.Errorf("%+v", got)
	}
	var d report.Document
	if got := w.run("tick", "-o", "json"); got.status != 0 || json.Unmarshal([]byte(got.out), &d) != nil || d.Site != "prod-eu" || !strings.Contains(d.Held, file) {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{"pause", "--until", "3h"}, {"explain", "shop/web"}, {"tick", "--dry-run"}} {
		w.fails(t, w.run(args...), file, "another gitlatch process has it open", "Wait until it ends")
	}
	must(t, store.Close())
	if w.state(t) != before {
		t.Error("state changed")
	}
}

// Without a configuration, the state file is in the cache folder. The first tick prints
// its path, and the help describes it. The report does not contain the path.
func TestTheFirstTickByDefaultsSaysWhereItsStateIs(t *testing.T) {
	w := newWorld(t)
	t.Setenv("XDG_CACHE_HOME", w.path("cache"))
	t.Setenv("HOME", w.path("home")) // on some systems the cache is below HOME
	args := []string{"tick", "--repository", w.origin.Dir, "--kubeconfig", w.path("kubeconfig")}
	cache, err := os.UserCacheDir()
	must(t, err)
	c, err := config.Default(w.origin.Dir)
	must(t, err)
	want := "site local stores its state in " + c.State.Bolt + ". To choose another file, use --config FILE\n"
	if got := w.run(append(args, "--dry-run")...); got.status != 0 || got.err != "" {
		t.Errorf("a dry run, which keeps nothing: %+v", got)
	}
	if got := w.run(args...); got.status != 0 || got.err != want || !strings.HasPrefix(got.err, "site local stores its state in "+cache) || strings.Contains(got.out, cache) {
		t.Errorf("first: %+v, want %q", got, want)
	}
	if got := w.run(args...); got.status != 0 || got.err != "" {
		t.Errorf("second: %+v", got)
	}
	if got := run(w.now, "tick", "--help"); !strings.Contains(got.out, `"local"`) || !strings.Contains(got.out, "cache folder") {
		t.Errorf("help: %+v", got)
	}
	if got := w.tick(); got.status != 0 || got.err != "" {
		t.Errorf("with a configuration: %+v", got)
	}
}

// A wrong command line does nothing, and the error shows a right one.
func TestMisspelt(t *testing.T) {
	t.Parallel()
	w := settled(t)
	before := w.hash(t)
	for _, c := range []struct {
		args string
		want []string
	}{
		{"frob", []string{`unknown command "frob"; see "gitlatch --help"`}},
		{"tic", []string{`unknown command "tic": did you mean "tick"? See "gitlatch --help"`}},
		{"tik --dry-run -c config.yaml", []string{`unknown command "tik": did you mean "tick"? See "gitlatch --help"`}},
		{"tick shop", []string{`gitlatch: tick requires no arguments, got shop. See "gitlatch tick --help"`}},
		{"tick --dry", []string{"unknown flag: --dry", "gitlatch tick --help"}},
		{"tick --output xml", []string{"must be one of table, json, yaml", `"xml"`}},
		{"tick --repository elsewhere --config file", []string{"specify only one of --repository and --config"}},
		{"explain", []string{"requires one workload, as shop/web"}},
		{"explain shop/web shop/api", []string{"requires one workload, as shop/web, got shop/web shop/api. See"}},
		{"explain shop/wep", []string{`"shop/wep"`, "shop/api, shop/batch, shop/cart, shop/web"}},
		{"explain web", []string{`namespace "web": the site has no workload in it; did you mean shop/web`}},
		{"explain shop", []string{"give one workload of namespace shop: shop/api, shop/batch"}},
		{"explain show/web", []string{`workload "show/web": the site has no workload with this name, or any other in namespace show; there are the namespaces kube-system, pay, shop`}},
		{"adopt shop/wep", []string{`"shop/wep"`, "shop/api, shop/cart, shop/web"}},
		{"pause", []string{"--until is required", "3h"}},
		{"pause --until tomorrow", []string{"must be a time", `"tomorrow"`}},
		{"pause --until 2026-03-02T08:00:00", []string{"must be a time", "2026-03-02T18:00:00Z"}},
		{"pause shop/wep --until 3h", []string{`"shop/wep"`, "shop/web"}},
		{"version x", []string{"requires no arguments"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			got := w.run(strings.Fields(c.args)...)
			if got.status != 2 || got.out != "" {
				t.Errorf("status %d, out %q", got.status, got.out)
			}
			for _, want := range c.want {
				if !strings.Contains(got.err, want) {
					t.Errorf("does not say %q: %s", want, got.err)
				}
			}
		})
	}
	if w.hash(t) != before {
		t.Error("something was written")
	}
	if got := run(w.now, "tick"); got.status != 2 || !strings.Contains(got.err, "Use --config FILE, set GITLATCH_CONFIG, or use --repository URL") {
		t.Errorf("no site: %+v", got)
	}
	if got := newWorld(t).run("adopt", "shop/web"); got.status != 2 || !strings.Contains(got.err, "or run \"gitlatch tick\"") {
		t.Errorf("no state: %+v", got)
	}
}
