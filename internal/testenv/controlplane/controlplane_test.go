package controlplane_test

import (
	"strings"
	"testing"
	"time"

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
	cp.Kubectl(t, "", "rollout", "status", "deployment/web", "--timeout=60s")
	if got := strings.Fields(cp.Kubectl(t, "", "get", "pods", "-o", "name")); len(got) != 3 {
		t.Errorf("pods %q, want 3", got)
	}
}

// A pod that takes a while is seen running and not ready before it is ready.
func TestAPodThatTakesAWhileIsReadyLater(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{PodStart: 3 * time.Second})
	cp.Nodes(t, 1)
	cp.Apply(t, controlplane.Workload("Deployment", "default", "web"))
	cp.Kubectl(t, "", "wait", "--for=jsonpath={.status.unavailableReplicas}=1", "deployment/web", "--timeout=60s")
	cp.Kubectl(t, "", "wait", "--for=jsonpath={.status.phase}=Running", "pod", "-l", "app=web", "--timeout=60s")
	const ready = `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`
	if got := cp.Kubectl(t, "", "get", "pods", "-l", "app=web", "-o", ready); got != "False" {
		t.Errorf("at first ready is %q", got)
	}
	cp.Kubectl(t, "", "wait", "--for=condition=Available", "deployment/web", "--timeout=60s")
	if got := cp.Kubectl(t, "", "get", "pods", "-l", "app=web", "-o", ready); got != "True" {
		t.Errorf("later ready is %q", got)
	}
}
