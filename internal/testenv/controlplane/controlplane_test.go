//go:build cluster

package controlplane_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

func TestPodsOfADeploymentBecomeReady(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 2)
	cp.Apply(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
`)
	cp.Kubectl(t, "", "rollout", "status", "deployment/web", "--timeout=180s")
	if got := strings.Fields(cp.Kubectl(t, "", "get", "pods", "-o", "name")); len(got) != 3 {
		t.Errorf("pods %q, want 3", got)
	}
}

// A pod that takes a while is seen running and not ready before it is ready.
func TestAPodThatTakesAWhileIsReadyLater(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{PodStart: 15 * time.Second})
	cp.Nodes(t, 1)
	cp.Apply(t, controlplane.Workload("Deployment", "default", "web"))
	cp.Kubectl(t, "", "wait", "--for=jsonpath={.status.unavailableReplicas}=1", "deployment/web", "--timeout=180s")
	cp.Kubectl(t, "", "wait", "--for=jsonpath={.status.phase}=Running", "pod", "-l", "app=web", "--timeout=180s")
	const ready = `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`
	if got := cp.Kubectl(t, "", "get", "pods", "-l", "app=web", "-o", ready); got != "False" {
		t.Errorf("at first ready is %q", got)
	}
	cp.Kubectl(t, "", "wait", "--for=condition=Available", "deployment/web", "--timeout=180s")
	if got := cp.Kubectl(t, "", "get", "pods", "-l", "app=web", "-o", ready); got != "True" {
		t.Errorf("later ready is %q", got)
	}
}

// If a node is late with the end of a pod, it does not end the new pod of the same
// name.
func TestANodeEndsOnlyPodsThatAreBeingDeleted(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 1)
	cp.Apply(t, "{apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: default}, spec: {containers: [{name: web, image: 'web:1'}]}}")
	cp.Kubectl(t, "", "wait", "--for=condition=Ready", "pod/web-0", "--timeout=180s")
	node, err := rest.HTTPClientFor(cp.As("kwok", "system:masters"))
	if err != nil {
		t.Fatal(err)
	}
	late, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, cp.Config().Host+"/api/v1/namespaces/default/pods/web-0?gracePeriodSeconds=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := node.Do(late)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), "it is not being deleted") {
		t.Fatalf("a node ends a pod that nobody deleted: %s %s %v", answer.Status, text, err)
	}
	cp.Kubectl(t, "", "delete", "pod/web-0", "--timeout=180s") // which waits until its node ended it
}
