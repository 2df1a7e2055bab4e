//go:build early

package handbook

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// Before Kubernetes 1.36, the API server does not know the folders. The restore of the handbook
// starts before Flux creates the workloads, and raises them to their levels. The control planes
// of earlier versions are built on demand, so make test-versions runs this test.
func TestARebuildBeforeAdmissionPolicies(t *testing.T) {
	t.Parallel()
	restore := commandsUnder(t, docs.Text("apply"), "## Before Kubernetes 1.36")
	home := t.TempDir()
	origin := gitserver.NewOrigin(t, filepath.Join(home, "origin.git"), shop)
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 1)
	cp.Metrics(t, func(string) string { return "7m" })
	sh := newShell(t, home, origin.Dir, cp.Kubeconfig())
	config := "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {bolt: prod-eu.db}\nperiod: 1h\nrepository: {url: " + origin.Dir + "}\n"
	if err := os.WriteFile(filepath.Join(sh.dir, "prod-eu.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	sh.must(t, "git clone --quiet "+fleetURL+" first && kubectl apply --server-side -k first/apps/shop")
	eventually(t, runs(cp, 2, 2)) // the autoscalers set their minimum once
	sh.must(t, "kubectl scale -n shop deployment/web --replicas=42 && kubectl scale -n shop statefulset/cart --replicas=9")
	eventually(t, runs(cp, 42, 9))
	sh.must(t, "kubectl wait -n shop --for=condition=ScalingActive hpa --all --timeout=240s")

	if out := sh.must(t, "gitlatch init -c prod-eu.yaml"); !strings.Contains(out, `start "gitlatch restore --wait"`) {
		t.Errorf("init does not name the restore:\n%s", out)
	}
	sh.must(t, "gitlatch tick -c prod-eu.yaml && gitlatch tick -c prod-eu.yaml")
	out, status := sh.run(t, "git -C first pull --quiet && kubectl apply --server-side -f first/checkpoints/admission -f first/checkpoints/prod-eu")
	if status == 0 || !strings.Contains(out, `no matches for kind "MutatingAdmissionPolicy"`) {
		t.Errorf("kubectl applies the folders with status %d and prints\n%s", status, out)
	}

	cp.Kubectl(t, "", "delete", "namespace", "shop")
	raise := exec.CommandContext(t.Context(), "bash", "-c", restore[0])
	raise.Dir, raise.Env = sh.dir, append(sh.env, "KUBECONFIG="+sh.kubeconfig)
	var printed strings.Builder
	raise.Stdout, raise.Stderr = &printed, &printed
	if err := raise.Start(); err != nil {
		t.Fatal(err)
	}
	tool := flux.Start(t, cp, map[string]*gitserver.Origin{fleetURL: origin})
	cp.Apply(t, applied)
	tool.Applied(t, "shop", origin.Tip("main"))
	err := raise.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w\n%s", err, printed.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, runs(cp, 50, 10))
}

// applied is a Flux Kustomization of the workloads.
const applied = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: "` + fleetURL + `", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec: {interval: 1m, prune: false, sourceRef: {kind: GitRepository, name: fleet}, path: apps/shop}
`
