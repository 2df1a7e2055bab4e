// Package helm runs real Helm programs for tests, and starts the controllers of Flux that
// apply charts: the source-controller, which packs a chart from a repository, and the
// helm-controller, which installs and upgrades it.
package helm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// User is the user of the helm-controller in the API server.
const User = "system:serviceaccount:flux-system:helm-controller"

// commandDeadline bounds one command of Helm, which takes a second of an idle machine.
const commandDeadline = 5 * time.Minute

// Major is a major version of Helm.
type Major string

// The versions that can run. Argo CD runs Helm 4.
const (
	V3 Major = "helm3"
	V4 Major = "helm4"
)

// Dir returns the folder of a Helm program with the name helm. If it cannot be built, the
// test is skipped, and in CI it fails.
func Dir(t testing.TB, major Major) string {
	t.Helper()
	return filepath.Join(folder(t), string(major))
}

func folder(t testing.TB) string {
	t.Helper()
	return program.Folder(t, "a real Helm", filepath.Join("scripts", "helm", "build.sh"))
}

// Run runs a command of Helm as an administrator, and returns an error with its output if
// it fails.
func Run(t testing.TB, cp *controlplane.ControlPlane, major Major, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(Dir(t, major), "helm"), args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=" + cp.Kubeconfig()}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("helm %s: %w\n%s", args[0], err, output.Bytes())
	}
	return nil
}

// StartFlux starts both controllers, and returns once they work. They end when the test
// ends.
func StartFlux(t testing.TB, cp *controlplane.ControlPlane) {
	t.Helper()
	bin := folder(t)
	definitions, err := os.ReadFile(filepath.Join(bin, "crds.yaml"))
	if err != nil {
		t.Fatalf("start Flux: %v", err)
	}
	cp.Kubectl(t, string(definitions), "create", "-f", "-")
	cp.Apply(t, "{apiVersion: v1, kind: Namespace, metadata: {name: flux-system}}")
	cp.Established(t)

	free := controlplane.Ports(t, 3)
	artifacts, sources, releases := free[0], free[1], free[2]
	variables := []string{"KUBECONFIG=" + cp.KubeconfigAs(t, User, "system:masters"), "RUNTIME_NAMESPACE=flux-system", "TMPDIR=" + t.TempDir(), "HOME=" + t.TempDir()}
	common := []string{"--watch-all-namespaces", "--metrics-addr=0", "--concurrent=8", "--interval-jitter-percentage=0",
		"--requeue-dependency=1s", "--kube-api-qps=500", "--kube-api-burst=1000"}
	cp.Run(t, "http://"+sources+"/readyz", variables, filepath.Join(bin, "source-controller"),
		append(common, "--health-addr="+sources, "--storage-path="+t.TempDir(), "--storage-addr="+artifacts, "--storage-adv-addr="+artifacts)...)
	cp.Run(t, "http://"+releases+"/readyz", variables, filepath.Join(bin, "helm-controller"),
		append(common, "--health-addr="+releases)...)
}
