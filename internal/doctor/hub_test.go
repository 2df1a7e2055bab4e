package doctor_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// Argo CD runs in a hub, and the workloads in another cluster. What it ignores
// there keeps counts here, and doctor sees it; a rule that is removed in the hub is
// noticed.
func TestDoctorReadsAHub(t *testing.T) {
	t.Parallel()
	w := &toolbench{
		ControlPlane: controlplane.Start(t, controlplane.Options{}), hub: controlplane.Start(t, controlplane.Options{}),
		origin: gitserver.NewOrigin(t, t.TempDir(), map[string]string{}),
		rows:   map[string]row{"spoke": {spec: "destination: {name: prod-eu}, " + rule, options: kept}},
	}
	first := w.push(t, created, "first")
	argo := argocd.Start(t, w.hub)
	to := w.Config()
	w.hub.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: prod-eu, namespace: argocd, labels: {argocd.argoproj.io/secret-type: cluster}}
stringData:
  name: prod-eu
  server: %s
  config: '{"bearerToken": %q, "tlsClientConfig": {"caData": %q}}'
`, to.Host, to.BearerToken, base64.StdEncoding.EncodeToString(to.CAData)), w.rows["spoke"].application("spoke", argocd.URL(w.origin)))
	argo.Applied(t, "spoke", first)
	counts := func(after string, want int) {
		t.Helper()
		if got, err := w.count(t.Context(), "spoke"); err != nil || got != want {
			t.Errorf("after %s it asks for %d (%v), want %d", after, got, err, want)
		}
	}
	counts("creation", created)
	w.scale(t, "spoke", w.rows["spoke"])
	if said := w.examine(t)["spoke"]; said != "argocd: Application argocd/spoke ignores /spec/replicas" {
		t.Errorf("doctor says %q of what the hub keeps", said)
	}
	argo.Applied(t, "spoke", w.push(t, next, "second"))
	counts("a commit", scaled)

	w.hub.Kubectl(t, "", "patch", "applications.argoproj.io/spoke", "-n", "argocd", "--type=json", "-p", `[{"op":"remove","path":"/spec/ignoreDifferences"}]`)
	if said := w.examine(t)["spoke"]; said != "" {
		t.Errorf("the rule is gone in the hub, and doctor says %q", said)
	}
	argo.Applied(t, "spoke", w.origin.Tip("main"))
	counts("the rule was removed", next)
}
