//go:build gitops

package tick_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flagger"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// flagged is a site whose workloads a real Flagger promotes: web, whose replicas only git
// sets, and api, which has an autoscaler.
type flagged struct {
	*realParts
	hooks string      // URL of the webhooks that Flagger calls
	bad   atomic.Bool // the webhook reports a failed analysis
	gate  atomic.Bool // the webhook allows the promotion
}

// canary makes Flagger promote a Deployment once two iterations of its analysis
// succeeded, and a user agrees.
func (f *flagged) canary(name, autoscaler string) string {
	return fmt.Sprintf(`apiVersion: flagger.app/v1beta1
kind: Canary
metadata: {name: %[1]s, namespace: shop}
spec:
  provider: kubernetes
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}%[2]s
  service: {port: 80}
  analysis:
    interval: 10s
    threshold: 1
    iterations: 2
    webhooks:
    - {name: health, type: rollout, url: %[3]s/health}
    - {name: person, type: confirm-promotion, url: %[3]s/gate}
`, name, autoscaler, f.hooks)
}

func (f *flagged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/health" && f.bad.Load() || r.URL.Path == "/gate" && !f.gate.Load() {
		w.WriteHeader(http.StatusForbidden)
	}
}

// phase runs ticks, one period apart by the site's clock, until Flagger reports both
// workloads in a phase and want accepts both. In between, git always has the initial
// replicas of each workload: never the sum of its two sets of pods, and never less
// because one set is at zero.
func (f *flagged) phase(t *testing.T, phase string, want func(workload.Sample) error) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		f.tick(t)
		f.once(t)
		for _, name := range []string{"web", "api"} {
			var canary struct{ Status struct{ Phase string } }
			if err := f.cp.Read(ctx, "/apis/flagger.app/v1beta1/namespaces/shop/canaries/"+name, &canary); err != nil {
				return err
			}
			if canary.Status.Phase != phase {
				return fmt.Errorf("%s is %s, want %s", name, canary.Status.Phase, phase)
			}
		}
		fleet, err := f.sampler.Sample(ctx, nil)
		if err != nil {
			return err
		}
		if len(fleet.Samples) != 2 || len(fleet.Unread) > 0 {
			return fmt.Errorf("samples %+v, unread %q", fleet.Samples, fleet.Unread)
		}
		for _, s := range fleet.Samples {
			if s.Scale == nil || s.Rollout == nil || s.Scale.Desired != 10 {
				return fmt.Errorf("%s: scale %+v, unknown %q", s.ID, s.Scale, s.Unknown)
			}
			if err := want(s); err != nil {
				return fmt.Errorf("%s: %w: %+v", s.ID, err, s.Rollout)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("until %s: %v", phase, err)
	}
}

// once checks that git has one entry for each workload, with its level.
func (f *flagged) once(t *testing.T) {
	t.Helper()
	got := map[workload.ID]int32{}
	for id, e := range f.tree(t).Entries() {
		got[id] = e.Replicas
	}
	same(t, "git", got, f.declares)
	if t.Failed() {
		t.FailNow()
	}
}

// nothing is the argument of recorded if git has no rollout entry.
const nothing = " "

// recorded ticks until git has the wanted rollout entry for both workloads.
func (f *flagged) recorded(t *testing.T, want string) {
	t.Helper()
	var got string
	for range 5 {
		f.tick(t)
		f.once(t)
		got = ""
		for _, id := range []workload.ID{id("shop/web"), id("shop/api")} {
			r := f.tree(t).Entries()[id].Rollout
			got += fmt.Sprintf("%s %s; ", r.Returns, r.Returned().Images)
		}
		if got == want+"; "+want+"; " {
			return
		}
	}
	t.Errorf("git says %s, want %s of each", got, want)
}

func TestFlaggersFleetIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	f := &flagged{realParts: &realParts{
		cp: controlplane.Start(t, controlplane.Options{}), server: gitserver.Start(t), calls: &calls{}, now: morning,
		declares: map[workload.ID]int32{},
	}}
	hooks := httptest.NewServer(f)
	t.Cleanup(hooks.Close)
	f.hooks = hooks.URL
	f.cp.Nodes(t, 1)
	f.cp.Metrics(t, func(string) string { return "7m" })
	for _, file := range []string{"clusterrole.yaml", "clusterrolebinding.yaml"} {
		f.cp.Apply(t, text(t, filepath.Join("../../infra/rbac", file)))
	}
	f.server.RequireAuth("x-access-token", "s3cret")
	f.origin = f.server.Create(t, "site", map[string]string{
		"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies: [{name: default, match: {}, undriven: true, series: 1-2-5, hold: {down: 1h}}]\n",
	})
	f.open(t)
	flagger.Start(t, f.cp)

	f.create(t, "app:1", 10)
	f.tick(t)
	f.declares[id("shop/web")], f.declares[id("shop/api")] = 10, 10
	f.tick(t)
	f.once(t)

	f.promotes(t)
	f.phase(t, "Initialized", atRest)
	f.pods(t, 10)

	f.cp.Kubectl(t, "", "set", "image", "-n", "shop", "deployment/web", "deployment/api", "main=app:2")
	f.phase(t, "WaitingPromotion", func(s workload.Sample) error {
		if !s.Rollout.InFlight || s.Rollout.Traffic == nil || *s.Rollout.Traffic != 0 || !s.Rollout.Templates[1].ImagesOnly || s.Rollout.Halted == "" {
			return fmt.Errorf("not in flight at no traffic")
		}
		return nil
	})
	f.recorded(t, "from main=app:1")
	f.gate.Store(true)
	f.phase(t, "Succeeded", atRest)
	f.recorded(t, nothing)
	f.pods(t, 10)

	f.bad.Store(true)
	f.cp.Kubectl(t, "", "set", "image", "-n", "shop", "deployment/web", "deployment/api", "main=app:3")
	f.phase(t, "Failed", func(s workload.Sample) error {
		if !s.Rollout.InFlight || s.Rollout.Mixed() || s.Rollout.Failure == "" {
			return fmt.Errorf("not failed")
		}
		return nil
	})
	f.recorded(t, "from main=app:2")
	f.pods(t, 10)

	// The cluster is lost, and comes back with the replicas in git.
	f.bad.Store(false)
	f.cp.Kubectl(t, "", "delete", "namespace", "shop", "--timeout=280s")
	f.create(t, "app:2", f.tree(t).Entries()[id("shop/web")].Replicas)
	f.promotes(t)
	f.phase(t, "Initialized", atRest)
	f.pods(t, 10)
}

// create creates both workloads from git, and waits for their pods.
func (f *flagged) create(t *testing.T, image string, replicas int32) {
	t.Helper()
	manifests := []string{"{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"}
	for _, name := range []string{"web", "api"} {
		manifests = append(manifests, strings.Replace(rolling(id("shop/"+name), image, "revisionHistoryLimit: 3"), "replicas: 10", fmt.Sprintf("replicas: %d", replicas), 1))
	}
	f.cp.Apply(t, append(manifests, controlplane.Autoscaler("Deployment", "shop", "api"))...)
	for _, name := range []string{"web", "api"} {
		f.until(t, id("shop/"+name), func(s workload.Sample) bool { return s.Scale.Ready == replicas })
	}
}

// promotes lets Flagger promote both workloads.
func (f *flagged) promotes(t *testing.T) {
	t.Helper()
	f.cp.Apply(t, f.canary("web", ""), f.canary("api", "\n  autoscalerRef: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: api}"))
}

func atRest(s workload.Sample) error {
	if s.Rollout.InFlight || s.Scale.Ready != 10 {
		return fmt.Errorf("not at rest, with %d ready", s.Scale.Ready)
	}
	return nil
}

// pods waits until each workload has that number of pods, including its primary's.
func (f *flagged) pods(t *testing.T, want int) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		for _, name := range []string{"web", "api"} {
			var pods struct{ Items []struct{} }
			if err := f.cp.Read(ctx, "/api/v1/namespaces/shop/pods?labelSelector=app+in+("+name+","+name+"-primary)", &pods); err != nil {
				return err
			}
			if len(pods.Items) != want {
				return fmt.Errorf("%s has %d pods, want %d", name, len(pods.Items), want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
