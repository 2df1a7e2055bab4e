package controlplane

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// binaries returns the folder that contains the programs: the one that
// GITLATCH_CONTROLPLANE names, or the one that scripts/controlplane/build.sh builds
// once. program.Folder documents the case in which it fails.
func binaries(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("GITLATCH_CONTROLPLANE"); dir != "" && !testing.Short() {
		return dir
	}
	return program.Folder(t, "a real control plane", filepath.Join("scripts", "controlplane", "build.sh"))
}
