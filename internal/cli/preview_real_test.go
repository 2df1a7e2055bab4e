//go:build cluster

package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/levels"
)

// On a cluster that has never seen gitlatch, preview predicts the start of a rebuild and writes
// nothing. Then the workload is created again, and starts with the predicted number of pods.
func TestAPreviewOnARealCluster(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{Audit: everyWrite})
	cp.Nodes(t, 2)
	for _, namespace := range []string{"shop", "flux-system"} {
		cp.Kubectl(t, "", "create", "namespace", namespace)
	}
	cp.Define(t, controlplane.Kustomization, controlplane.HelmRelease, controlplane.Application)
	cp.Kubectl(t, "", "apply", "-k", "../../infra/rbac/doctor")
	const owned = "labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}, name: "
	manifest := func(name string) string {
		return strings.Replace(controlplane.Workload("Deployment", "shop", name), "name: "+name, owned+name, 1)
	}
	cp.Apply(t, levels.Kustomizations)
	for _, name := range []string{"web", "api"} {
		cp.Apply(t, manifest(name))
		cp.Kubectl(t, "", "scale", "deployment", "-n", "shop", name, "--replicas=17")
		cp.Apply(t, strings.Replace(controlplane.Autoscaler("Deployment", "shop", name), "stabilizationWindowSeconds: 0", "selectPolicy: Disabled", 1))
	}
	cp.Kubectl(t, "", "wait", "-n", "shop", "--for=condition=Available", "deployment", "--all", "--timeout=280s")

	got := run(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), "preview", "--kubeconfig", cp.KubeconfigAs(t, "ci", "gitlatch:people"))
	const want = "Without gitlatch, a rebuild would start 2 of the 34 needed pods (5.8 %) and take about 4 min 30 s. With gitlatch, a rebuild would start 40 pods and take about 30 s."
	if said := strings.Join(strings.Fields(got.out), " "); got.status != 0 || !strings.HasPrefix(said, want) || strings.Contains(said, "unknown") {
		t.Errorf("%+v\nwant %s", got, want)
	}
	for _, q := range cp.Audit(t) {
		if q.User == "ci" {
			t.Errorf("preview sent %s %s", q.Verb, q.URI)
		}
	}
	cp.Kubectl(t, "", "delete", "deployment", "-n", "shop", "web")
	if got := cp.Kubectl(t, manifest("web"), "apply", "--server-side", "-f", "-", "-o", "jsonpath={.spec.replicas}"); got != "1" {
		t.Errorf("it starts with %s pods", got)
	}
}
