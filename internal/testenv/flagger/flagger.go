// Package flagger starts a real Flagger for tests, with a real control plane. Without a
// service mesh and without Prometheus it promotes blue-green, and webhooks give the
// result of an analysis for a test.
package flagger

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// User is the user of Flagger in the API server.
const User = "system:serviceaccount:flagger-system:flagger"

// nowhere is an address without metrics. Flagger reports that once and continues.
const nowhere = "http://127.0.0.1:1"

// Start starts Flagger once its resources are there. It ends when the test ends.
// Where it cannot be had the test is skipped, in CI it fails.
func Start(t testing.TB, cp *controlplane.ControlPlane) {
	t.Helper()
	bin := program.Folder(t, "a real Flagger", filepath.Join("scripts", "flagger", "build.sh"))
	definitions, err := os.ReadFile(filepath.Join(bin, "crd.yaml"))
	if err != nil {
		t.Fatalf("start Flagger: %v", err)
	}
	cp.Apply(t, string(definitions))
	cp.Established(t)
	// Its own port is of no use here, and can only be one of all interfaces: with 0
	// it collides with nothing.
	cp.Run(t, "", nil, filepath.Join(bin, "flagger"),
		"-kubeconfig="+cp.KubeconfigAs(t, User, "system:masters"), "-port=0",
		"-mesh-provider=kubernetes", "-metrics-server="+nowhere, "-control-loop-interval=1s", "-log-level=info")
}
