//go:build cluster

package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// everyWrite is an audit policy that logs all writes.
const everyWrite = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, verbs: [create, update, patch, delete, deletecollection]}
- {level: None}
`

// On a cluster without any setup of gitlatch other than its rights, init and two ticks commit
// the first levels, and write nothing in the cluster.
func TestTheFirstLevelsNeedNoSetup(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{Audit: everyWrite})
	cp.Nodes(t, 2)
	cp.Kubectl(t, "", "create", "namespace", "shop")
	cp.Kubectl(t, "", "apply", "-k", "../../infra/rbac")
	for _, name := range []string{"web", "api"} {
		manifest := strings.Replace(controlplane.Workload("Deployment", "shop", name), "spec:\n", "spec:\n  replicas: 17\n", 1)
		steady := strings.Replace(controlplane.Autoscaler("Deployment", "shop", name), "stabilizationWindowSeconds: 0", "selectPolicy: Disabled", 1)
		cp.Apply(t, manifest, steady)
	}
	cp.Kubectl(t, "", "wait", "-n", "shop", "--for=condition=Available", "deployment", "--all", "--timeout=280s")

	w := &world{dir: t.TempDir(), now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	w.origin = gitserver.NewOrigin(t, w.path("fleet.git"), map[string]string{"README.md": "fleet\n"})
	w.write(t, "config.yaml", fmt.Sprintf(configure, cp.KubeconfigAs(t, "ci", "gitlatch:samplers"), w.path("state/latch.db"), w.origin.Dir))
	if got := w.run("init", "--mode", "latch"); got.status != 0 {
		t.Fatalf("init: %+v", got)
	}
	for range 2 {
		if got := w.tick(); got.status != 0 {
			t.Fatalf("tick: %+v", got)
		}
	}
	levels := w.origin.Show(t, "main", "checkpoints/prod-eu/shop.levels.yaml")
	for _, line := range []string{"  deployment.api: \"20\"\n", "  deployment.web: \"20\"\n"} {
		if !strings.Contains(levels, line) {
			t.Errorf("no %q in\n%s", line, levels)
		}
	}
	looked := false
	for _, q := range cp.Audit(t) {
		if q.User == "ci" {
			t.Errorf("gitlatch sent %s %s", q.Verb, q.URI)
		}
		looked = looked || q.Object.Resource == "deployments"
	}
	if !looked {
		t.Error("the log has no writes")
	}
	if got := cp.Kubectl(t, "", "get", "deployments", "-n", "shop", "-o", "jsonpath={.items[*].spec.replicas}"); got != "17 17" {
		t.Errorf("the workloads have %s replicas", got)
	}
}
