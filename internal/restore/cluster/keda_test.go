//go:build keda

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/cluster"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/keda"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// TestKEDA tests ScaledObjects whose HPAs a real KEDA writes. The build of KEDA takes 10
// minutes, so this needs -keda, as in make keda. Without it, the test only compares the
// version of the build with the version in the documentation. The subtests depend on each
// other and run in order.
func TestKEDA(t *testing.T) {
	t.Parallel()
	k := startKEDA(t, kedaVersion(t))
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"sample", k.sampled},
		{"zero", k.zero},
		{"pause", k.paused},
		{"a restore leaves a paused workload", k.held},
		{"brake", k.braked},
		{"a second restore keeps the brake", k.again},
		{"release", k.released},
	} {
		if !t.Run(part.name, part.test) {
			return
		}
	}
}

// kedaVersion returns the version of KEDA that scripts/keda builds. It fails the test if the
// page about workloads has another one.
func kedaVersion(t *testing.T) string {
	t.Helper()
	module := read(t, "../../../scripts/keda/go.mod")
	found := regexp.MustCompile(`(?m)^require github\.com/kedacore/keda/v2 (v\d+\.\d+\.\d+)$`).FindStringSubmatch(module)
	if found == nil {
		t.Fatal("scripts/keda/go.mod requires no KEDA")
	}
	version := found[1]
	const page = "../../docs/workloads.md"
	if want := "KEDA " + version[1:]; !strings.Contains(read(t, page), want) {
		t.Errorf("%s does not contain %q", page, want)
	}
	return version
}

// A kedaCluster is a cluster with KEDA and idle pods.
type kedaCluster struct {
	*realCluster
	sampler *kube.Sampler
	queue   *queue
}

// A queue serves the lengths of queues, which are the metrics of ScaledObjects.
type queue struct {
	mu      sync.Mutex
	lengths map[string]int
}

func (q *queue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	name := strings.TrimPrefix(r.URL.Path, "/")
	fmt.Fprintf(w, `{"length": %d}`, q.lengths[name])
}

func (q *queue) set(name string, length int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lengths[name] = length
}

// The workloads that KEDA scales: web by the CPU of its pods, like any HPA, and the others
// by the length of a queue, from zero.
var queued = []string{"mail", "stated", "least", "paused"}

func startKEDA(t *testing.T, version string) *kedaCluster {
	q := &queue{lengths: map[string]int{}}
	server := httptest.NewServer(q)
	t.Cleanup(server.Close)
	cp := controlplane.Start(t, controlplane.Options{
		ControllerManagerFlags: []string{"--horizontal-pod-autoscaler-downscale-stabilization=1s"},
	})
	cp.Nodes(t, 1)
	cp.Metrics(t, func(string) string { return "1m" }) // a seventh of their target
	for _, dir := range []string{"../../../infra/rbac", rbac} {
		cp.Kubectl(t, "", "apply", "-k", dir)
	}
	if got := keda.Start(t, cp); got != version {
		t.Fatalf("KEDA %s runs, want %s", got, version)
	}
	cp.Kubectl(t, "", "create", "namespace", "shop")
	cp.Apply(t, controlplane.Workload("Deployment", "shop", "web"), `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {name: web}
  minReplicaCount: 2
  maxReplicaCount: 200
  triggers: [{type: cpu, metricType: Utilization, metadata: {value: "70"}}]
`)
	for _, name := range queued {
		annotations, advanced := "{team: "+name+"}", "{}"
		switch name {
		case "stated":
			annotations = `{autoscaling.keda.sh/paused-scale-in: "false"}`
		case "least":
			advanced = "{horizontalPodAutoscalerConfig: {behavior: {scaleDown: {selectPolicy: Min, stabilizationWindowSeconds: 0}}}}"
		}
		cp.Apply(t, controlplane.Workload("Deployment", "shop", name), fmt.Sprintf(`
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: %[1]s, namespace: shop, annotations: %[2]s}
spec:
  scaleTargetRef: {name: %[1]s}
  maxReplicaCount: 30
  pollingInterval: 1
  cooldownPeriod: 1
  advanced: %[3]s
  triggers: [{type: metrics-api, metadata: {url: %[4]q, valueLocation: length, targetValue: "10"}}]
`, name, annotations, advanced, server.URL+"/"+name))
	}
	k := &kedaCluster{realCluster: &realCluster{cp: cp}, queue: q}
	var err error
	if k.client, err = cluster.New(cp.As("gitlatch", group)); err != nil {
		t.Fatal(err)
	}
	k.sampler, err = kube.New(cp.As("gitlatch", "gitlatch:samplers"), kube.Options{Site: "prod-eu", Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// eventually fails the test if a condition does not come true.
func eventually(t *testing.T, holds func(ctx context.Context) error) {
	t.Helper()
	if err := controlplane.Eventually(t.Context(), 3*time.Minute, holds); err != nil {
		t.Fatal(err)
	}
}

// sample returns the sample of a Deployment.
func (k *kedaCluster) sample(ctx context.Context, name string) (workload.Sample, error) {
	fleet, err := k.sampler.Sample(ctx, nil)
	if err != nil {
		return workload.Sample{}, err
	}
	i := slices.IndexFunc(fleet.Samples, func(s workload.Sample) bool { return s.ID == id("deployment/"+name) })
	if i < 0 || fleet.Samples[i].Scale == nil || len(fleet.Unread) > 0 {
		return workload.Sample{}, fmt.Errorf("%s has no scale, unread %v", name, fleet.Unread)
	}
	return fleet.Samples[i], nil
}

// untilScale waits until the scale of a Deployment is as wanted.
func (k *kedaCluster) untilScale(t *testing.T, name string, want workload.Scale) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		s, err := k.sample(ctx, name)
		if err == nil && *s.Scale != want {
			err = fmt.Errorf("%s has the scale %+v, want %+v", name, *s.Scale, want)
		}
		return err
	})
}

// hpa returns the HPA that KEDA wrote for a ScaledObject.
func (k *kedaCluster) hpa(ctx context.Context, name string) (h autoscalingv2.HorizontalPodAutoscaler, err error) {
	return h, k.cp.Read(ctx, "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/keda-hpa-"+name, &h)
}

// The scales of the workloads. Their manifests state no replicas, so the writer is unknown.
func webAt(pods int32) workload.Scale {
	return workload.Scale{Driver: workload.DrivenByKEDA, Desired: pods, Ready: pods, Min: 2, Max: 200, Target: 0.7, Load: 10.0 / 70}
}

func queuedAt(pods int32, load float64) workload.Scale {
	return workload.Scale{Driver: workload.DrivenByKEDA, Desired: pods, Ready: pods, Max: 30, Load: load}
}

func (k *kedaCluster) sampled(t *testing.T) {
	for _, name := range queued {
		k.queue.set(name, 100)
	}
	k.untilScale(t, "web", webAt(2))
	for _, name := range queued {
		k.untilScale(t, name, queuedAt(10, 1))
	}
	h, err := k.hpa(t.Context(), "mail")
	if err != nil || h.Labels["app.kubernetes.io/version"] != kedaVersion(t)[1:] {
		t.Errorf("the HPA has the labels %v, %v", h.Labels, err)
	}
}

// zero takes a workload to zero and back. A level is never 0.
func (k *kedaCluster) zero(t *testing.T) {
	k.queue.set("mail", 0)
	k.untilScale(t, "mail", queuedAt(0, 0))
	s, err := k.sample(t.Context(), "mail")
	if err != nil {
		t.Fatal(err)
	}
	declared := latch.Latch{ID: s.ID, Declared: checkpoint.Entry{Replicas: 10}}
	_, d := policy.Decide(policy.DefaultSet().Default, declared, s, policy.Look{Now: time.Now()})
	if d.Verdict != policy.Frozen || d.Reason != policy.ReasonSuspended {
		t.Errorf("at zero the decision is %+v", d)
	}
	k.queue.set("mail", 50)
	k.untilScale(t, "mail", queuedAt(5, 1))
}

// paused pauses a ScaledObject in each way, and then lets it continue.
func (k *kedaCluster) paused(t *testing.T) {
	annotate := func(annotation string) {
		k.cp.Kubectl(t, "", "annotate", "--overwrite", "-n", "shop", "scaledobject/paused", "autoscaling.keda.sh/"+annotation)
	}
	for _, c := range []struct {
		annotation   string
		pods         int32
		blind, fixed string
	}{
		{"paused=true", 10, "ScaledObject is paused", ""},
		{"paused-replicas=4", 4, `ScaledObject is paused at "4" replicas`, `paused at "4" replicas`},
	} {
		annotate(c.annotation)
		want := queuedAt(c.pods, 0)
		want.Paused, want.Blind, want.Fixed = true, c.blind, c.fixed
		k.untilScale(t, "paused", want)
		eventually(t, func(ctx context.Context) error {
			if _, err := k.hpa(ctx, "paused"); err == nil {
				return fmt.Errorf("%s: the HPA is still there", c.annotation)
			}
			return nil
		})
		name, _, _ := strings.Cut(c.annotation, "=")
		annotate(name + "-")
		k.untilScale(t, "paused", queuedAt(10, 1))
	}
	annotate("paused-scale-out=true")
	eventually(t, func(ctx context.Context) error {
		h, err := k.hpa(ctx, "paused")
		if b := h.Spec.Behavior; err != nil || b == nil || *b.ScaleUp.SelectPolicy != autoscalingv2.DisabledPolicySelect {
			return fmt.Errorf("the HPA has the behavior %+v, %v", b, err)
		}
		return nil
	})
	k.queue.set("paused", 200)
	want := queuedAt(10, 2)
	want.Blind = "ScaledObject is paused on the way up"
	k.untilScale(t, "paused", want)
	annotate("paused-scale-out-")
	k.untilScale(t, "paused", queuedAt(20, 1))
}

// held tests the plan for a workload that KEDA keeps at a number of replicas. KEDA undoes a
// raise when the spec of the ScaledObject changes.
func (k *kedaCluster) held(t *testing.T) {
	k.cp.Kubectl(t, "", "annotate", "-n", "shop", "scaledobject/paused", "autoscaling.keda.sh/paused-replicas=4")
	eventually(t, func(ctx context.Context) error {
		s, err := k.sample(ctx, "paused")
		if err == nil && s.Scale.Desired != 4 {
			err = fmt.Errorf("%d pods", s.Scale.Desired)
		}
		return err
	})
	report, err := k.run(t, "paused")
	if err != nil || len(report.Raised) > 0 || len(report.Left) != 1 || report.Left[0].Reason != plan.Fixed {
		t.Errorf("raised %v, left %+v, %v", report.Raised, report.Left, err)
	}
	k.cp.Kubectl(t, "", "scale", "-n", "shop", "deployment/paused", "--replicas=8")
	k.cp.Kubectl(t, "", "patch", "-n", "shop", "scaledobject/paused", "--type=merge", "-p", `{"spec": {"maxReplicaCount": 29}}`)
	k.cp.Kubectl(t, "", "wait", "-n", "shop", "--for=jsonpath={.spec.replicas}=4", "deployment/paused", "--timeout=60s")
}

// run restores the named workloads to their levels.
func (k *kedaCluster) run(t *testing.T, names ...string) (restore.Report, error) {
	t.Helper()
	declared := checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{}}
	for _, name := range names {
		declared.Entries[id("deployment/"+name)] = checkpoint.Entry{Replicas: 20}
	}
	one := k.restore()
	one.Recheck = restore.Recheck
	wait := one.Wait
	var skipped time.Duration
	one.Clock = func() time.Time { return time.Now().Add(skipped) }
	one.Wait = func(ctx context.Context, d time.Duration) {
		if d <= one.Every {
			wait(ctx, d)
			return
		}
		k.untilPolicy(t, autoscalingv2.DisabledPolicySelect, names...) // within the minute until the brakes are read again
		skipped += d
	}
	return one.Run(t.Context(), checkpoint.Tree{Records: map[string]checkpoint.Record{"shop": declared}})
}

// untilPolicy waits until KEDA has given HPAs a selectPolicy for scaling down.
func (k *kedaCluster) untilPolicy(t *testing.T, want autoscalingv2.ScalingPolicySelect, names ...string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		for _, name := range names {
			h, err := k.hpa(ctx, name)
			if b := h.Spec.Behavior; err != nil || b == nil || b.ScaleDown == nil || *b.ScaleDown.SelectPolicy != want {
				return fmt.Errorf("HPA of %s has the behavior %+v, %v", name, b, err)
			}
		}
		return nil
	})
}

// restored are the workloads that the restores of the test brake.
var restored = []string{"web", "mail", "stated", "least"}

// braked restores workloads whose pods are idle. The HPA and KEDA do not lower them.
func (k *kedaCluster) braked(t *testing.T) {
	for _, name := range restored[1:] {
		k.queue.set(name, 10)
		k.untilPods(t, name, 1)
	}
	k.before = k.autoscalers(t)
	report, err := k.run(t, restored...)
	if err = errors.Join(err, report.Err()); err != nil || len(report.Raised) != len(restored) {
		t.Fatalf("raised %v, %v", report.Raised, err)
	}
	k.wantBrakes(t, report, brake.Set)
	for _, name := range restored {
		k.queue.set(name, 0)
		k.untilJudged(t, name, 20)
		s, err := k.sample(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Scale.Desired != 20 || !s.Scale.UpOnly || s.Scale.Brake.On != "ScaledObject "+name || s.Scale.Blind != "" {
			t.Errorf("%s has the scale %+v", name, *s.Scale)
		}
	}
}

func (k *kedaCluster) untilPods(t *testing.T, name string, want int32) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		s, err := k.sample(ctx, name)
		if err == nil && (s.Scale.Desired != want || s.Scale.Ready != want) {
			err = fmt.Errorf("%s has %d pods, want %d", name, s.Scale.Desired, want)
		}
		return err
	})
}

// untilJudged waits until the HPA of a workload saw its idle pods and would lower it
// without the brake. KEDA itself would lower a workload without triggers that are active.
func (k *kedaCluster) untilJudged(t *testing.T, name string, pods int32) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		h, err := k.hpa(ctx, name)
		limited := slices.IndexFunc(h.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
			return c.Type == autoscalingv2.ScalingLimited && c.Status == "True" && c.Reason == "ScaleDownLimit"
		})
		if err != nil || h.Status.CurrentReplicas != pods || limited < 0 {
			return fmt.Errorf("the HPA of %s has the status %+v, %v", name, h.Status, err)
		}
		var object struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		err = k.cp.Read(ctx, "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/"+name, &object)
		idle := struct{ Type, Status string }{"Active", "False"}
		if name != "web" && !slices.Contains(object.Status.Conditions, idle) {
			return fmt.Errorf("ScaledObject %s has the conditions %v, %v", name, object.Status.Conditions, err)
		}
		return err
	})
}

// wantBrakes fails the test if a ScaledObject has no brake, in the report or in the
// cluster, or if another autoscaler has one. KEDA copies the annotations of a ScaledObject
// to its HPA.
func (k *kedaCluster) wantBrakes(t *testing.T, report restore.Report, outcome brake.Outcome) {
	t.Helper()
	want := map[string]bool{}
	for _, name := range restored {
		want["scaledobject shop/"+name] = true
	}
	set, found := map[string]bool{}, map[string]bool{}
	for _, b := range report.Brakes {
		set[b.Scaler.String()] = b.Outcome == outcome
	}
	brakes, err := k.client.Brakes(t.Context())
	for _, b := range brakes {
		found[b.Scaler.String()] = b.Holds && b.Ignored == "" && b.Err == nil
	}
	if err != nil || !reflect.DeepEqual(set, want) || !reflect.DeepEqual(found, want) {
		t.Errorf("brakes %v, in the cluster %v, want %v, %v", report.Brakes, brakes, want, err)
	}
}

func (k *kedaCluster) again(t *testing.T) {
	report, err := k.run(t, restored...)
	if err = errors.Join(err, report.Err()); err != nil || len(report.Raised) > 0 || report.Holding != len(restored) {
		t.Errorf("raised %v, %d brakes, %v", report.Raised, report.Holding, err)
	}
	k.wantBrakes(t, report, brake.Kept)
}

// released releases the brakes. KEDA then writes the former behavior to its HPAs, and the
// idle workloads go down.
func (k *kedaCluster) released(t *testing.T) {
	report, err := k.restore().Release(t.Context(), false)
	if err = errors.Join(err, report.Err()); err != nil || len(report.Released) != len(restored) || len(report.Notices) > 0 {
		t.Errorf("released %v, notices %q, %v", report.Released, report.Notices, err)
	}
	k.untilPods(t, "web", 2)
	for _, name := range restored[1:] {
		k.untilPods(t, name, 0)
	}
	if now := k.autoscalers(t); !reflect.DeepEqual(now, k.before) {
		t.Errorf("the autoscalers are\n%v\nwere\n%v", now, k.before)
	}
	found, err := k.client.Brakes(t.Context())
	if err != nil || len(found) > 0 {
		t.Errorf("brakes %v, %v", found, err)
	}
}
