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

// Metrics serves metrics.k8s.io until the test ends: every container of a pod
// uses as much CPU as cpu says for its namespace, "7m", and nothing is known of
// pods where it says "". A use of just the target makes an autoscaler judge,
// and keep the count that it finds. It returns once the API server has it.
func (cp *ControlPlane) Metrics(t testing.TB, cpu func(namespace string) string) {
	t.Helper()
	client, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		t.Fatalf("serve metrics: %v", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/metrics.k8s.io/v1beta1", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1",
			"resources": []any{map[string]any{"name": "pods", "singularName": "", "namespaced": true, "kind": "PodMetrics", "verbs": []string{"list"}}},
		})
	})
	mux.HandleFunc("GET /apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods", func(w http.ResponseWriter, r *http.Request) {
		namespace := r.PathValue("namespace")
		pods, err := list(r.Context(), client, fmt.Sprintf("%s/api/v1/namespaces/%s/pods?labelSelector=%s",
			cp.server, namespace, url.QueryEscape(r.URL.Query().Get("labelSelector"))))
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		answer(w, metrics(pods, cpu(namespace)))
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
	cp.Kubectl(t, "", "wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=60s")
}

// podList is what is needed of a list of pods.
type podList struct {
	Items []struct {
		Metadata struct{ Name, Namespace string }
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

func metrics(pods podList, cpu string) any {
	items := []any{}
	for _, pod := range pods.Items {
		if cpu == "" {
			break
		}
		var containers []any
		for _, c := range pod.Spec.Containers {
			containers = append(containers, map[string]any{"name": c.Name, "usage": map[string]string{"cpu": cpu, "memory": "1Mi"}})
		}
		items = append(items, map[string]any{
			"metadata":  map[string]string{"name": pod.Metadata.Name, "namespace": pod.Metadata.Namespace},
			"timestamp": time.Now().UTC().Format(time.RFC3339), "window": "0s",
			"containers": containers,
		})
	}
	return map[string]any{"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": map[string]any{}, "items": items}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // who went away needs no answer
}
