package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCommand runs the built command like a shell. The result goes to stdout, errors go
// to stderr, and the exit status shows the difference.
func TestCommand(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	binary := filepath.Join(t.TempDir(), "gitlatch")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, c := range []struct {
		args        string
		status      int
		out, stderr string // the start of each
	}{
		{"version", 0, "gitlatch ", ""},
		{"", 0, "gitlatch rounds the replica counts of live workloads", ""},
		{"tick --help", 0, `"gitlatch tick" samples the cluster once`, ""},
		{"tick", 2, "", "gitlatch: no site given. Use --config FILE"},
		{"tick --config /nowhere/config.yaml", 2, "", "gitlatch: --config: /nowhere/config.yaml: no such file"},
		{"frob", 2, "", `gitlatch: unknown command "frob"`},
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, binary, strings.Fields(c.args)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		begins := func(got, want string) bool { return strings.HasPrefix(got, want) && (want != "" || got == "") }
		if status := cmd.ProcessState.ExitCode(); status != c.status || !begins(stdout.String(), c.out) || !begins(stderr.String(), c.stderr) {
			t.Errorf("gitlatch %s: status %d, stdout %.80q, stderr %.200q", c.args, status, &stdout, &stderr)
		}
	}
}
