//go:build cluster || keda

package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/cluster"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/testenv/audit"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	rbac  = "../../../infra/rbac/restore/"
	group = "gitlatch:restorers"
	level = 40
	idle  = 2 // the replicas that an HPA with idle pods lowers its workload to
)

// TestARealRestore tests a cluster that came up small, whose autoscalers see idle pods.
// The subtests depend on each other and run in order.
func TestARealRestore(t *testing.T) {
	t.Parallel()
	r := start(t)
	t.Run("a dry run writes nothing", r.dryRun)
	t.Run("without a brake it collapses", r.control)
	t.Run("killed half-way it is finished by the next run, and holds", r.holds)
	t.Run("twice is once", r.twice)
	t.Run("raises that race lower nothing", r.races)
	t.Run("a Rollout of Argo Rollouts", r.rollout)
	t.Run("once it expired, all is as before", r.expires)
	t.Run("a lost brake is reported with its manager", r.lost)
	t.Run("a person who changes the behaviour wins", r.person)
	t.Run("killed after each write, it ends the same", r.killed)
	t.Run("what a person says after the plan counts", r.since)
	t.Run("rights seen are those of the role", r.rights)
}

type realCluster struct {
	cp     *controlplane.ControlPlane
	log    *audit.Log
	client *cluster.Client
	before map[string]any // behaviours and annotations of autoscalers
}

func start(t *testing.T) *realCluster {
	log := audit.New(t, group)
	r := &realCluster{log: log, cp: controlplane.Start(t, controlplane.Options{
		APIServerFlags: log.Flags,
		// The test does not rely on this window: its default of five minutes does not
		// protect a workload that the autoscaler already saw small.
		ControllerManagerFlags: []string{"--horizontal-pod-autoscaler-downscale-stabilization=1s"},
	})}
	r.cp.Nodes(t, 1)
	r.cp.Metrics(t, func(string) string { return "1m" }) // a seventh of their target
	for _, file := range []string{"clusterrole.yaml", "clusterrolebinding.yaml"} {
		r.cp.Apply(t, read(t, rbac+file))
	}
	r.cp.Kubectl(t, "", "create", "namespace", "shop")
	r.keda(t)
	bare := strings.Replace(controlplane.Autoscaler("Deployment", "shop", "bare"), "  behavior: {scaleDown: {stabilizationWindowSeconds: 0}}\n", "", 1)
	first := strings.Replace(controlplane.Workload("Deployment", "shop", "first"), "spec: {termination", "spec: {priorityClassName: high, termination", 1)
	r.cp.Apply(t, "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n",
		controlplane.Workload("Deployment", "shop", "web"), controlplane.Autoscaler("Deployment", "shop", "web"),
		controlplane.Workload("Deployment", "shop", "bare"), bare,
		controlplane.Workload("StatefulSet", "shop", "db"), controlplane.Autoscaler("StatefulSet", "shop", "db"),
		first, controlplane.Workload("Deployment", "shop", "asleep"))
	r.cp.Kubectl(t, "", "scale", "-n", "shop", "deployment/asleep", "--replicas=0")
	r.cp.Kubectl(t, "", "wait", "-n", "shop", "--for=condition=ScalingActive", "hpa", "--all", "--timeout=180s")
	var err error
	if r.client, err = cluster.New(r.cp.As("gitlatch", group)); err != nil {
		t.Fatal(err)
	}
	r.until(t, idle)
	r.before = r.autoscalers(t)
	return r
}

// keda creates a ScaledObject with the HPA that KEDA would create for it. The test runs
// without KEDA, because a restore does not change this HPA.
func (r *realCluster) keda(t *testing.T) {
	r.cp.Define(t, controlplane.ScaledObject)
	r.cp.Apply(t, controlplane.Workload("Deployment", "shop", "mail"), `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: mail, namespace: shop, annotations: {team: mail}}
spec: {scaleTargetRef: {name: mail}, minReplicaCount: 1, maxReplicaCount: 30}
`)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func id(text string) workload.ID {
	parsed, err := workload.ParseID("shop/" + text)
	if err != nil {
		panic(err)
	}
	return parsed
}

// tree returns the namespace's levels in git.
func tree() checkpoint.Tree {
	r := checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{}}
	for _, text := range []string{"deployment/web", "deployment/bare", "statefulset/db", "deployment/first", "deployment/mail", "deployment/asleep", "deployment/gone"} {
		r.Entries[id(text)] = checkpoint.Entry{Replicas: level}
	}
	return checkpoint.Tree{Records: map[string]checkpoint.Record{"shop": r}}
}

func (r *realCluster) restore() *restore.Restore {
	return &restore.Restore{
		Site: "prod-eu", Cluster: r.client, Clock: time.Now,
		Wait: func(ctx context.Context, d time.Duration) {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
		},
		Pace: plan.Pace{PerMinute: 6000, Unready: 1000, Patience: 5 * time.Minute},
		Hold: restore.Hold, Every: 100 * time.Millisecond, Recheck: time.Second,
	}
}

// counts returns the desired replicas of each workload with an HPA.
func (r *realCluster) counts(ctx context.Context) (map[string]int32, error) {
	live, err := r.client.Look(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]int32{
		"web": live[id("deployment/web")].Replicas, "bare": live[id("deployment/bare")].Replicas, "db": live[id("statefulset/db")].Replicas,
	}, nil
}

// until waits until every workload with an HPA has the wanted replicas.
func (r *realCluster) until(t *testing.T, want int32) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		counts, err := r.counts(ctx)
		for _, n := range counts {
			if n != want {
				err = fmt.Errorf("%v, want %d", counts, want)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// autoscalers returns the fields of each autoscaler that a brake may change.
func (r *realCluster) autoscalers(t *testing.T) map[string]any {
	t.Helper()
	var list struct {
		Items []struct {
			Kind     string
			Metadata struct {
				Name        string
				Annotations map[string]string
			}
			Spec struct{ Behavior any }
		}
	}
	if err := json.Unmarshal([]byte(r.cp.Kubectl(t, "", "get", "-n", "shop", "hpa,scaledobjects", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for _, one := range list.Items {
		all[one.Kind+" "+one.Metadata.Name] = []any{one.Metadata.Annotations, one.Spec.Behavior}
	}
	return all
}

// writes counts the requests so far that change something.
func (r *realCluster) writes(t *testing.T) int {
	n := 0
	for _, one := range r.log.All(t) {
		if verb, _, _ := strings.Cut(one, " "); verb != "get" && verb != "list" {
			n++
		}
	}
	return n
}

func (r *realCluster) dryRun(t *testing.T) {
	one := r.restore()
	one.DryRun = true
	report, err := one.Run(t.Context(), tree())
	if err != nil {
		t.Fatal(err)
	}
	if n := r.writes(t); n != 0 {
		t.Errorf("%d writes", n)
	}
	p := report.Plan
	if len(p.Waves) != 2 || p.Waves[0].Name != "priority 1000" || p.Waves[0].Raises[0].ID != id("deployment/first") || len(p.Waves[1].Raises) != 4 {
		t.Errorf("waves %+v", p.Waves)
	}
	if len(p.Left) != 2 || p.Left[0].Reason != plan.Suspended || p.Left[1].Reason != plan.Absent || report.Cluster == "" {
		t.Errorf("left %+v, cluster %q", p.Left, report.Cluster)
	}
}

// unbraked is a cluster whose raises work, but whose brakes do nothing.
type unbraked struct{ restore.Cluster }

func (unbraked) Brakes(context.Context) ([]brake.Found, error) { return nil, nil }
func (unbraked) Brake(context.Context, plan.Scaler, time.Time, time.Duration) (brake.Outcome, error) {
	return brake.Foreign, nil
}
func (unbraked) Stale(context.Context) (map[string]string, error)            { return nil, nil }
func (unbraked) Release(context.Context, plan.Scaler) (brake.Outcome, error) { return brake.None, nil }

func (r *realCluster) control(t *testing.T) {
	for _, text := range []string{"deployment/web", "deployment/bare", "statefulset/db"} {
		if from, err := r.raise(t.Context(), id(text), level); err != nil || from != idle {
			t.Fatalf("%s: from %d, %v", text, from, err)
		}
	}
	r.until(t, idle)
	one := r.restore()
	one.Cluster, one.Options = unbraked{r.client}, plan.Options{Workloads: []workload.ID{id("deployment/web")}}
	report, err := one.Run(t.Context(), tree())
	if err != nil {
		t.Fatal(err)
	}
	r.until(t, idle)
	t.Logf("without a brake: %+v", report.Unfinished)
}

// raise raises a workload that may have changed since the last read.
func (r *realCluster) raise(ctx context.Context, id workload.ID, to int32) (from int32, err error) {
	for range 100 {
		var seen map[workload.ID]plan.Workload
		if seen, err = r.client.See(ctx, plan.Workload{ID: id}); err != nil {
			return 0, err
		}
		if from = seen[id].Replicas; from >= to {
			return from, nil
		}
		if err = r.client.Raise(ctx, seen[id], to); !apierrors.IsConflict(err) {
			break
		}
	}
	return from, err
}

func (r *realCluster) holds(t *testing.T) {
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	one := r.restore()
	one.Say = func(line string) {
		if strings.Contains(line, "->") && !strings.Contains(line, "first") {
			kill() // after the first raise of the second wave
		}
	}
	report, err := one.Run(ctx, tree())
	if err != nil || !report.Stopped || len(report.Unfinished) == 0 {
		t.Fatalf("%+v %v", report, err)
	}
	report, err = r.restore().Run(t.Context(), tree())
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	// Each autoscaler runs once a second. Without a brake, it would undo a raise at once.
	for range 24 {
		time.Sleep(500 * time.Millisecond)
		counts, err := r.counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, n := range counts {
			if n != level {
				t.Fatalf("%s went to %d", name, n)
			}
		}
	}
	live, err := r.client.Look(t.Context())
	if err != nil || live[id("deployment/mail")].Replicas != 30 || live[id("deployment/first")].Ready != level || live[id("deployment/asleep")].Replicas != 0 {
		t.Errorf("mail %+v, first %+v, asleep %+v, %v", live[id("deployment/mail")], live[id("deployment/first")], live[id("deployment/asleep")], err)
	}
	if now := r.autoscalers(t); reflect.DeepEqual(now, r.before) || !strings.Contains(fmt.Sprint(now["ScaledObject mail"]), "paused-scale-in:true") {
		t.Errorf("no brakes: %v", now)
	}
}
