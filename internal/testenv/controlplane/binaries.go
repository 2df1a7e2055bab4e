package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// Binaries returns the folder that contains the programs: the one that
// GITLATCH_CONTROLPLANE names, or the one that scripts/controlplane/build.sh builds
// once. program.Folder documents the case in which it fails.
func Binaries(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("GITLATCH_CONTROLPLANE"); dir != "" {
		return dir
	}
	return program.Folder(t, "a real control plane", filepath.Join("scripts", "controlplane", "build.sh"))
}

// Minor returns the minor version of the API server that Start starts, as in Kubernetes
// 1.x. It starts no control plane.
func Minor(t testing.TB) (minor int) {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), filepath.Join(Binaries(t), "kube-apiserver"), "--version").Output()
	if err == nil {
		_, err = fmt.Sscanf(string(version), "Kubernetes v1.%d.", &minor)
	}
	if err != nil {
		t.Fatalf("read the version of the API server from %q: %v", version, err)
	}
	return minor
}
