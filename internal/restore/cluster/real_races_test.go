//go:build cluster || keda

package cluster_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/cluster"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/testenv/audit"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func (r *realCluster) twice(t *testing.T) {
	n := r.writes(t)
	report, err := r.restore().Run(t.Context(), tree())
	if err != nil || report.Err() != nil || len(report.Plan.Waves) != 0 || len(report.Plan.Braked) != 5 || report.Holding != 4 {
		t.Errorf("%+v %v", report, err)
	}
	if now := r.writes(t); now != n {
		t.Errorf("%d writes", now-n)
	}
}

func (r *realCluster) races(t *testing.T) {
	var raising sync.WaitGroup
	for to := int32(level + 20); to > 0; to -= 3 {
		raising.Go(func() {
			if _, err := r.raise(t.Context(), id("deployment/first"), to); err != nil { // a client that loses a race reads again
				t.Errorf("could not raise to %d: %v", to, err)
			}
		})
	}
	raising.Wait()
	if live, err := r.client.Look(t.Context()); err != nil || live[id("deployment/first")].Replicas != level+20 {
		t.Errorf("first asks for %d, %v", live[id("deployment/first")].Replicas, err)
	}
}

// rollout tests a kind that the cluster has only now; the earlier tests did not have
// that kind. The Rollouts have no controller, which would only set their status.
func (r *realCluster) rollout(t *testing.T) {
	r.cp.Define(t, controlplane.Definition{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout",
		Subresources: "{status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.HPAReplicas, labelSelectorPath: .status.selector}}"})
	r.cp.Apply(t, "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: steps, namespace: shop}\nspec: {replicas: 2}\n",
		"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: unstated, namespace: shop}\nspec: {}\n")
	r.cp.Kubectl(t, "", "patch", "-n", "shop", "rollout.argoproj.io", "steps", "--subresource=status", "--type=merge", "-p", fmt.Sprintf(`{"status": {"readyReplicas": %d}}`, level))
	one, declared := r.restore(), tree()
	entries := declared.Records["shop"].Entries
	for _, text := range []string{"rollout/steps", "rollout/unstated", "rollout/gone"} {
		entries[id(text)] = checkpoint.Entry{Replicas: level}
		one.Options.Workloads = append(one.Options.Workloads, id(text))
	}
	report, err := one.Run(t.Context(), declared)
	if err != nil || report.Err() != nil {
		t.Fatalf("%v, %v: %+v", err, report.Err(), report)
	}
	if got := r.cp.Kubectl(t, "", "get", "-n", "shop", "rollout.argoproj.io", "steps", "-o", "jsonpath={.spec.replicas}"); got != fmt.Sprint(level) {
		t.Errorf("it asks for %s", got)
	}
	if left := report.Plan.Left; len(left) != 2 || left[0].ID != id("rollout/gone") || left[0].Reason != plan.Absent || left[1].ID != id("rollout/unstated") || left[1].Reason != plan.Unknown {
		t.Errorf("left %+v", left)
	}
}

func (r *realCluster) expires(t *testing.T) {
	one := r.restore()
	early, err := one.Release(t.Context(), true)
	if err != nil || len(early.Released) != 0 || early.Holding != 4 {
		t.Errorf("early: %+v %v", early, err)
	}
	one.Clock = func() time.Time { return time.Now().Add(restore.Hold + time.Minute) }
	report, err := one.Release(t.Context(), true)
	if err != nil || len(report.Released) != 4 {
		t.Fatalf("%+v %v", report, err)
	}
	if now := r.autoscalers(t); !reflect.DeepEqual(now, r.before) {
		t.Errorf("came back as %v\nwas          %v", now, r.before)
	}
	r.until(t, idle) // the brake was the cause
}

func (r *realCluster) lost(t *testing.T) {
	one := r.restore()
	one.Options.Workloads = []workload.ID{id("deployment/web")}
	wait := one.Wait
	heal := sync.OnceFunc(func() {
		r.cp.Kubectl(t, `{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web", "namespace": "shop"},
			"spec": {"behavior": {"scaleDown": {"selectPolicy": "Max"}}}}`,
			"apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller", "-f", "-")
	})
	one.Wait = func(ctx context.Context, d time.Duration) {
		heal()
		wait(ctx, d)
	}
	report, err := one.Run(t.Context(), tree())
	const want = "horizontalpodautoscaler shop/web: argocd-controller removed the brake"
	if err != nil || len(report.Problems) != 1 || !strings.Contains(report.Problems[0].Error(), want) {
		t.Errorf("%v, %v", err, report.Problems)
	}
	if report, err := r.restore().Release(t.Context(), false); err != nil || len(report.Released) != 1 || report.Released[0].Outcome != brake.Changed {
		t.Errorf("%+v, %v", report, err)
	}
	r.until(t, idle)
}

func (r *realCluster) person(t *testing.T) {
	if report, err := r.restore().Run(t.Context(), tree()); err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	r.cp.Kubectl(t, "", "patch", "-n", "shop", "hpa", "web", "--type=merge", "-p", `{"spec": {"behavior": {"scaleDown": {"selectPolicy": "Min"}}}}`)
	r.cp.Kubectl(t, "", "patch", "-n", "shop", "hpa", "bare", "--type=merge", "-p", `{"spec": {"behavior": {"scaleUp": {"stabilizationWindowSeconds": 9}}}}`)
	report, err := r.restore().Release(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]brake.Outcome{}
	for _, b := range report.Released {
		outcomes[b.Scaler.Name] = b.Outcome
	}
	if outcomes["web"] != brake.Changed || outcomes["bare"] != brake.Released || outcomes["db"] != brake.Released {
		t.Errorf("outcomes %v", outcomes)
	}
	now := r.autoscalers(t)
	for name, want := range map[string]string{"web": "selectPolicy:Min", "bare": "stabilizationWindowSeconds:9"} {
		if got := fmt.Sprint(now["HorizontalPodAutoscaler "+name]); !strings.Contains(got, want) || strings.Contains(got, "Disabled") || strings.Contains(got, "gitlatch.dev") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if live, err := r.client.Look(t.Context()); err != nil || !slices.ContainsFunc(live[id("deployment/web")].Scalers, func(s plan.Scaler) bool { return s.Owner == "kubectl-patch" }) {
		t.Errorf("who states its policy is not seen: %+v %v", live[id("deployment/web")].Scalers, err)
	}
}

// meddling is a user's action after an autoscaler has its brake, and before its
// workload is raised.
type meddling struct {
	*cluster.Client
	act func()
}

func (m meddling) Brake(ctx context.Context, s plan.Scaler, now time.Time, span time.Duration) (brake.Outcome, error) {
	defer m.act()
	return m.Client.Brake(ctx, s, now, span)
}

func (r *realCluster) since(t *testing.T) {
	for _, c := range []struct {
		name, act string
		reason    plan.Reason
		at        int32
	}{
		{"out", "annotate deployment/out gitlatch.dev/latch=false", plan.OptedOut, idle},
		{"nap", "scale deployment/nap --replicas=0", plan.Suspended, 0},
		{"cap", `patch hpa/cap --type=merge -p {"spec":{"maxReplicas":7}}`, plan.AtMax, 7},
		{"end", "delete deployment/end", plan.Absent, 0},
	} {
		r.cp.Apply(t, controlplane.Workload("Deployment", "shop", c.name), controlplane.Autoscaler("Deployment", "shop", c.name))
		r.cp.Kubectl(t, "", "wait", "-n", "shop", "--for=jsonpath={.spec.replicas}="+fmt.Sprint(idle), "deployment/"+c.name, "--timeout=280s")
		late := id("deployment/" + c.name)
		declared := tree()
		declared.Records["shop"].Entries[late] = checkpoint.Entry{Replicas: level}
		one := r.restore()
		one.Options.Workloads = []workload.ID{late}
		one.Cluster = meddling{r.client, func() { r.cp.Kubectl(t, "", append([]string{"-n", "shop"}, strings.Fields(c.act)...)...) }}
		report, err := one.Run(t.Context(), declared)
		if err != nil || report.Err() != nil || len(report.Since) != 1 || report.Since[0].Reason != c.reason {
			t.Errorf("%s: %v, %v: %+v", c.act, err, report.Err(), report)
		}
		if live, err := r.client.Look(t.Context()); err != nil || live[late].Replicas != c.at {
			t.Errorf("%s: it asks for %d, %v", c.act, live[late].Replicas, err)
		}
	}
}

func (r *realCluster) rights(t *testing.T) {
	if got, want := r.log.Seen(t), audit.Granted(t, rbac+"clusterrole.yaml"); !slices.Equal(got, want) {
		t.Errorf("asked for\n%s\nand granted is\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	stranger, err := cluster.New(r.cp.As("nobody"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "priorityclasses") || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("a stranger is told %v", err)
	}
	if err := r.client.Raise(t.Context(), plan.Workload{ID: id("deployment/none")}, 1); err == nil || !strings.Contains(err.Error(), `"none" not found`) {
		t.Errorf("nothing to raise: %v", err)
	}
}
