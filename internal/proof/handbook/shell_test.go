package handbook

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// A shell runs the commands of a page, as a user in an empty folder. It has gitlatch,
// kubectl and git.
type shell struct {
	dir        string // the present folder
	kubeconfig string
	env        []string
}

// fleetURL is the repository in the commands of pages.
const fleetURL = "https://git.example.com/platform/fleet.git"

// newShell builds gitlatch into a folder of home. Each use of fleetURL opens the
// repository in the folder origin.
func newShell(t *testing.T, home, origin, kubeconfig string) *shell {
	t.Helper()
	bin := filepath.Join(home, "bin")
	built := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "gitlatch"), "./functions/gitlatch")
	built.Dir = root
	if out, err := built.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return &shell{dir: t.TempDir(), kubeconfig: kubeconfig, env: []string{
		"PATH=" + bin + ":" + controlplane.Binaries(t) + ":" + os.Getenv("PATH"), "HOME=" + home,
		"GIT_AUTHOR_NAME=p", "GIT_AUTHOR_EMAIL=p@example.com", "GIT_COMMITTER_NAME=p", "GIT_COMMITTER_EMAIL=p@example.com",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_VALUE_0=" + fleetURL, "GIT_CONFIG_KEY_0=url." + origin + ".insteadOf",
	}}
}

// run runs a command, and returns its output and its exit status.
func (s *shell) run(t *testing.T, command string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir, cmd.Env = s.dir, append(s.env, "KUBECONFIG="+s.kubeconfig)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("$ %s: %v\n%s", command, err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// must runs a command that must succeed.
func (s *shell) must(t *testing.T, command string) string {
	t.Helper()
	out, status := s.run(t, command)
	if status != 0 {
		t.Fatalf("$ %s: exit status %d\n%s", command, status, out)
	}
	t.Logf("$ %s\n%s", command, out)
	return out
}
