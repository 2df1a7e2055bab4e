package demo

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// branch is the branch of the demo's team.
const branch = "main"

// git runs a git command in a repository, without the git configuration of the machine,
// and returns its output.
func git(ctx context.Context, repository string, in []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", repository}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_DEFAULT_HASH=sha1", "LC_ALL=C", "TZ=UTC")
	cmd.Stdin = bytes.NewReader(in)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return string(out), nil
}

// create makes a bare repository with files at a path, and the configuration of the site
// in the same folder, and opens the repository.
func create(ctx context.Context, path string, files map[string]string, at time.Time) (config.Config, *gitwire.Repository, error) {
	dir := filepath.Dir(path)
	c, err := config.Default(path)
	if err != nil {
		return c, nil, err
	}
	c.Site = siteName
	c.State.Bolt = statePath(dir)
	c.Repository.Branch = branch
	if err := createRepository(ctx, path, files, at); err != nil {
		return c, nil, fmt.Errorf("make repository %s: %w", path, err)
	}
	if err := os.WriteFile(configPath(dir), configFile(path, dir), 0o644); err != nil {
		return c, nil, err
	}
	repository, err := local.Git(c, func(string) string { return "" })
	return c, repository, err
}

// createRepository makes a bare repository at a path, as on the team's host, with one
// commit at the given time.
func createRepository(ctx context.Context, path string, files map[string]string, at time.Time) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	// A template of the machine could contain hooks.
	if _, err := git(ctx, path, nil, "init", "--quiet", "--bare", "--template=", "--initial-branch="+branch); err != nil {
		return err
	}
	_, err := git(ctx, path, firstCommit(files, at), "fast-import", "--quiet")
	return err
}

// firstCommit returns the stream for git fast-import to make the commit.
func firstCommit(files map[string]string, at time.Time) []byte {
	var b bytes.Buffer
	data := func(text string) { fmt.Fprintf(&b, "data %d\n%s\n", len(text), text) }
	fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter Platform Team <platform@example.com> %d +0000\n", branch, at.Unix())
	data("fleet: manifests and the policy of gitlatch\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "M 100644 inline %s\n", path)
		data(files[path])
	}
	return b.Bytes()
}

// teamFiles returns the files in the team's repository: the policy of the site, and the
// manifests of its workloads by namespace.
func teamFiles(t *traces.Trace) map[string]string {
	files := map[string]string{policyPath: policyFile, "README.md": readme}
	resources := map[string][]string{}
	for _, w := range t.Workloads {
		if w.ID.Kind != workload.Deployment {
			continue
		}
		files[fmt.Sprintf("apps/%s/%s.yaml", w.ID.Namespace, w.ID.Name)] = manifest(w)
		resources[w.ID.Namespace] = append(resources[w.ID.Namespace], w.ID.Name+".yaml")
	}
	for namespace, of := range resources {
		files[fmt.Sprintf("apps/%s/kustomization.yaml", namespace)] = fmt.Sprintf(kustomization, strings.Join(of, "\n- "))
	}
	return files
}

// configPath returns the path of the file of kind Config that a demo leaves in its
// folder.
func configPath(dir string) string { return filepath.Join(dir, "gitlatch-demo.yaml") }

// configFile returns a configuration for the command to find a demo's repository and
// state. No command with this configuration reads or changes a real cluster.
func configFile(repository, dir string) []byte {
	return fmt.Appendf([]byte(config.Modeline(config.KindConfig)), `apiVersion: %s
kind: %s
site: %s
cluster: {context: %s}
state: {bolt: %q}
repository: {url: %q, branch: %s}
`, config.APIVersion, config.KindConfig, siteName, local.Simulated, statePath(dir), repository, branch)
}

// statePath returns the path of the state file.
func statePath(dir string) string { return filepath.Join(dir, "state.db") }

const readme = `# fleet

apps/ contains the manifests of each namespace. gitlatch writes checkpoints/: the
live replica counts, rounded.
`

const policyPath = "gitlatch.yaml"

const policyFile = `apiVersion: gitlatch.dev/v1alpha1
kind: Policy
mode: latch
`

const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- %s
`

// manifest returns a team's manifest of a workload. It has no replicas if an autoscaler
// sets them.
func manifest(w traces.Workload) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s\n  namespace: %s\nspec:\n", w.ID.Name, w.ID.Namespace)
	if w.Driver == workload.DrivenByNothing {
		fmt.Fprintf(&b, "  replicas: %d\n", w.Manifest)
	}
	fmt.Fprintf(&b, `  selector:
    matchLabels: {app.kubernetes.io/name: %[1]s}
  template:
    metadata:
      labels: {app.kubernetes.io/name: %[1]s}
    spec:
      containers:
      - name: %[1]s
        image: registry.example.com/%[2]s/%[1]s:v1
`, w.ID.Name, w.ID.Namespace)
	return b.String()
}
