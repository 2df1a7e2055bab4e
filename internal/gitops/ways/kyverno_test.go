//go:build kyverno

package ways_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/kyverno"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// installed returns a control plane with a Kyverno that is not started.
func installed(t *testing.T) (*controlplane.ControlPlane, *kyverno.Kyverno) {
	t.Helper()
	cp := controlplane.Start(t, controlplane.Options{})
	return cp, kyverno.Install(t, cp)
}

// The policy of Kyverno passes the tests of the admission policy.
func TestKyverno(t *testing.T) {
	t.Parallel()
	cp, k := installed(t)
	kinds := []workload.Kind{workload.ArgoRollout, "crew", "squad"}
	for _, kind := range append(kinds, "pool") {
		o, _ := named.Object(kind)
		cp.Apply(t, defined(o))
	}
	place := kyvernos(example)
	place.Kinds = named
	if says := "Kyverno " + strings.TrimPrefix(k.Version, "v"); !strings.Contains(docs.Text("kyverno"), says) {
		t.Errorf("the page kyverno.md does not name %s", says)
	}
	k.Start(t)
	cp.Apply(t, namespaceOf("live"), controlplane.Workload("Deployment", "live", "web"), controlplane.Autoscaler("Deployment", "live", "web"))
	if got := doctorOf(t, cp); !regexp.MustCompile(`\nlive/web .* no rule found\n`).MatchString(got) {
		t.Errorf("before the policy, doctor prints\n%s", got)
	}
	cp.Apply(t, string(ways.Admission(place)), namespaceOf("probe"), record("probe", `deployment.web: "7"`, `rollout.web: "7"`, `crew.web: "7"`, `squad.web: "7"`))
	cp.Kubectl(t, "", "wait", `--for=jsonpath={.status.conditionStatus.conditions[?(@.type=="WebhookConfigured")].status}=True`, "mutatingpolicy/gitlatch-replicas", "--timeout=280s")
	acts(t, cp, "probe", "web", "7 app:1")
	if got := doctorOf(t, cp); !regexp.MustCompile(`\nlive/web .* MutatingPolicy gitlatch-replicas\n`).MatchString(got) {
		t.Errorf("with the policy, doctor prints\n%s", got)
	}
	for _, kind := range kinds {
		eventuallyCreated(t, cp, manifest(kind, "probe", "web", ""), "7")
	}
	for name, test := range map[string]func(*testing.T, *controlplane.ControlPlane){
		"raises what is created":           raises,
		"leaves alone what has no record":  leavesAlone,
		"is not in the way of what runs":   keepsRunning,
		"is not in the way of kubectl":     keepsClientSide,
		"acts in no namespace of a system": leavesSystems,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, cp)
		})
	}
}

// doctorOf runs gitlatch doctor for a new site with the rights of infra/rbac/doctor, and
// returns its output.
func doctorOf(t *testing.T, cp *controlplane.ControlPlane) string {
	t.Helper()
	cp.Kubectl(t, "", "apply", "-k", "../../../infra/rbac/doctor")
	dir := t.TempDir()
	origin := gitserver.NewOrigin(t, filepath.Join(dir, "origin.git"), map[string]string{"README.md": "fleet\n"})
	file := filepath.Join(dir, "prod-eu.yaml")
	text := fmt.Sprintf("apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\ncluster: {kubeconfig: %q}\nstate: {bolt: {path: state.db}}\nrepository: {url: %q}\n",
		cp.KubeconfigAs(t, "person", "gitlatch:people"), origin.Dir)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: time.Now}
	if status := cli.Run(env, []string{"init", "-c", file}); status != 0 {
		t.Fatalf("init exits with status %d and prints\n%s", status, out.String())
	}
	cli.Run(env, []string{"doctor", "-c", file})
	return out.String()
}

// A client-side apply without replicas keeps the live replicas, also after a change of
// the level.
func keepsClientSide(t *testing.T, cp *controlplane.ControlPlane) {
	for _, kind := range []workload.Kind{workload.Deployment, workload.StatefulSet} {
		namespace := "client-" + string(kind)
		cp.Apply(t, namespaceOf(namespace), record(namespace, `deployment.probe: "7"`, string(kind)+`.web: "7"`))
		acts(t, cp, namespace, "probe", "7 app:1")
		applied := func(image, want string) {
			t.Helper()
			cp.Kubectl(t, strings.ReplaceAll(manifest(kind, namespace, "web", ""), "app:1", image), "apply", "-f", "-")
			if got := cp.Kubectl(t, "", "get", string(kind), "web", "-n", namespace, "-o", "jsonpath={.spec.replicas}"); got != want {
				t.Errorf("%s, applied with image %s, asks for %q, want %s", kind, image, got, want)
			}
		}
		applied("app:1", "7")
		cp.Kubectl(t, "", "scale", string(kind), "web", "-n", namespace, "--replicas=3")
		applied("app:2", "3")
		cp.Apply(t, record(namespace, `deployment.probe: "9"`, string(kind)+`.web: "9"`))
		acts(t, cp, namespace, "probe", "9 app:1")
		applied("app:3", "3")
	}
}

// Kyverno's own configuration excludes these namespaces from its webhooks, or from its
// policies.
func leavesSystems(t *testing.T, cp *controlplane.ControlPlane) {
	for _, namespace := range []string{"kube-system", "kube-public", "kube-node-lease", "kyverno"} {
		cp.Apply(t, record(namespace, `deployment.web: "7"`))
		if got := created(t, cp, manifest(workload.Deployment, namespace, "web", "")); got != "1" {
			t.Errorf("in %s it is created with %s, want 1", namespace, got)
		}
	}
}

// While Kyverno is down, workloads start at their own replicas, or with failurePolicy:
// Fail are refused. A started Kyverno raises new workloads again, and no old ones.
func TestARestartOfKyverno(t *testing.T) {
	t.Parallel()
	cp, k := installed(t)
	stop := k.Start(t)
	policy := string(ways.Admission(kyvernos(example)))
	var lines []string
	for _, name := range []string{"before", "during", "after"} {
		lines = append(lines, "deployment."+name+`: "7"`, "statefulset."+name+`: "5"`)
	}
	cp.Apply(t, policy, namespaceOf("shop"), record("shop", lines...))
	create := func(name, deployments, statefulSets string) {
		t.Helper()
		for kind, want := range map[workload.Kind]string{workload.Deployment: deployments, workload.StatefulSet: statefulSets} {
			text := manifest(kind, "shop", name, "")
			if got := cp.Kubectl(t, text, "create", "-f", "-", "-o", "jsonpath={.spec.replicas}"); got != want {
				t.Errorf("%s %s is created with %s, want %s", kind, name, got, want)
			}
		}
	}
	acts(t, cp, "shop", "before", "7 app:1")
	create("before", "7", "5")
	stop()
	create("during", "1", "1")
	stop = k.Start(t)
	acts(t, cp, "shop", "after", "7 app:1")
	create("after", "7", "5")
	if got := cp.Kubectl(t, "", "get", "deployments", "-n", "shop", "-o", "jsonpath={.items[*].spec.replicas}"); got != "7 7 1" {
		t.Errorf("the Deployments after, before and during have %s replicas, want 7 7 1", got)
	}

	closed := strings.Replace(policy, "failurePolicy: Ignore", "failurePolicy: Fail", 1)
	cp.Apply(t, closed)
	err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
		var all struct {
			Webhooks []struct{ FailurePolicy string }
		}
		err := cp.Read(ctx, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/kyverno-resource-mutating-webhook-cfg", &all)
		if err == nil && (len(all.Webhooks) != 1 || all.Webhooks[0].FailurePolicy != "Fail") {
			err = fmt.Errorf("the webhooks are %v", all.Webhooks)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cp.Apply(t, controlplane.Autoscaler("Deployment", "shop", "before"))
	if got := doctorOf(t, cp); !strings.Contains(got, "policy-fails-closed: MutatingPolicy gitlatch-replicas\n") {
		t.Errorf("with failurePolicy: Fail, doctor prints\n%s", got)
	}
	stop()
	refused := manifest(workload.Deployment, "shop", "refused", "")
	if _, err := cp.TryKubectl(t.Context(), refused, "create", "--dry-run=server", "-f", "-"); err == nil || !strings.Contains(err.Error(), "mpol.validate.kyverno.svc-fail") {
		t.Errorf("with failurePolicy: Fail, the API server answers %v", err)
	}
}
