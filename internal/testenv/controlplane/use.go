package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// commandDeadline bounds one kubectl.
const commandDeadline = 5 * time.Minute

// Kubectl runs kubectl as an administrator with the given input and returns its output.
// It fails the test if kubectl fails.
func (cp *ControlPlane) Kubectl(t testing.TB, input string, args ...string) string {
	t.Helper()
	printed, err := cp.TryKubectl(t.Context(), input, args...)
	if err != nil {
		t.Fatal(err)
	}
	return printed
}

// TryKubectl is Kubectl where kubectl may fail. The error has what kubectl printed.
func (cp *ControlPlane) TryKubectl(ctx context.Context, input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(cp.bin, "kubectl"), args...)
	cmd.Env = []string{"KUBECONFIG=" + cp.kubeconfig, "HOME=" + cp.dir, "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.String(), nil
}

// Apply applies manifests, each one or more YAML documents, as a GitOps tool
// does: server-side, by force, as the manager "test".
func (cp *ControlPlane) Apply(t testing.TB, manifests ...string) {
	t.Helper()
	cp.Kubectl(t, strings.Join(manifests, "\n---\n"), "apply", "--server-side", "--force-conflicts", "--field-manager=test", "-f", "-")
}

// Nodes adds n nodes, each with room for 1,000 pods, and waits until they are
// ready. Call it from one goroutine at a time.
func (cp *ControlPlane) Nodes(t testing.TB, n int) {
	t.Helper()
	var all strings.Builder
	for range n {
		cp.nodes++
		fmt.Fprintf(&all, `---
apiVersion: v1
kind: Node
metadata: {name: node-%d, labels: {kubernetes.io/hostname: node-%d}}
status:
  capacity: &room {cpu: "1000", memory: 4Ti, pods: "1000"}
  allocatable: *room
`, cp.nodes, cp.nodes)
	}
	cp.Kubectl(t, all.String(), "create", "-f", "-")
	cp.Kubectl(t, "", "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=280s")
}
