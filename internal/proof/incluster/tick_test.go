//go:build cluster || prometheus

package incluster

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const shop = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"

// recipe copies infra/cluster as a user would, with edits to files of its example.
func recipe(t *testing.T, edits map[string][2]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"rbac", "cluster"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join("../../../infra", folder))); err != nil {
			t.Fatal(err)
		}
	}
	example := filepath.Join(dir, "cluster/example")
	for name, edit := range edits {
		text, err := os.ReadFile(filepath.Join(example, name))
		if err != nil || !strings.Contains(string(text), edit[0]) {
			t.Fatalf("%s: no %q, error %v", name, edit[0], err)
		}
		write(t, filepath.Join(example, name), strings.Replace(string(text), edit[0], edit[1], 1))
	}
	return example
}

// The applied objects, the pod's settings and the permissions in the API server are
// real. The kubelet and the image are not.
func TestACronJobTicksByTheRightsOfItsServiceAccount(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 1)
	cp.Apply(t, shop, controlplane.Workload("Deployment", "shop", "web"), controlplane.Autoscaler("Deployment", "shop", "web"))
	cp.Kubectl(t, "", "wait", "-n", "shop", "deployment/web", "--for=jsonpath={.status.readyReplicas}=2", "--timeout=2m")

	server := gitserver.Start(t)
	server.RequireAuth("x-access-token", "s3cret")
	origin := server.Create(t, "fleet", map[string]string{
		"gitlatch.yaml":           "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies: [{name: default, match: {}, series: 1-2-5}]\n",
		"apps/kustomization.yaml": "resources: [web.yaml]\n",
		"apps/web.yaml":           controlplane.Workload("Deployment", "shop", "web"),
	})
	example := recipe(t, map[string][2]string{"config.yaml": {"https://git.example.com/platform/fleet.git", server.URL("fleet")}})
	cp.Kubectl(t, "", "apply", "-k", example)
	cp.Kubectl(t, "", "create", "secret", "generic", "gitlatch", "-n", "gitlatch", "--from-literal=token=s3cret")
	pod := start(t, cp, "gitlatch")

	for _, want := range []string{"sample 1 of 2", "\ncommit ", "1 unchanged workload"} { // these depend on the state on the volume
		if status, log := pod.run(); status != 0 || !strings.Contains(log, want) {
			t.Fatalf("a tick ended with %d, want %q:\n%s", status, want, log)
		}
	}
	if record := origin.Show(t, "main", "checkpoints/prod-eu/shop.levels.yaml"); !strings.Contains(record, "\n  deployment.web: \"2\"\n") {
		t.Errorf("the record is\n%s", record)
	}

	// A missing role shows in the output, and the same command restores it.
	cp.Kubectl(t, "", "delete", "clusterrolebinding", "gitlatch")
	if status, log := pod.run(); status == 0 || !strings.Contains(log, `"system:serviceaccount:gitlatch:gitlatch"`) || !strings.Contains(log, "forbidden") {
		t.Errorf("without its rights a tick ended with %d:\n%s", status, log)
	}
	cp.Kubectl(t, "", "apply", "-k", example)
	if status, log := pod.run(); status != 0 {
		t.Errorf("with its rights again a tick ended with %d:\n%s", status, log)
	}

	installs(t, cp)
	proposes(t, cp)
	checks(t, cp, server.URL("fleet"))
	releases(t, cp, server.URL("fleet"))

	// With the state on AWS the volume is gone, and the API server accepts the
	// manifests.
	aws := recipe(t, map[string][2]string{
		"kustomization.yaml": components("checks", "dynamodb"),
		"config.yaml":        {"bolt: /var/lib/gitlatch/state.db", "dynamodb: gitlatch-state"},
	})
	if all := cp.Kubectl(t, "", "apply", "-k", aws, "--dry-run=server", "-o", "yaml"); strings.Contains(all, "PersistentVolumeClaim") || strings.Contains(all, "/var/lib/gitlatch") {
		t.Errorf("with the state in DynamoDB there is a volume:\n%s", all)
	}
}

// installs tests that the command in infra/cluster/kustomization.yaml needs no clone and no
// edit: kubectl fetches the folder at the tag, and the CronJob has the image of the tag.
func installs(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	files := map[string]string{}
	repository := os.DirFS("../../..")
	if err := fs.WalkDir(repository, "infra", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(repository, path)
		files[path] = string(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	server, release := gitserver.Start(t), tag(t)
	server.Create(t, "gitlatch", files).Git(t, "tag", release, "main")
	cp.Kubectl(t, "", "delete", "cronjob", "gitlatch", "-n", "gitlatch")
	cp.Kubectl(t, "", "apply", "-k", server.URL("gitlatch")+"//infra/cluster?ref="+release)
	image := cp.Kubectl(t, "", "get", "cronjob", "gitlatch", "-n", "gitlatch", "-o", "jsonpath={.spec.jobTemplate.spec.template.spec.containers[0].image}")
	if !strings.HasSuffix(image, "/gitlatch:"+release) {
		t.Errorf("the CronJob of the release %s has the image %s", release, image)
	}
}

// components returns the edit of the example that adds components, in the order in which
// the example lists them.
func components(names ...string) [2]string {
	const listed = "# components:\n#   - ../checks\n#   - ../prometheus\n#   - ../release\n#   - ../dynamodb\n"
	added := "components:\n"
	for line := range strings.Lines(listed) {
		for _, name := range names {
			if line == "#   - ../"+name+"\n" {
				added += line[1:]
			}
		}
	}
	return [2]string{listed, added}
}

// proposes tests that a tick with the key of a GitHub App in a mounted Secret opens a pull
// request, without AWS.
func proposes(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	host := github.Start(t)
	host.Install(github.App{ID: 7, InstallationID: 70, Key: &key.PublicKey})
	origin := host.Create(t, "fleet", map[string]string{
		"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies: [{name: default, match: {}, series: 1-2-5}]\n",
	})
	tip := origin.Tip("main")
	const url = "  url: https://git.example.com/platform/fleet.git\n" +
		"  # The key token of the Secret gitlatch. It may read and push this repository.\n" +
		"  credential: file:/etc/gitlatch/secrets/token\n"
	cp.Kubectl(t, "", "apply", "-k", recipe(t, map[string][2]string{"config.yaml": {url, fmt.Sprintf(
		"  url: %s\n  credential: file:/etc/gitlatch/secrets/app.json\n  mode: proposal\n", host.Address("fleet"))}}))
	app, err := json.Marshal(map[string]any{
		"appId": 7, "installationId": 70,
		"privateKey": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "app.json")
	write(t, file, string(app))
	cp.Kubectl(t, "", "delete", "secret", "gitlatch", "-n", "gitlatch")
	cp.Kubectl(t, "", "create", "secret", "generic", "gitlatch", "-n", "gitlatch", "--from-literal=token=s3cret", "--from-file="+file)

	pod := start(t, cp, "gitlatch")
	for _, want := range []string{"sample 1 of 2", "\nproposed https://"} {
		if status, log := pod.run(); status != 0 || !strings.Contains(log, want) || strings.Contains(log, "PRIVATE") {
			t.Fatalf("a tick ended with %d, want %q:\n%s", status, want, log)
		}
	}
	title, body, _ := host.Words(t, "1")
	if !strings.Contains(body, "shop/deployment/web") || origin.Tip("main") != tip {
		t.Errorf("main is at %s, was at %s, and the pull request is %s:\n%s", origin.Tip("main"), tip, title, body)
	}
}

// checks tests the component with the daily doctor and the weekly drill, with the rights
// of its ServiceAccount.
func checks(t *testing.T, cp *controlplane.ControlPlane, url string) {
	t.Helper()
	cp.Kubectl(t, "", "apply", "-k", recipe(t, map[string][2]string{
		"kustomization.yaml": components("checks"),
		"config.yaml":        {"https://git.example.com/platform/fleet.git", url},
	}))
	policy, err := admission.Policy{}.Format()
	if err != nil {
		t.Fatal(err)
	}
	cp.Kubectl(t, string(policy), "apply", "--server-side", "-f", "-")
	// The levels are not in the cluster, which is a problem that a doctor reports by failing.
	status, log := start(t, cp, "gitlatch-doctor").run()
	if status != 1 || !strings.Contains(log, "shop/web") || strings.Contains(log, "forbidden") {
		t.Errorf("doctor ended with %d:\n%s", status, log)
	}
	// The log of a drill is its page.
	status, log = start(t, cp, "gitlatch-drill").run()
	if status == 2 || !strings.HasPrefix(log, "<!doctype html>") || !strings.Contains(log, `<span class="quiet">shop/</span>web`) || strings.Contains(log, "forbidden") {
		t.Errorf("drill ended with %d:\n%s", status, log)
	}
}

// releases tests the component that removes expired brakes, with the rights of its
// ServiceAccount.
func releases(t *testing.T, cp *controlplane.ControlPlane, url string) {
	t.Helper()
	cp.Kubectl(t, "", "apply", "-k", recipe(t, map[string][2]string{
		"kustomization.yaml": components("release"),
		"config.yaml":        {"https://git.example.com/platform/fleet.git", url},
	}))
	cp.Kubectl(t, "", "apply", "-k", "../../../infra/rbac/restore") // as a user does before a restore
	pod := start(t, cp, "gitlatch-release")
	for _, c := range []struct{ until, said, left string }{
		{"2026-03-02T12:00:00Z", "no brake to release; active: 1 brake", "Disabled"},
		{"2026-03-02T07:00:00Z", "horizontalpodautoscaler shop/web: may scale down again", ""},
		{"", "no brake to release", ""},
	} {
		if c.until != "" {
			cp.Kubectl(t, "", "patch", "-n", "shop", "hpa", "web", "--type=merge", "-p",
				`{"metadata": {"annotations": {"gitlatch.dev/brake": "{\"until\":\"`+c.until+`\",\"replaced\":\"\"}"}}, "spec": {"behavior": {"scaleDown": {"selectPolicy": "Disabled"}}}}`)
		}
		status, log := pod.run()
		if status != 0 || !strings.Contains(log, c.said) {
			t.Errorf("until %q: a release ended with %d, want %q:\n%s", c.until, status, c.said, log)
		}
		if got := cp.Kubectl(t, "", "get", "-n", "shop", "hpa", "web", "-o", "jsonpath={.spec.behavior.scaleDown.selectPolicy}"); !strings.Contains(got, c.left) || c.left == "" && strings.Contains(got, "Disabled") {
			t.Errorf("until %q: selectPolicy %q, want %q", c.until, got, c.left)
		}
	}
}
