// Package flux starts a real kustomize-controller of Flux for tests, with a real
// control plane.
//
// Its source-controller is a fake. It packs the tip of each repository that a
// GitRepository names, with git, serves the artifact on loopback with its digest, and
// writes it to the status of the GitRepository, like the real controller. Flux alone
// applies objects to the cluster.
package flux

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// User is the user of the controller in the API server.
const User = "system:serviceaccount:flux-system:kustomize-controller"

// appliedDeadline bounds one reconcile, which takes a second of an idle machine.
const appliedDeadline = 5 * time.Minute

//go:embed sources.yaml
var sources string

// A Flux is one that runs.
type Flux struct{ cp *controlplane.ControlPlane }

// Start starts the controller, with the repositories that a GitRepository may
// name by URL, and returns once it works. It ends when the test ends. Where it
// cannot be had the test is skipped, in CI it fails. The flags of the controller come after
// the harness's own, so that they win.
func Start(t testing.TB, cp *controlplane.ControlPlane, repositories map[string]*gitserver.Origin, flags ...string) *Flux {
	t.Helper()
	bin := program.Folder(t, "a real Flux", filepath.Join("scripts", "flux", "build.sh"))
	kustomizations, err := os.ReadFile(filepath.Join(bin, "kustomizations.yaml"))
	if err != nil {
		t.Fatalf("start Flux: %v", err)
	}
	cp.Apply(t, string(kustomizations), sources, "{apiVersion: v1, kind: Namespace, metadata: {name: flux-system}}")
	cp.Established(t)

	health := controlplane.Ports(t, 1)[0]
	cp.Run(t, "http://"+health+"/readyz",
		[]string{"KUBECONFIG=" + cp.KubeconfigAs(t, User, "system:masters"), "RUNTIME_NAMESPACE=flux-system", "TMPDIR=" + t.TempDir()},
		filepath.Join(bin, "kustomize-controller"),
		append([]string{"--watch-all-namespaces", "--health-addr=" + health, "--metrics-addr=0",
			"--no-remote-bases", "--interval-jitter-percentage=0", "--requeue-dependency=1s"}, flags...)...)
	serve(t, cp, repositories)
	return &Flux{cp}
}

// Applied waits until a Kustomization in flux-system has applied a commit.
func (f *Flux) Applied(t testing.TB, name, commit string) {
	t.Helper()
	f.wait(t, name, "applies "+commit, func(s status) bool {
		return strings.HasSuffix(s.LastAppliedRevision, ":"+commit)
	})
}

// Fails waits until Flux reports a failure of a Kustomization in flux-system, with a
// text in the reason.
func (f *Flux) Fails(t testing.TB, name, text string) {
	t.Helper()
	f.wait(t, name, "fails with "+text, func(s status) bool {
		for _, c := range s.Conditions {
			if c.Type == "Ready" && c.Status == "False" && strings.Contains(c.Message, text) {
				return true
			}
		}
		return false
	})
}

// Reconcile has Flux reconcile a Kustomization in flux-system now, and waits
// until it has.
func (f *Flux) Reconcile(t testing.TB, name string) {
	t.Helper()
	at := time.Now().Format(time.RFC3339Nano)
	f.cp.Kubectl(t, "", "annotate", "--overwrite", "-n", "flux-system", "kustomizations/"+name, "reconcile.fluxcd.io/requestedAt="+at)
	f.wait(t, name, "reconciles", func(s status) bool {
		return s.LastHandledReconcileAt == at && s.LastAppliedRevision == s.LastAttemptedRevision
	})
}

// status has the fields of a Kustomization's status that the tests read.
type status struct {
	LastAppliedRevision, LastAttemptedRevision, LastHandledReconcileAt string

	Conditions []struct{ Type, Status, Message string }
}

// wait polls the status of a Kustomization until holds accepts it. If it never does,
// wait fails with Flux's conditions.
func (f *Flux) wait(t testing.TB, name, what string, holds func(status) bool) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), appliedDeadline, func(ctx context.Context) error {
		var object struct{ Status status }
		if err := f.cp.Read(ctx, "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/"+name, &object); err != nil {
			return err
		}
		if holds(object.Status) {
			return nil
		}
		return fmt.Errorf("it is %+v", object.Status)
	})
	if err != nil {
		t.Fatalf("wait until Kustomization %s %s: %v", name, what, err)
	}
}
