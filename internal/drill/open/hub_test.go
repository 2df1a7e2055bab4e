//go:build gitops

package open_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	settle = 3 * time.Minute

	// generated is the hub's source of an Application for each cluster in the hub, with
	// a rule and a policy.
	generated = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shop, namespace: argocd}
spec:
  generators: [{clusters: {selector: {matchLabels: {argocd.argoproj.io/secret-type: cluster}}}}]
  template:
    metadata: {name: 'shop-{{name}}'}
    spec:
      project: default
      source: {repoURL: %q, targetRevision: main, path: apps/shop}
      destination: {name: '{{name}}'}
      ignoreDifferences: [%s]
      syncPolicy: {%ssyncOptions: [RespectIgnoreDifferences=true, ApplyOutOfSyncOnly=true]}
`
	rule      = "{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}"
	automated = "automated: {selfHeal: true}, "
	made      = "shop-prod-eu" // the Application
	inert     = "Application argocd/shop-prod-eu"
)

// A world is a site whose cluster is filled by the Argo CD of a hub, and a user with
// both in a kubeconfig.
type world struct {
	hub, site *controlplane.ControlPlane
	argo      *argocd.ArgoCD
	origin    *gitserver.Origin
	url, dir  string
	now       time.Time
}

// Argo CD runs in a hub, and an ApplicationSet in it generates the site's Application.
// doctor finds the rule there. A cluster that replaces the site's cluster starts with its
// checkpoint levels. Once the rule is removed in the hub, doctor reports that.
func TestASiteOfAHub(t *testing.T) {
	t.Parallel()
	w := start(t)
	if said := w.run(t, 0, "doctor"); !strings.Contains(said, inert) {
		t.Errorf("doctor does not name the rule in the hub:\n%s", said)
	}
	w.scale(t, 45)
	w.declares(t, `deployment.web: "50"`, "tick")
	w.argo.Applied(t, made, w.origin.Tip("main"))
	w.asks(t, "its checkpoint was committed", 45)

	w.fill(t, controlplane.Start(t, controlplane.Options{}))
	w.asks(t, "it was rebuilt", 50)
	w.run(t, 0, "adopt")
	tip := w.origin.Tip("main")
	w.run(t, 0, "drill")
	w.run(t, 0, "tick")
	w.run(t, 0, "tick")
	if w.origin.Tip("main") != tip {
		t.Errorf("after a rebuild at the checkpoint a tick commits %s", w.origin.Show(t, "main", checkpoint.RecordPath("prod-eu", "shop")))
	}
	w.scale(t, 90)
	w.declares(t, `deployment.web: "100"`, "tick")

	w.apply(t, "", "") // Argo CD does not revert the replicas below
	if said := w.run(t, 1, "doctor"); !strings.Contains(said, "no-ignore-rule") {
		t.Errorf("the rule is gone in the hub, and doctor says\n%s", said)
	}
}

// start starts the hub, the site and its repository, with a first checkpoint of 5 pods.
func start(t *testing.T) *world {
	t.Helper()
	server := gitserver.Start(t)
	w := &world{hub: controlplane.Start(t, controlplane.Options{}), dir: t.TempDir(), url: server.URL("fleet"), now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	files := map[string]string{
		"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n",
		"apps/shop/web.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---\n" +
			controlplane.Workload("Deployment", "shop", "web") + "---\n" + controlplane.Autoscaler("Deployment", "shop", "web"),
		"apps/shop/kustomization.yaml": "resources: [web.yaml]\ncomponents: [../../checkpoints/prod-eu/shop]\n",
	}
	written, _ := checkpoint.Merge(checkpoint.Tree{}, checkpoint.Site{Name: "prod-eu"}, []checkpoint.Change{{
		ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}, To: checkpoint.Entry{Replicas: 5, Min: 2, Max: 200},
	}})
	for name, data := range written {
		files[name] = string(data)
	}
	w.origin = server.Create(t, "fleet", files)
	w.write(t, "config.yaml", fmt.Sprintf(`apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {kubeconfig: %q, context: site}
state: {bolt: {path: %q}}
repository: {url: %q}
gitops: {context: hub, destination: prod-eu}
`, filepath.Join(w.dir, "kubeconfig"), filepath.Join(w.dir, "state.db"), w.url))

	w.argo = argocd.Start(t, w.hub)
	w.argo.ApplicationSets(t)
	w.hub.Kubectl(t, "", "apply", "-k", "../../../infra/rbac/doctor")
	w.apply(t, rule, automated)
	w.fill(t, controlplane.Start(t, controlplane.Options{}))
	w.asks(t, "it was created", 5)
	return w
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fill makes an empty cluster the site's: the destination in the hub, and the context
// in the kubeconfig. In the hub the user has the rights that doctor needs.
func (w *world) fill(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	w.site = cp
	cp.Nodes(t, 1)
	to, hub := cp.Config(), w.hub.Config()
	ca := base64.StdEncoding.EncodeToString(to.CAData)
	w.write(t, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: site, cluster: {server: %q, certificate-authority-data: %s}}, {name: hub, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: site, user: {token: %q}}, {name: hub, user: {token: %q, as: person, as-groups: ["gitlatch:people"]}}]
contexts: [{name: site, context: {cluster: site, user: site}}, {name: hub, context: {cluster: hub, user: hub}}]
`, to.Host, ca, hub.Host, base64.StdEncoding.EncodeToString(hub.CAData), to.BearerToken, hub.BearerToken))
	w.hub.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: prod-eu, namespace: argocd, labels: {argocd.argoproj.io/secret-type: cluster}}
stringData: {name: prod-eu, server: %q, config: '{"bearerToken": %q, "tlsClientConfig": {"caData": %q}}'}
`, to.Host, to.BearerToken, ca))
	w.eventually(t, "the site is filled", func(ctx context.Context) error { return w.read(ctx, new(int)) })
	w.argo.Applied(t, made, w.origin.Tip("main"))
}

// apply gives the hub a rule and a policy, and waits until its Application has them.
func (w *world) apply(t *testing.T, rule, policy string) {
	t.Helper()
	w.hub.Apply(t, fmt.Sprintf(generated, w.url, rule, policy))
	w.eventually(t, "the Application is as it was generated", func(ctx context.Context) error {
		var o struct {
			Spec struct {
				IgnoreDifferences []any
				SyncPolicy        struct{ Automated any }
			}
		}
		err := w.hub.Read(ctx, "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/"+made, &o)
		if w.site == nil {
			return nil // the hub has no cluster yet
		}
		if err == nil && ((len(o.Spec.IgnoreDifferences) > 0) != (rule != "") || (o.Spec.SyncPolicy.Automated != nil) != (policy != "")) {
			err = fmt.Errorf("it is %+v", o)
		}
		return err
	})
}

// run runs the command at the site's time, which then moves by a period.
func (w *world) run(t *testing.T, status int, args ...string) string {
	t.Helper()
	defer func() { w.now = w.now.Add(5 * time.Minute) }()
	if args[0] == "doctor" || args[0] == "drill" {
		args = append(args, "--url", w.url) // a local address matches no repository
	}
	var out bytes.Buffer
	env := cli.Env{Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: func() time.Time { return w.now }}
	if got := cli.Run(env, append(args, "--config", filepath.Join(w.dir, "config.yaml"))); got != status {
		t.Fatalf("%q ends with %d, want %d:\n%s", args, got, status, &out)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// declares runs the command until a file below checkpoints on the branch contains a
// text.
func (w *world) declares(t *testing.T, what string, args ...string) {
	t.Helper()
	said := ""
	for range 3 {
		said = w.run(t, 0, args...)
		for path := range w.origin.Tree(t, "main") {
			if strings.HasPrefix(path, "checkpoints/") && strings.Contains(w.origin.Show(t, "main", path), what) {
				return
			}
		}
	}
	t.Fatalf("after %q git does not say %s: %s", args, what, said)
}

// scale sets the replicas, as an autoscaler would.
func (w *world) scale(t *testing.T, pods int) {
	t.Helper()
	w.site.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", fmt.Sprint("--replicas=", pods))
	w.site.Kubectl(t, "", "rollout", "status", "-n", "shop", "deployment/web", "--timeout=180s")
}

func (w *world) read(ctx context.Context, count *int) error {
	var object struct{ Spec struct{ Replicas int } }
	err := w.site.Read(ctx, "/apis/apps/v1/namespaces/shop/deployments/web", &object)
	*count = object.Spec.Replicas
	return err
}

func (w *world) asks(t *testing.T, after string, want int) {
	t.Helper()
	var got int
	if err := w.read(t.Context(), &got); err != nil || got != want {
		t.Errorf("after %s it asks for %d (%v), want %d", after, got, err, want)
	}
	w.site.Kubectl(t, "", "rollout", "status", "-n", "shop", "deployment/web", "--timeout=180s")
}

func (w *world) eventually(t *testing.T, what string, holds func(context.Context) error) {
	t.Helper()
	if err := controlplane.Eventually(t.Context(), settle, holds); err != nil {
		t.Fatalf("wait until %s: %v", what, err)
	}
}
