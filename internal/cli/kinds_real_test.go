//go:build cluster

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/testenv/audit"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// definition defines a kind whose replicas are deep in its spec.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: workers.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: workers, singular: worker, kind: Worker, listKind: WorkerList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.pool.size, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              image: {type: string}
              pool: {type: object, properties: {size: {type: integer, default: 1}}, default: {}}
          status:
            type: object
            properties:
              replicas: {type: integer}
              readyReplicas: {type: integer}
              observedGeneration: {type: integer}
              selector: {type: string}
`

// webWorker is a worker in git, without replicas and without the mapping around them.
const webWorker = `
apiVersion: example.com/v1
kind: Worker
metadata: {name: web, namespace: shop}
spec: {image: "app:1"}
`

const workerScaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: example.com/v1, kind: Worker, name: web}
  minReplicas: 7
  maxReplicas: 900
`

// operate sets the status of each worker to its spec until the test ends, like an
// operator.
func operate(t *testing.T, cp *controlplane.ControlPlane) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	client, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			var all struct {
				Items []struct {
					Metadata struct {
						Name       string
						Generation int
					}
					Spec   struct{ Pool struct{ Size int } }
					Status struct{ ReadyReplicas, ObservedGeneration int }
				}
			}
			if err := cp.Read(ctx, "/apis/example.com/v1/namespaces/shop/workers", &all); err != nil && ctx.Err() == nil {
				t.Errorf("operate: %v", err)
			}
			for _, w := range all.Items {
				if w.Status.ObservedGeneration == w.Metadata.Generation && w.Status.ReadyReplicas == w.Spec.Pool.Size {
					continue
				}
				status := fmt.Sprintf(`{"status": {"replicas": %[1]d, "readyReplicas": %[1]d, "observedGeneration": %[2]d, "selector": "app=%[3]s"}}`, w.Spec.Pool.Size, w.Metadata.Generation, w.Metadata.Name)
				request, err := http.NewRequestWithContext(ctx, http.MethodPatch, cp.Config().Host+"/apis/example.com/v1/namespaces/shop/workers/"+w.Metadata.Name+"/status", bytes.NewBufferString(status))
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Content-Type", "application/merge-patch+json")
				if answer, err := client.Do(request); err == nil {
					answer.Body.Close() // a failed request is repeated
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
}

// A custom kind in the policy has a scale subresource and an autoscaler. The test covers
// its rights, its levels and its restore.
func TestANamedKindOnARealControlPlane(t *testing.T) {
	t.Parallel()
	log := audit.New(t, "gitlatch:restorers")
	cp := controlplane.Start(t, controlplane.Options{APIServerFlags: log.Flags})
	cp.Apply(t, definition)
	cp.Established(t)
	cp.Kubectl(t, "", "create", "namespace", "shop")
	for _, rights := range []string{"", "restore", "doctor"} {
		cp.Kubectl(t, "", "apply", "-k", filepath.Join("../../infra/rbac", rights))
	}
	cp.Apply(t, webWorker, workerScaler)
	operate(t, cp)

	w := &world{dir: t.TempDir(), now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	text := "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies:\n- {name: workers, match: {kinds: [worker]}, series: 1-2-5}\n- {name: default, match: {}, series: 1-2-5}\n" +
		"kinds: [{apiVersion: example.com/v1, kind: Worker, resource: workers, replicas: .spec.pool.size}]\n"
	w.origin = gitserver.NewOrigin(t, w.path("site.git"), map[string]string{
		"gitlatch.yaml":      text,
		"apps/shop/web.yaml": webWorker,
	})
	w.write(t, "config.yaml", fmt.Sprintf(configure, cp.KubeconfigAs(t, "ci", "gitlatch:samplers"), w.path("state/latch.db"), w.origin.Dir))

	says := func(got outcome, status int, words ...string) {
		t.Helper()
		out := strings.Join(strings.Fields(got.out+" "+got.err), " ")
		if got.status != status || slices.ContainsFunc(words, func(one string) bool { return !strings.Contains(out, one) }) {
			t.Fatalf("want %d and %q, got %+v", status, words, got)
		}
	}
	until := func(words string, args ...string) {
		t.Helper()
		err := controlplane.Eventually(t.Context(), 3*time.Minute, func(context.Context) error {
			if got := w.run(args...); !strings.Contains(strings.Join(strings.Fields(got.out), " "), words) {
				return fmt.Errorf("want %q, got %+v", words, got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	says(w.run("tick", "--dry-run"), 1, "not read: workers.example.com: forbidden: ")
	says(w.run("init"), 0)
	rights := w.run("init", "-o", "rbac")
	says(rights, 0)
	cp.Kubectl(t, rights.out, "apply", "-f", "-")
	until("shop/worker/web", "diff", "shop/web")

	cp.Kubectl(t, "", "scale", "-n", "shop", "worker/web", "--replicas=187")
	until("187 rounds to level 200", "diff", "shop/web")
	w.tick()
	says(w.tick(), 0, "shop/web", "200")
	for path, want := range map[string]string{
		"checkpoints/prod-eu/site.yaml":        "  kind.worker: \"example.com/v1 Worker\"\n",
		"checkpoints/prod-eu/shop.levels.yaml": "  worker.web: \"200\"\n  worker.web_max: \"900\"\n  worker.web_min: \"7\"\n",
		"checkpoints/admission/gitlatch.yaml":  "'workers.example.com': ['worker', '.spec.pool.size'],\n",
	} {
		if got := w.origin.Show(t, "main", path); !strings.Contains(got, want) {
			t.Errorf("%s is\n%s\nand does not contain\n%s", path, got, want)
		}
	}
	says(w.run("diff"), 0, "1 workload in sync")
	says(w.run("explain", "shop/worker/web"), 0, "200")
	says(w.run("log", "shop/web"), 0, "new -> 200")

	people := cp.KubeconfigAs(t, "person", "gitlatch:people")
	var seen struct {
		Workloads []struct {
			Kind  string
			Live  int
			Start struct{ Basis string }
		}
		Unread []string
	}
	got := w.run("doctor", "--kubeconfig", people, "-o", "json")
	if err := json.Unmarshal([]byte(got.out), &seen); err != nil || len(seen.Workloads) != 1 || len(seen.Unread) > 0 ||
		seen.Workloads[0].Kind != "worker" || seen.Workloads[0].Live != 187 || seen.Workloads[0].Start.Basis != "unknown" {
		t.Errorf("doctor: %+v", got)
	}
	says(w.run("drill", "--kubeconfig", people, "--dry-run"), 1, "a rebuild starts with 0 % to 100 %", "no-owner")

	policy := func(text string) { w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": text}, "policy") }
	policy(strings.Replace(text, ", replicas: .spec.pool.size", "", 1))
	says(w.run("doctor", "--kubeconfig", people), 1, "kind-differs (observed): worker workers.example.com has its replica count in the field .spec.pool.size, but the policy has replicas: .spec.replicas")
	policy(text)

	// The folders come first, and then the workload.
	cp.Kubectl(t, "", "delete", "-n", "shop", "worker/web")
	for _, path := range []string{"admission/gitlatch.yaml", "prod-eu/site.yaml", "prod-eu/shop.levels.yaml"} {
		cp.Kubectl(t, w.origin.Show(t, "main", "checkpoints/"+path), "apply", "--server-side", "-f", "-")
	}
	size := []string{"-f", "-", "-o", "jsonpath={.spec.pool.size}"}
	err := controlplane.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		size, err := cp.TryKubectl(ctx, webWorker, append([]string{"create", "--dry-run=server"}, size...)...)
		if err == nil && size != "200" {
			err = fmt.Errorf("it would be created with %s", size)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if size := cp.Kubectl(t, webWorker, append([]string{"create"}, size...)...); size != "200" {
		t.Errorf("it is created with %s", size)
	}

	cp.Kubectl(t, "", "scale", "-n", "shop", "worker/web", "--replicas=20")
	restorers := cp.KubeconfigAs(t, "person", "gitlatch:restorers")
	says(w.run("restore", "--kubeconfig", restorers), 0, "20", "200")
	says(w.run("restore", "--kubeconfig", restorers, "--yes"), 0, "200")
	if size := cp.Kubectl(t, "", "get", "-n", "shop", "worker/web", "-o", "jsonpath={.spec.pool.size}"); size != "200" {
		t.Errorf("it is restored to %s", size)
	}
	of := slices.DeleteFunc(log.Seen(t), func(right string) bool { return !strings.Contains(right, "example.com") })
	if want := []string{"get workers/scale.example.com", "list workers.example.com", "update workers/scale.example.com"}; !slices.Equal(of, want) {
		t.Errorf("a restore asked for %q, want %q", of, want)
	}
}
