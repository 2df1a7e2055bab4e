//go:build early

package handbook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// componentOf matches the edit of an overlay that init prints.
var componentOf = regexp.MustCompile(`edit (\S+):\n\n  (components: \S+ *\S*)\n`)

// admits reports whether a text recommends the admission policy of Kubernetes 1.36.
func admits(text string) bool { return strings.Contains(text, "render admission") }

// Before Kubernetes 1.36, init, render and doctor lead to the rule of Flux and name no
// admission policy. With the rule of Flux, doctor finds no problem, a tick commits a level,
// and a rebuild starts at this level. The control planes of earlier versions are built on
// demand, so make test-versions runs this test.
func TestTheQuickStartBeforeAdmissionPolicies(t *testing.T) {
	t.Parallel()
	addRule := commandsUnder(t, docs.Text("quickstart"), "### Before Kubernetes 1.36")
	home := t.TempDir()
	origin := gitserver.NewOrigin(t, filepath.Join(home, "origin.git"), map[string]string{
		"apps/shop/kustomization.yaml": "resources: [web.yaml]\n",
		"apps/shop/web.yaml":           controlplane.Workload("Deployment", "shop", "web") + "\n---\n" + controlplane.Autoscaler("Deployment", "shop", "web"),
	})
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 1)
	cp.Metrics(t, func(string) string { return "7m" })
	cp.Kubectl(t, "", "create", "namespace", "shop")
	tool := flux.Start(t, cp, map[string]*gitserver.Origin{fleetURL: origin})
	cp.Apply(t, applied)
	tool.Applied(t, "shop", origin.Tip("main"))
	desired := func(want int32) func(context.Context) error {
		return func(ctx context.Context) error {
			var web struct {
				Spec   struct{ Replicas int32 }
				Status struct{ ReadyReplicas int32 }
			}
			err := cp.Read(ctx, "/apis/apps/v1/namespaces/shop/deployments/web", &web)
			if err == nil && (web.Spec.Replicas != want || web.Status.ReadyReplicas != want) {
				err = fmt.Errorf("web is %+v, want %d", web, want)
			}
			return err
		}
	}

	sh := newShell(t, home, origin, cp.Kubeconfig())
	config := "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {bolt: {path: prod-eu.db}}\nrepository: {url: " + origin.Dir + "}\n"
	if err := os.WriteFile(filepath.Join(sh.dir, "prod-eu.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, desired(2)) // the autoscaler sets its minimum once
	sh.must(t, "kubectl scale -n shop deployment/web --replicas=42")
	eventually(t, desired(42))
	sh.must(t, "kubectl wait -n shop --for=condition=ScalingActive hpa/web --timeout=240s")

	begun := sh.must(t, "gitlatch init -c prod-eu.yaml")
	edit := componentOf.FindStringSubmatch(begun)
	if edit == nil || admits(begun) || !strings.Contains(begun, "gitlatch render flux --patch") {
		t.Fatalf("init prints\n%s", begun)
	}
	if out, status := sh.run(t, "gitlatch render admission -c prod-eu.yaml | kubectl apply -f -"); status == 0 || !strings.Contains(out, `no matches for kind "MutatingAdmissionPolicy"`) {
		t.Errorf("kubectl applies the admission policy with status %d and prints\n%s", status, out)
	}
	sh.must(t, "gitlatch tick -c prod-eu.yaml")
	const doctor = "gitlatch doctor -c prod-eu.yaml --url " + fleetURL
	if out, status := sh.run(t, doctor); status != 1 || !strings.Contains(out, "no-ignore-rule") || admits(out) {
		t.Errorf("without a rule, doctor exits with status %d and prints\n%s", status, out)
	}

	for _, command := range addRule {
		sh.must(t, command)
	}
	push := func(file, before, after string) {
		text := origin.Show(t, "main", file)
		if !strings.Contains(text, before) {
			t.Fatalf("%s has no %q:\n%s", file, before, text)
		}
		tool.Applied(t, "shop", origin.Push(t, "main", map[string]string{file: strings.Replace(text, before, after, 1)}, "edit "+file))
	}
	push(edit[1], "resources:", edit[2]+"\nresources:")
	eventually(t, func(context.Context) error {
		out, status := sh.run(t, doctor)
		if status != 0 {
			return fmt.Errorf("with the rule, doctor exits with status %d and prints\n%s", status, out)
		}
		return nil
	})
	push("gitlatch.yaml", "mode: observe", "mode: latch")
	if out := sh.must(t, "gitlatch tick -c prod-eu.yaml"); !strings.Contains(out, "shop/web new -> 50") {
		t.Errorf("the tick prints\n%s", out)
	}
	tool.Applied(t, "shop", origin.Tip("main"))
	tool.Reconcile(t, "shop")
	eventually(t, desired(42))

	cp.Kubectl(t, "", "delete", "-n", "shop", "deployment/web")
	tool.Reconcile(t, "shop")
	eventually(t, desired(50))
}
