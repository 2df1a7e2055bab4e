package controlplane_test

import (
	"strings"
	"testing"

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
