//go:build cluster || aws

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

// TestBootstrap runs the built bootstrap like Lambda, with the rights of the shipped
// ClusterRole in a real cluster, and with a token for a real git server. The subtests
// depend on each other and run in order.
func TestBootstrap(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	t.Run("two scheduled events latch the fleet", d.latches)
	t.Run("a dry run writes nothing", d.dryRun)
	t.Run("an event for another site is refused", d.otherSite)
	t.Run("a kind that is forbidden lowers nothing", d.forbidden)
	t.Run("a repository that is down", d.down)
	t.Run("a token that is taken back", d.revoked)
	t.Run("a new environment reads levels back", d.anew)
	t.Run("a start that fails", d.cannotStart)
}

// deployment is a function with its cluster and its repository.
type deployment struct {
	cp       *controlplane.ControlPlane
	server   *gitserver.Server
	origin   *gitserver.Origin
	sampler  *kube.Sampler // with the rights of the function
	binary   string
	env      []string
	function *runtimeapi.Function
}

const role = "../../infra/rbac/clusterrole.yaml"

func deploy(t *testing.T) *deployment {
	d := &deployment{cp: controlplane.Start(t, controlplane.Options{}), server: gitserver.Start(t)}
	d.cp.Nodes(t, 1)
	d.cp.Metrics(t, func(string) string { return "7m" })
	d.cp.Apply(t, read(t, role), read(t, "../../infra/rbac/clusterrolebinding.yaml"))
	d.cp.Kubectl(t, "", "create", "namespace", "shop")
	var manifests []string
	for _, name := range []string{"web", "cart", "api"} {
		manifests = append(manifests, controlplane.Workload("Deployment", "shop", name), controlplane.Autoscaler("Deployment", "shop", name))
	}
	d.cp.Apply(t, append(manifests, controlplane.Workload("StatefulSet", "shop", "db"), controlplane.Autoscaler("StatefulSet", "shop", "db"))...)
	d.cp.Kubectl(t, "", "wait", "-n", "shop", "--for=jsonpath={.spec.replicas}=2", "deployments,statefulsets", "--all", "--timeout=2m")

	var err error
	d.sampler, err = kube.New(d.cp.As("gitlatch", "gitlatch:samplers"), kube.Options{Site: "prod-eu", Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	d.server.RequireAuth("x-access-token", "git-secret")
	d.origin = d.server.Create(t, "site", map[string]string{
		// Here gitlatch lowers a level at the same speed as it raises one, because the
		// test uses the real clock.
		"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\ndefault: {series: 1-2-5, hold: {down: 0s}}\n",
	})
	d.binary = runtimeapi.Build(t, ".")
	kubeconfig := d.cp.KubeconfigAs(t, "gitlatch", "gitlatch:samplers")
	d.env = []string{config.Variable + "=" + fmt.Sprintf(document, kubeconfig, d.server.URL("site")), "GIT_TOKEN=git-secret"}
	d.function = runtimeapi.Start(t, d.binary, d.env...)
	return d
}

// scale sets replicas through the scale subresource, and waits until the function would
// see no rollout in flight.
func (d *deployment) scale(t *testing.T, counts map[string]int32) {
	t.Helper()
	for name, count := range counts {
		d.cp.Kubectl(t, "", "scale", "-n", "shop", name, fmt.Sprintf("--replicas=%d", count))
	}
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		fleet, err := d.sampler.Sample(ctx, nil)
		if err != nil {
			return err
		}
		seen := 0
		for _, s := range fleet.Samples {
			if n, ok := counts[string(s.ID.Kind)+"/"+s.ID.Name]; ok && s.Scale != nil && s.Scale.Desired == n && s.Scale.Ready == n &&
				s.Scale.Blind == "" && !s.Rollout.InFlight {
				seen++
			}
		}
		if seen < len(counts) {
			return fmt.Errorf("%d of %d workloads are at rest", seen, len(counts))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// grant grants the shipped role to the function, without the text in without, and waits
// until the API server applies it.
func (d *deployment) grant(t *testing.T, without string) {
	t.Helper()
	d.cp.Apply(t, strings.Replace(read(t, role), without, "", 1))
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		fleet, err := d.sampler.Sample(ctx, nil)
		if err == nil && (len(fleet.Unread) > 0) != (without != "") {
			err = fmt.Errorf("unread: %q", fleet.Unread)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// invoke sends an event from testdata/events to the function.
func (d *deployment) invoke(t *testing.T, event string) (report.Document, runtimeapi.Result) {
	t.Helper()
	return d.send(t, d.function, eventOf(t, event))
}

// eventOf returns an event from testdata/events that is due now.
func eventOf(t *testing.T, event string) string {
	t.Helper()
	return strings.Replace(read(t, "../../testdata/events/"+event+".json"), scheduledTime, time.Now().UTC().Format(time.RFC3339Nano), 1)
}

// send sends an event, and returns the answer and the log. The log has JSON lines: one
// for the tick and one for each level change.
func (d *deployment) send(t *testing.T, f *runtimeapi.Function, event string) (answer report.Document, r runtimeapi.Result) {
	t.Helper()
	d.server.Reset()
	r = f.Invoke(t.Context(), []byte(event))
	if strings.Contains(r.Logs+fmt.Sprint(r.Error), "git-secret") {
		t.Errorf("a secret in %q, error %v", r.Logs, r.Error)
	}
	if r.Error == nil {
		if err := json.Unmarshal(r.Payload, &answer); err != nil {
			t.Fatalf("payload %s: %v", r.Payload, err)
		}
	}
	return answer, r
}

type line struct {
	Timestamp time.Time
	Level     string
	Message   string
	Site      string
	Workload  string
	Why       string
	Commit    string
	To        int32
	Crossings int
	Unread    []string
	Error     string
	Answer    struct{ ErrorMessage string } // in a line about a failure
}

// logged returns the log lines of one event, except the line of metrics, which is not
// for users.
func logged(t *testing.T, r runtimeapi.Result) (lines []line) {
	t.Helper()
	for text := range strings.Lines(r.Logs) {
		if strings.Contains(text, `"_aws":`) {
			continue
		}
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		if time.Since(l.Timestamp).Abs() > time.Hour || !slices.Contains([]string{"INFO", "WARN", "ERROR"}, l.Level) {
			t.Errorf("line %q has timestamp %s and level %q", text, l.Timestamp, l.Level)
		}
		lines = append(lines, l)
	}
	return lines
}

// only returns the lines with a message.
func only(lines []line, message string) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.Message != message })
}

// tick returns the one line of the tick of an event.
func tick(t *testing.T, r runtimeapi.Result) line {
	t.Helper()
	ticks := only(logged(t, r), "tick")
	if len(ticks) != 1 {
		t.Fatalf("%d lines of ticks in\n%s", len(ticks), r.Logs)
	}
	return ticks[0]
}

// pushes returns the number of requests of the last event that could write to git.
func (d *deployment) pushes() (n int) {
	for _, r := range d.server.Requests() {
		if r.Service() == "git-receive-pack" || strings.Contains(r.Query, "git-receive-pack") {
			n++
		}
	}
	return n
}

// declared fails the test unless the checkpoint file on the branch has these lines,
// among others.
func (d *deployment) declared(t *testing.T, want ...string) {
	t.Helper()
	record := d.origin.Show(t, "main", "checkpoints/prod-eu/shop.levels.yaml")
	for _, fact := range want {
		if !strings.Contains(record, "  "+fact+"\n") {
			t.Errorf("the record does not say %s:\n%s", fact, record)
		}
	}
}

func (d *deployment) latches(t *testing.T) {
	d.scale(t, map[string]int32{"deployment/web": 12, "deployment/cart": 18, "deployment/api": 7, "statefulset/db": 3})
	first, r := d.invoke(t, "scheduler")
	if r.Error != nil || first.Commit != nil || len(first.Workloads) != 4 || r.Init == 0 {
		t.Fatalf("first: %+v, error %v", first, r.Error)
	}
	if got := tick(t, r); got.Site != "prod-eu" || got.Level != "INFO" || got.Crossings != 0 {
		t.Errorf("first tick: %+v", got)
	}
	cold := r.Init

	second, r := d.invoke(t, "scheduler")
	if r.Error != nil || second.Commit == nil || second.Commit.ID != d.origin.Tip("main") || second.Commit.Crossings != 4 || r.Init != 0 {
		t.Fatalf("second: %+v, error %v", second, r.Error)
	}
	d.declared(t, `deployment.web: "20"`, `deployment.cart: "20"`, `deployment.api: "10"`, `statefulset.db: "5"`)
	crossings := only(logged(t, r), "crossing")
	if got := tick(t, r); len(crossings) != 4 || got.Crossings != 4 || got.Commit != second.Commit.ID {
		t.Errorf("%d lines of crossings, tick %+v", len(crossings), got)
	}
	for _, c := range crossings {
		if c.Site != "prod-eu" || c.Workload == "" || c.To == 0 || c.Why == "" || c.Commit != second.Commit.ID {
			t.Errorf("crossing %+v", c)
		}
	}

	third, r := d.invoke(t, "scheduler")
	if r.Error != nil || third.Commit != nil || len(third.Workloads) != 0 || d.pushes() != 0 || len(logged(t, r)) != 1 {
		t.Errorf("quiet: %+v, error %v, logs\n%s", third, r.Error, r.Logs)
	}
	if peak, ok := d.function.PeakRSS(); ok {
		t.Logf("cold start %s, peak memory %.1f MiB", cold.Round(time.Millisecond), float64(peak)/(1<<20))
	}
}
