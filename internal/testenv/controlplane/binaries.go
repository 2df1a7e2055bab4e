package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// buildDeadline bounds the one build from Go modules, which takes some minutes
// of two idle cores.
const buildDeadline = 45 * time.Minute

// binaries returns the folder that holds the programs: the one that
// GITLATCH_CONTROLPLANE names, or the one that scripts/controlplane/build.sh
// makes once. Under -short, and where they cannot be had outside of CI, it
// skips the test and says so.
func binaries(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real control plane, which -short leaves out: run the test without -short")
	}
	if dir := os.Getenv("GITLATCH_CONTROLPLANE"); dir != "" {
		return dir
	}
	dir, err := build()
	switch {
	case err == nil:
		return dir
	case os.Getenv("CI") == "true":
		t.Fatalf("build the control plane: %v", err)
	default:
		t.Skipf("needs a real control plane, which cannot be built here: %v", err)
	}
	return ""
}

// build runs the build script, one test binary at a time, so that a cold cache
// is filled once.
func build() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cache := filepath.Join(root, ".cache")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(cache, "controlplane.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close() // which also unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), buildDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(root, "scripts", "controlplane", "build.sh"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, stderr.Bytes())
	}
	return strings.TrimSpace(stdout.String()), nil
}

// moduleRoot returns the folder of the module that the test belongs to: go test
// runs a test in the folder of its package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in the folder of the test or above it")
		}
		dir = parent
	}
}
