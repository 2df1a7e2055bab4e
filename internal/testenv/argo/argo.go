// Package argo starts the real controller of Argo Rollouts for tests, with a real
// control plane. It runs without a service mesh: the only traffic router is the one
// that writes Ingresses. A test gives the result of an analysis over HTTP.
package argo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// User is the user of Argo Rollouts in the API server.
const User = "system:serviceaccount:argo-rollouts:argo-rollouts"

// Start starts the controller once its resources are there, and returns its
// version, v1.10.1. It ends when the test ends. Where it cannot be had the test is
// skipped, in CI it fails.
func Start(t testing.TB, cp *controlplane.ControlPlane) (version string) {
	t.Helper()
	bin := program.Folder(t, "a real Argo Rollouts", filepath.Join("scripts", "argo", "build.sh"))
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(bin, name))
		if err != nil {
			t.Fatalf("start Argo Rollouts: %v", err)
		}
		return string(text)
	}
	cp.Apply(t, read("crds.yaml"))
	cp.Established(t)
	err := controlplane.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		return cp.Read(ctx, "/apis/argoproj.io/v1alpha1/rollouts", &struct{}{}) // 429 for a moment
	})
	if err != nil {
		t.Fatalf("start Argo Rollouts: %v", err)
	}
	// Its own ports are of no use here, and can only be ones of all interfaces:
	// with 0 they collide with nothing.
	cp.Run(t, "", nil, filepath.Join(bin, "rollouts-controller"),
		"--kubeconfig="+cp.KubeconfigAs(t, User, "system:masters"), "--leader-elect=false",
		"--metricsPort=0", "--healthzPort=0", "--loglevel=info")
	return strings.TrimSpace(read("version"))
}
