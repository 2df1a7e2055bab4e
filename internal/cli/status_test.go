package cli_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/applied"
)

func TestStatusSaysHowASiteStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.run("status"); got.status != 1 || !strings.Contains(got.out, "none yet") || strings.Contains(got.out, "healthy") {
		t.Errorf("before the first tick: %+v", got)
	}
	for range 3 {
		w.tick()
	}
	w.now = w.now.Add(-5 * time.Minute)
	before := w.hash(t)
	got := w.run("status")
	golden(t, "status.txt", got.out)
	if got.status != 0 || got.err != "" || w.hash(t) != before {
		t.Errorf("%+v", got)
	}

	// Status finds the problems that a user should check.
	w.run("pause", "shop/web", "--until", "3h")
	w.run("pause", "--until", "30m")
	w.now = w.now.Add(20 * time.Minute)
	got = w.run("status", "-o", "json")
	var d struct {
		Build struct{ Version string }
		Sites []struct {
			Site, Mode, Cluster        string
			LastTick, PausedUntil      time.Time
			Late                       bool
			Workloads                  int
			CommitsLeft, CommitsPerDay int
			Paused                     []struct{ Workload string }
			Alerts                     []any
		}
	}
	must(t, json.Unmarshal([]byte(got.out), &d))
	if len(d.Sites) != 1 || d.Build.Version != "v1.2.3" {
		t.Fatalf("%+v", got)
	}
	s := d.Sites[0]
	if s.Site != "prod-eu" || s.Mode != "latch" || s.Cluster != "1f0c-blue" || !s.Late || s.PausedUntil.IsZero() || len(s.Paused) != 1 || s.Paused[0].Workload != "shop/deployment/web" ||
		s.CommitsLeft != 5 || s.CommitsPerDay != 24 || s.Workloads == 0 || s.Alerts == nil {
		t.Errorf("%+v", s)
	}
	if got.status != 1 || got.err != "" {
		t.Errorf("late: status %d, %s", got.status, got.err)
	}
	if got := w.run("status"); !strings.Contains(got.out, "last tick  20m ago\n") || !strings.Contains(got.out, "\nno tick ran since 2026-03-02T08:10:00Z\n") {
		t.Errorf("late: %s", got.out)
	}
}

// Status prints the steps of a recovery while one runs, and an unknown recovery if it
// cannot read the cluster.
func TestStatusShowsTheStepsOfARecovery(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.now = w.now.Add(-5 * time.Minute)
	w.api.uid = "9a41-green"
	for name, level := range map[string]int32{"pay/statefulset/ledger": 5, "shop/deployment/api": 50, "shop/deployment/cart": 20, "shop/deployment/web": 100} {
		w.api.workloads[name].desired, w.api.workloads[name].ready = level, level
	}
	w.api.workloads["shop/deployment/web"].ready = 12
	got := w.run("status")
	golden(t, "status-recovery.txt", got.out)
	if got.status != 1 || !strings.HasSuffix(got.out, "\na recovery is in progress\n") {
		t.Errorf("%+v", got)
	}
	var d struct {
		Sites []struct {
			Recovery struct {
				Next, Unknown string
				Steps         []struct {
					Name, State string
					Done, Of    int
				}
			}
		}
	}
	got = w.run("status", "-o", "json")
	must(t, json.Unmarshal([]byte(got.out), &d))
	r := d.Sites[0].Recovery
	if len(r.Steps) != 5 || r.Steps[0].Name != "capacity" || r.Steps[0].State != "pending" || r.Steps[0].Done != 3 || r.Steps[0].Of != 4 || r.Next == "" {
		t.Errorf("%s", got.out)
	}

	if got := w.run("adopt"); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	if got := w.run("status"); got.status != 0 || strings.Contains(got.out, "recovery") || !strings.Contains(got.out, "healthy") {
		t.Errorf("adopted: %+v", got)
	}
	w.api.workloads["shop/deployment/web"].foreign = `{"until": "2026-03-02T12:00:00Z", "replaced": null}`
	if got := w.run("status"); got.status != 1 || !strings.Contains(got.out, "released (pending): brakes in the cluster: 1. The first brake ends at\n           2026-03-02T12:00:00Z") {
		t.Errorf("a brake: %+v", got)
	}
	w.api.Close()
	if got := w.run("status"); got.status != 1 || !strings.Contains(got.out, "recovery   unknown: reach the API server") || !strings.HasSuffix(got.out, "\nthe recovery is unknown\n") {
		t.Errorf("the cluster does not answer: %+v", got)
	}
}

// An open alert is a finding. A state that cannot be read is an error.
func TestStatusFindsWhatIsNotWell(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.api.refuse["statefulsets"] = 403
	for range 2 {
		w.tick()
	}
	if got := w.run("status"); got.status != 1 || !strings.Contains(got.out, "unread statefulsets, 10m ago: ") || !strings.Contains(got.out, "\n           Fix: if the API server forbids it, run \"kubectl apply -k infra/rbac\"") || !strings.Contains(got.out, "\n1 alert open\n") {
		t.Errorf("%+v", got)
	}
	text, err := os.ReadFile(w.path("config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "config.yaml", strings.Replace(string(text), "cluster: {", "cluster: {context: blue, ", 1))
	if got := w.run("status"); !strings.Contains(got.out, "cluster    blue 1f0c-blue\n") {
		t.Errorf("the cluster has no name: %+v", got)
	}
	w.write(t, "state/latch.db", strings.Repeat("not a database\n", 1000))
	if got := w.run("status"); got.status != 2 || !strings.Contains(got.err, "state cannot be read") {
		t.Errorf("%+v", got)
	}
}

// The sites of a fleet are read from its list, each with its own state.
func TestStatusOfAFleet(t *testing.T) {
	t.Parallel()
	w := settled(t)
	list := "apiVersion: gitlatch.dev/v1alpha1\nkind: Fleet\nsites:\n"
	for _, site := range []string{"prod-eu", "prod-us"} {
		list += "- {site: " + site + ", eks: \"arn:aws:eks:eu-central-1:123456789012:cluster/" + site + "\"}\n"
	}
	w.origin.Push(t, "main", map[string]string{"fleet.yaml": list}, "fleet")
	w.write(t, "fleet.yaml", "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: all\nfleet: fleet.yaml\nstate: {bolt: "+w.path("state/latch.db")+"}\nrepository: {url: "+w.origin.Dir+"}\n")
	got := run(w.now, "status", "-c", w.path("fleet.yaml"))
	if got.status != 1 || got.err != "" || !strings.Contains(got.out, "prod-eu  latch  5m ago") || !regexp.MustCompile(`prod-us +never .* no tick has saved a state\n`).MatchString(got.out) || !strings.Contains(got.out, "fleet all: 2 sites; gitlatch v1.2.3") {
		t.Errorf("%+v", got)
	}
	if got = run(w.now, "status", "-c", w.path("fleet.yaml"), "--site", "prod-eu"); !strings.HasSuffix(got.out, "\nthe recovery is unknown\n") || strings.Contains(got.out, "prod-us") || !strings.Contains(got.out, "prod-eu, mode latch") {
		t.Errorf("one of them: %+v", got)
	}
	if got = run(w.now, "log", "shop/web", "-c", w.path("fleet.yaml"), "--site", "prod-eu"); got.status != 0 || !strings.Contains(got.out, "new -> ") {
		t.Errorf("the log of one of them: %+v", got)
	}
	if got = run(w.now, "status", "-c", w.path("fleet.yaml"), "--site", "prod-ap"); got.status != 2 || !strings.Contains(got.err, "--site: fleet.yaml has no site prod-ap") {
		t.Errorf("none of them: %+v", got)
	}
}

func TestVersionSaysWhatItWasBuiltFrom(t *testing.T) {
	t.Parallel()
	if got := run(time.Time{}, "version"); got != (outcome{0, "gitlatch v1.2.3\n", ""}) {
		t.Errorf("%+v", got)
	}
	if got := settled(t).run("tick", "-o", "json"); !strings.Contains(got.out, `"build": "v1.2.3"`) {
		t.Errorf("a report does not say it: %+v", got)
	}
}

// A tick without a commit names what stops it, as status does.
func TestATickWithoutACommitNamesTheReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		spoil  func(*testing.T, *world)
		end    string
		status string // of status; "" is a site without a finding
	}{
		{"the budget", func(t *testing.T, w *world) {
			w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latching + "commitsPerDay: 1\n"}, "save commits")
			w.api.workloads["shop/deployment/web"].desired, w.api.workloads["shop/deployment/web"].ready = 170, 170
			w.tick()
			w.tick()
			w.api.workloads["shop/deployment/cart"].desired, w.api.workloads["shop/deployment/cart"].ready = 21, 21
		}, "no commit: 1 level change is blocked (the budget of commits is used up)\n", "a level change has been waiting since"},
		{"a mass drop", func(_ *testing.T, w *world) {
			for _, p := range w.api.workloads {
				p.desired, p.ready = max(1, p.desired/9), max(1, p.ready/9)
			}
		}, "no commit: gitlatch lowers no level during a mass drop\n", "1 alert open\n"},
		{"Deployments", func(_ *testing.T, w *world) { w.api.refuse["deployments"] = 403 },
			"no commit: deployments could not be listed\n", "1 alert open"},
		{"nothing", func(*testing.T, *world) {}, "no commit: no level change is due\n", ""},
		{"a pause", func(_ *testing.T, w *world) { w.run("pause", "--until", "3h") }, "no commit: the site is paused\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := settled(t)
			c.spoil(t, w)
			w.tick()
			got := w.tick()
			if !strings.HasSuffix(got.out, "\n"+c.end) {
				t.Errorf("it ends otherwise than with %q:\n%s", c.end, got.out)
			}
			if got := w.run("status"); !strings.Contains(got.out, "\n"+c.status) || (got.status == 0) != (c.status == "") {
				t.Errorf("status does not print %q: %+v", c.status, got)
			}
		})
	}
}

// A site that observes latches nothing. A pause and an edit grace period are two things.
func TestStatusNamesWhatIsPausedAndWhatAUserEdited(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.replace(t, shop, `deployment.cart: "20"`, `deployment.cart: "30"`)
	w.tick()
	w.run("pause", "shop/web", "--until", "3h")
	w.run("pause", "--until", "30m")
	got := w.run("status")
	for _, line := range []string{
		"workloads   4 latched, ",
		"paused      the site until 2026-03-02T08:50:00Z\npaused      shop/deployment/web until 2026-03-02T11:20:00Z\n",
		"edit grace  shop/deployment/cart until 2026-03-03T08:15:00Z\n",
	} {
		if !strings.Contains(got.out, line) {
			t.Errorf("no %q in\n%s", line, got.out)
		}
	}
	w.run("pause", "--until", "now")
	w.run("pause", "shop/web", "shop/cart", "--until", "now")
	if got := w.run("status"); strings.Contains(got.out, "paused") || !strings.Contains(got.out, "edit grace  shop/deployment/cart until") {
		t.Errorf("a pause that ended is listed, or ended the edit grace period:\n%s", got.out)
	}
	w.replace(t, "gitlatch.yaml", "mode: latch", "mode: observe")
	w.tick()
	if got := w.run("status"); !strings.Contains(got.out, "workloads   4 observed, ") || strings.Contains(got.out, "latched") {
		t.Errorf("it latches although it observes:\n%s", got.out)
	}
}

// A command on a state in memory would report an empty site as healthy, or pause nothing.
func TestAStateInMemoryHasNoStatusAndNoPause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, err := os.ReadFile(w.path("config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "config.yaml", regexp.MustCompile(`(?m)^state: .*$`).ReplaceAllString(string(config), "state: {memory: {}}"))
	for _, args := range [][]string{{"status"}, {"pause", "--until", "3h"}} {
		if got := w.run(args...); got.status != 2 || !strings.Contains(got.err, "state.memory") || !strings.Contains(got.err, "gitlatch init --aws") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// Status shows whether the cluster has the levels in git, as the last check of a tick found.
func TestStatusShowsTheLevelsInTheCluster(t *testing.T) {
	t.Parallel()
	lost := map[string]bool{"shop/deployment/web": true, "pay": true}
	for _, test := range []struct {
		name    string
		change  func(*applied.Cluster)
		state   string
		out     string
		problem string // "" if the site is healthy
	}{
		{"applied", func(*applied.Cluster) {}, "applied", "levels no differences between git and the cluster, checked 5m ago gitlatch", ""},
		{"differs", func(c *applied.Cluster) { c.Lost = lost }, "differs", "levels 2 differences between git and the cluster, checked 5m ago: binding gitlatch-levels.pay (absent in the cluster), level shop/deployment/web (100 in git, absent in the cluster) gitlatch", ""},
		{"forbidden", func(c *applied.Cluster) { c.Forbidden = map[string]bool{"configmaps": true} }, "unknown", "levels unknown: configmaps could not be read: forbidden: no. Grant get and list on configmaps in namespace gitlatch-levels: run \"kubectl apply --server-side -f checkpoints/admission\" gitlatch", "the levels in the cluster are unknown"},
		{"another site", func(c *applied.Cluster) { c.Site = "stage" }, "differs", "levels the cluster has the levels of site stage, checked 5m ago alert", "1 alert open"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := settled(t)
			w.api.applied = func() applied.Cluster {
				c := w.applied(t)
				test.change(&c)
				return c
			}
			w.now = w.now.Add(time.Hour)
			w.tick()
			got := w.run("status")
			if !strings.Contains(onOneLine(got.out), test.out) || (got.status == 0) != (test.problem == "") || !strings.Contains(got.out, test.problem) {
				t.Errorf("%+v", got)
			}
			got = w.run("status", "-o", "json")
			if !strings.Contains(got.out, `"state": "`+test.state+`"`) {
				t.Errorf("%s", got.out)
			}
		})
	}
	w := newWorld(t)
	w.api.minor = "35"
	w.tick()
	if got := w.run("status"); got.status != 0 || !strings.Contains(onOneLine(got.out), "levels not applied below Kubernetes 1.36. After a rebuild, run \"gitlatch restore --wait\" gitlatch") {
		t.Errorf("1.35: %+v", got)
	}
}

func onOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
