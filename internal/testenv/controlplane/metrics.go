package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// A Use is the CPU use of each container of a pod.
type Use struct {
	Pod        string
	Containers []string
	CPU        string        // "7m"
	At         time.Time     // the end of the window
	Window     time.Duration // and how long it was
}

// Metrics serves metrics.k8s.io until the test ends. Every container of a pod uses the
// CPU that cpu returns for its namespace, such as "7m"; with "", its pods have no
// metrics. If the use equals the target, an autoscaler judges and keeps the present
// replicas. Metrics returns once the API server serves the API.
func (cp *ControlPlane) Metrics(t testing.TB, cpu func(namespace string) string) {
	t.Helper()
	client, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		t.Fatalf("serve metrics: %v", err)
	}
	cp.ServeMetrics(t, func(ctx context.Context, namespace, selector string) ([]Use, error) {
		pods, err := list(ctx, client, fmt.Sprintf("%s/api/v1/namespaces/%s/pods?labelSelector=%s", cp.server, namespace, url.QueryEscape(selector)))
		if err != nil || cpu(namespace) == "" {
			return nil, err
		}
		var uses []Use
		for _, pod := range pods.Items {
			use := Use{Pod: pod.Metadata.Name, CPU: cpu(namespace), At: time.Now()}
			for _, c := range pod.Spec.Containers {
				use.Containers = append(use.Containers, c.Name)
			}
			uses = append(uses, use)
		}
		return uses, nil
	})
}

// ServeMetrics serves metrics.k8s.io until the test ends. seen returns the use of the
// pods of a namespace that a label selector chooses. ServeMetrics returns once the API
// server serves the API.
func (cp *ControlPlane) ServeMetrics(t testing.TB, seen func(ctx context.Context, namespace, selector string) ([]Use, error)) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/metrics.k8s.io/v1beta1", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1",
			"resources": []any{map[string]any{"name": "pods", "singularName": "", "namespaced": true, "kind": "PodMetrics", "verbs": []string{"list"}}},
		})
	})
	mux.HandleFunc("GET /apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods", func(w http.ResponseWriter, r *http.Request) {
		namespace := r.PathValue("namespace")
		uses, err := seen(r.Context(), namespace, r.URL.Query().Get("labelSelector"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		answer(w, metrics(namespace, uses))
	})
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)

	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatalf("serve metrics: %v", err)
	}
	cp.Apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: metrics, namespace: kube-system}
spec: {type: ExternalName, externalName: %q, ports: [{port: %s}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  group: metrics.k8s.io
  version: v1beta1
  service: {name: metrics, namespace: kube-system, port: %s}
  insecureSkipTLSVerify: true
  groupPriorityMinimum: 100
  versionPriority: 100
`, host, port, port))
	cp.Kubectl(t, "", "wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=280s")
}

// podList has the fields of a list of pods that the metrics need.
type podList struct {
	Items []struct {
		Metadata struct{ Name string }
		Spec     struct{ Containers []struct{ Name string } }
	}
}

func list(ctx context.Context, client *http.Client, url string) (pods podList, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return pods, err
	}
	got, err := client.Do(request)
	if err != nil {
		return pods, err
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		return pods, fmt.Errorf("list pods: %s", got.Status)
	}
	return pods, json.NewDecoder(got.Body).Decode(&pods)
}

func metrics(namespace string, uses []Use) any {
	items := []any{}
	for _, use := range uses {
		var containers []any
		for _, name := range use.Containers {
			containers = append(containers, map[string]any{"name": name, "usage": map[string]string{"cpu": use.CPU, "memory": "1Mi"}})
		}
		items = append(items, map[string]any{
			"metadata":  map[string]string{"name": use.Pod, "namespace": namespace},
			"timestamp": use.At.UTC().Format(time.RFC3339Nano), "window": use.Window.String(),
			"containers": containers,
		})
	}
	return map[string]any{"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": map[string]any{}, "items": items}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the client may have left
}
