//go:build cluster || aws

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

func (d *deployment) dryRun(t *testing.T) {
	d.scale(t, map[string]int32{"deployment/web": 45})
	if answer, r := d.invoke(t, "scheduler"); r.Error != nil || answer.Commit != nil {
		t.Fatalf("first: %+v, error %v", answer, r.Error)
	}
	tip := d.origin.Tip("main")
	for range 2 { // a dry run does not change the times of a latch
		answer, r := d.invoke(t, "on-demand")
		if r.Error != nil || !answer.DryRun || answer.Commit == nil || answer.Commit.ID != "" || answer.Commit.Crossings != 1 {
			t.Errorf("dry run: %+v, error %v", answer, r.Error)
		}
		if d.pushes() != 0 || d.origin.Tip("main") != tip {
			t.Errorf("it wrote: requests %+v", d.server.Requests())
		}
	}
	if answer, r := d.invoke(t, "scheduler"); r.Error != nil || answer.Commit == nil {
		t.Errorf("for real: %+v, error %v", answer, r.Error)
	}
	d.declared(t, `deployment.web: "50"`)
}

func (d *deployment) otherSite(t *testing.T) {
	_, r := d.send(t, d.function, `{"site": "prod-us"}`)
	if r.Error == nil || !strings.Contains(r.Error.Message, `site is "prod-us", and this function is configured for "prod-eu"`) {
		t.Errorf("error %v", r.Error)
	}
	if lines := logged(t, r); len(lines) != 1 || lines[0].Level != "ERROR" || lines[0].Answer.ErrorMessage != r.Error.Message {
		t.Errorf("logs %s", r.Logs)
	}
	if requests := d.server.Requests(); len(requests) != 0 {
		t.Errorf("requests %+v", requests)
	}
}

func (d *deployment) forbidden(t *testing.T) {
	d.scale(t, map[string]int32{"deployment/cart": 4, "deployment/api": 60})
	d.grant(t, "statefulsets, ")
	for range 3 {
		_, r := d.invoke(t, "scheduler")
		if r.Error == nil || !strings.HasPrefix(r.Error.Message, "not read: statefulsets: forbidden: ") {
			t.Errorf("error %v", r.Error)
		}
		if got := tick(t, r); len(got.Unread) != 1 {
			t.Errorf("tick %+v", got)
		}
	}
	// The raises that a partial read can prove are in git, and no level is lowered.
	d.declared(t, `deployment.api: "100"`, `deployment.cart: "20"`, `statefulset.db: "5"`)

	d.grant(t, "")
	for range 2 {
		if _, r := d.invoke(t, "scheduler"); r.Error != nil {
			t.Errorf("error %v", r.Error)
		}
	}
	d.declared(t, `deployment.api: "100"`, `deployment.cart: "5"`, `statefulset.db: "5"`)
}

func (d *deployment) down(t *testing.T) {
	defer d.server.Intercept(nil)
	for name, answer := range map[string]gitserver.Interceptor{
		"503": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "down for maintenance", http.StatusServiceUnavailable)
		},
		"EOF": func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
	} {
		d.server.Intercept(answer)
		_, r := d.invoke(t, "scheduler")
		if r.Error == nil || !strings.Contains(r.Error.Message, "reconcile with git: ") ||
			!strings.Contains(r.Error.Message, d.server.URL("site")) || !strings.Contains(r.Error.Message, name) {
			t.Errorf("%s: error %v", name, r.Error)
		}
		if got := tick(t, r); got.Level != "ERROR" || got.Error == "" {
			t.Errorf("%s: tick %+v", name, got)
		}
	}
	d.server.Intercept(nil)
	d.recovers(t)
}

func (d *deployment) revoked(t *testing.T) {
	defer d.server.RequireAuth("x-access-token", "git-secret")
	d.server.RequireAuth("x-access-token", "another")
	_, r := d.invoke(t, "scheduler")
	if r.Error == nil || !strings.Contains(r.Error.Message, d.server.URL("site")) || !strings.Contains(r.Error.Message, "credentials") {
		t.Errorf("error %v", r.Error)
	}
	d.server.RequireAuth("x-access-token", "git-secret")
	d.recovers(t)
}

// recovers sends an event after a failure. The same process must answer it normally.
func (d *deployment) recovers(t *testing.T) {
	t.Helper()
	if answer, r := d.invoke(t, "scheduler"); r.Error != nil || r.Init != 0 || answer.Commit != nil || len(answer.Workloads) != 0 {
		t.Errorf("afterwards: %+v, init %s, error %v", answer, r.Init, r.Error)
	}
}

func (d *deployment) anew(t *testing.T) {
	f := runtimeapi.Start(t, d.binary, d.env...)
	for i := range 2 {
		answer, r := d.send(t, f, "{}")
		if r.Error != nil || answer.Commit != nil || len(answer.Workloads) != 0 || len(answer.Notices) != map[int]int{0: 4}[i] || d.pushes() != 0 {
			t.Errorf("%+v, error %v", answer, r.Error)
		}
	}
}

func (d *deployment) cannotStart(t *testing.T) {
	f := runtimeapi.Start(t, d.binary, config.Variable+"="+fmt.Sprintf(document, "/nowhere/kubeconfig", "https://git.example.com/site.git")+"period: 5\n")
	r := f.Invoke(t.Context(), []byte("{}"))
	if r.Error == nil || r.Error.Type != "Runtime.ExitError" {
		t.Fatalf("error %v", r.Error)
	}
	var said line
	if err := json.Unmarshal([]byte(r.Logs), &said); err != nil || said.Level != "FATAL" || !strings.Contains(said.Error, "period: must") {
		t.Errorf("logs %q", r.Logs)
	}
}
