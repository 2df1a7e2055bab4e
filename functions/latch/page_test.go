//go:build aws

package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
)

// A reader follows the page of AWS in a shell, with separate AWS credentials.
type reader struct {
	dir string
	env []string
}

// run runs a command, and returns its output and its exit status.
func (r reader) run(t *testing.T, command string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("$ %s: %v\n%s", command, err, out)
	}
	t.Logf("$ %s\n%s", command, out)
	return string(out), cmd.ProcessState.ExitCode()
}

func (r reader) must(t *testing.T, command string) string {
	t.Helper()
	out, status := r.run(t, command)
	if status != 0 {
		t.Fatalf("$ %s: exit status %d\n%s", command, status, out)
	}
	return out
}

// reader returns a reader with an access entry for doctor, and with gitlatch and kubectl.
func (s *stack) reader(t *testing.T) reader {
	t.Helper()
	r := reader{dir: t.TempDir()}
	bin := t.TempDir()
	built := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "gitlatch"), "../gitlatch")
	if out, err := built.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	infra, err := filepath.Abs("../../infra")
	if err == nil {
		err = os.Symlink(infra, filepath.Join(r.dir, "infra"))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.cp.Kubectl(t, "", "apply", "-k", "../../infra/rbac/doctor")
	s.enter(t, "arn:aws:iam::"+account+":role/platform", "gitlatch:people")
	key := s.eks.Key("arn:aws:sts::" + account + ":assumed-role/platform/alice")
	services := gateway.Start(t, map[string]string{
		"dynamodb": s.state.URL, "eks": s.eks.URL, "sts": s.eks.URL, "secretsmanager": s.moto.URL, "iam": s.moto.URL})
	services.Instead("iam:GetRole", gateway.Fault(http.StatusForbidden, "AccessDenied", "no"))
	r.env = []string{
		"PATH=" + bin + ":" + controlplane.Binaries(t) + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + s.cp.Kubeconfig(),
		"AWS_ENDPOINT_URL=" + services.URL, "AWS_REGION=" + moto.Region,
		"AWS_ACCESS_KEY_ID=" + key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey, "AWS_SESSION_TOKEN=" + key.SessionToken,
	}
	return r
}

// The page of AWS leads from a repository with manifests to the first checkpoint and the
// first drill: with a login like EKS's, on GitHub, and with the function of the stack. Other
// tests deploy the stack by SAM, and apply the folders by Flux and Argo CD: here, kubectl
// applies the manifests of step 6.
func TestThePageOfAWSLeadsToTheFirstDrill(t *testing.T) {
	t.Parallel()
	c := startCloud(t)
	c.cp.Metrics(t, func(string) string { return "7m" })
	const site = "prod-eu"
	s := c.deploy(t, plan{name: site, provider: "github", mode: "direct", files: map[string]string{
		"apps/kustomization.yaml": "resources: [web.yaml]\n",
		"apps/web.yaml":           controlplane.Workload("Deployment", site, "web") + "\n---\n" + controlplane.Autoscaler("Deployment", site, "web"),
	}})
	s.scales(t, 42)
	c.cp.Apply(t, strings.Replace(controlplane.Autoscaler("Deployment", site, "web"), "stabilizationWindowSeconds: 0", "selectPolicy: Disabled", 1))
	c.cp.Kubectl(t, "", "wait", "-n", site, "--for=condition=ScalingActive", "hpa/web", "--timeout=240s")

	_, text, _ := strings.Cut(docs.Text("aws"), "\n## From nothing to the first drill\n")
	text, _, _ = strings.Cut(text, "\n## ")
	text = regexp.MustCompile(`\\\n\s+`).ReplaceAllString(text, "") // a command of several lines
	var commands []string
	for _, m := range regexp.MustCompile(`(?m)^    \$ (.*)$`).FindAllStringSubmatch(text, -1) {
		commands = append(commands, m[1])
	}
	if len(commands) != 8 {
		t.Fatalf("the page has %d commands: %q", len(commands), commands)
	}
	r := s.reader(t)

	// 1. to 4. The secret exists.
	r.must(t, "gitlatch version")
	out, status := r.run(t, commands[1]+" --cluster "+cluster+" --site "+site+" --repository https://github.com/"+github.Owner+"/"+site+" --credential "+s.secretName())
	if status != 0 || strings.Contains(out, "Fix:") {
		t.Fatalf("init --aws exits with status %d and prints\n%s", status, out)
	}

	// 5. Only the address of GitHub differs from the page.
	config, err := os.ReadFile(filepath.Join(r.dir, "prod-eu.yaml"))
	if err == nil {
		enterprise := strings.Replace(string(config), "https://github.com/"+github.Owner+"/"+site, s.github.Address(site), 1)
		err = os.WriteFile(filepath.Join(r.dir, "prod-eu.yaml"), []byte(enterprise), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := r.must(t, commands[3]); !strings.Contains(out, "commit "+s.origin.Tip("main")) {
		t.Errorf("init prints\n%s", out)
	}

	// 6. and 7. The pull request adds the manifests. This cluster has no Flux, so kubectl applies
	// the roles, and the two folders that Flux would apply.
	r.must(t, commands[4])
	c.cp.Kubectl(t, "", "create", "namespace", "flux-system")
	manifests := read(t, filepath.Join(r.dir, "gitlatch-prod-eu.yaml"))
	s.origin.Push(t, "main", map[string]string{"flux/gitlatch.yaml": manifests}, "add the manifests")
	for object := range strings.SplitSeq(manifests, "---\n") {
		if !strings.Contains(object, "apiVersion: kustomize.toolkit.fluxcd.io/") && strings.Contains(object, "\nkind: ") {
			c.cp.Apply(t, object)
		}
	}
	for _, folder := range []string{"path: checkpoints/admission\n", "path: " + checkpoint.Directory(site) + "\n"} {
		if !strings.Contains(manifests, folder) {
			t.Errorf("Flux does not apply %s:\n%s", folder, manifests)
		}
	}
	c.cp.Apply(t, s.origin.Show(t, "main", admission.Path), s.origin.Show(t, "main", checkpoint.SitePath(site)))

	// 8. and 9. doctor, and the first two ticks of the function.
	r.must(t, commands[5])
	s.ticks(t)
	s.ticks(t)
	if log := s.origin.Log(t, "main"); !strings.HasPrefix(log[0], "latch("+site+"): "+site+"/web new -> 50") {
		t.Fatalf("the log is %q", log)
	}

	// 10. No tool creates the workload in this cluster, so the drill gives a range.
	out, status = r.run(t, commands[7])
	if flat := strings.Join(strings.Fields(out), " "); status != 1 || !strings.Contains(flat, "a rebuild starts with 0 % to 100 % of the needed pods") || strings.Contains(flat, "not-read") {
		t.Errorf("the drill exits with status %d and prints\n%s", status, out)
	}
}
