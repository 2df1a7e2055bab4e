//go:build gitops

package ways_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// underArgoCD are the methods for Argo CD. Each has an example and an Application.
var underArgoCD = map[string]struct {
	example     string
	application func(*testing.T) string
}{
	"admission": {"admission", func(t *testing.T) string { return read(t, "admission/example/argocd/prod-eu.yaml") }},
	"ignore":    {"argocd", func(*testing.T) string { return string(ways.ArgoCD(example)) }},
}

// fillByArgoCD starts a cluster with an Application that applies the example of a method,
// with files added or changed.
func fillByArgoCD(t *testing.T, way, application string, changed map[string]string) *live {
	t.Helper()
	l := start(t, way, changed)
	l.tool = argocd.Start(t, l.ControlPlane)
	l.Apply(t, strings.ReplaceAll(application, example.Repository, argocd.URL(l.origin)))
	l.Applied(t, example.Name, l.origin.Tip("main"))
	return l
}

// As with Flux, Argo CD creates the workloads of a cluster with their levels. From then
// on, a commit of levels, a refresh, a new image or a manual change never sets the
// replicas.
func TestArgoCDAppliesTheCheckpointOnCreationOnly(t *testing.T) {
	t.Parallel()
	var caused, moved atomic.Int64
	t.Run("by", func(t *testing.T) {
		for way, c := range underArgoCD {
			t.Run(way, func(t *testing.T) {
				t.Parallel()
				l := fillByArgoCD(t, c.example, c.application(t), including(t, c.example, plain, controlplane.Workload("Deployment", "shop", "plain")))
				l.want(t, "creation", "50 10")
				if got := l.asks(t, "deployments/plain"); got != "1" {
					t.Errorf("what git declares nothing of is created with %s, want 1", got)
				}

				n := commits(t)
				l.takes(t, n)
				by, others := l.scaled(t, n, argocd.User)
				moved.Add(int64(by))
				caused.Add(int64(others))
				l.outlives(t)
			})
		}
	})
	fmt.Printf("figure commits_to_a_live_cluster_argocd %d\n", commits(t)*len(underArgoCD))
	fmt.Printf("figure autoscaler_scale_events_argocd %d\n", moved.Load())
	fmt.Printf("figure commit_caused_scale_events_argocd %d\n", caused.Load())
}

// outlives checks that other changes to a workload keep its replicas, and that a
// rebuild starts with its level again.
func (l *live) outlives(t *testing.T) {
	t.Helper()
	// The replicas must stay as a user sets them. An autoscaler that sees the metrics of
	// some pods only, as on a busy machine, would scale down.
	l.Kubectl(t, "", "patch", "-n", "shop", "hpa/web", "hpa/cart", "--type=merge",
		"-p", `{"spec": {"behavior": {"scaleUp": {"selectPolicy": "Disabled"}, "scaleDown": {"selectPolicy": "Disabled"}}}}`)
	l.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=60")
	l.Kubectl(t, "", "scale", "-n", "shop", "statefulset/cart", "--replicas=7")
	l.Reconcile(t, example.Name)
	l.want(t, "a look", "60 7")
	l.Applied(t, example.Name, l.latch(t, map[workload.ID]int32{web: 100, cart: 20}))
	l.want(t, "a commit of checkpoints", "60 7")
	l.Applied(t, example.Name, l.push(t, map[string]string{webFile: strings.ReplaceAll(string(l.files[webFile]), v1, v2)}))
	l.want(t, "a commit of another image", "60 7")
	if got := l.image(t); got != v2 {
		t.Errorf("it asks for %s, want %s", got, v2)
	}
	l.Kubectl(t, "", "delete", "-n", "shop", "deployment/web", "statefulset/cart")
	l.until(t, "a rebuild begins with the checkpoints", func(counts string) bool { return counts == "100 20" })
}

// A user has one Application for the namespaces and one for the workloads. The page of AWS
// adds the sources to the second, and deletes the first without its finalizer. The live
// cluster stays, also while a new site has no checkpoint files.
func TestAnApplicationTakesTheSourcesOfThePage(t *testing.T) {
	t.Parallel()
	const list = "checkpoints/prod-eu/kustomization.yaml"
	l := start(t, "admission", nil)
	whole := string(l.files[list])
	text, _, _ := strings.Cut(whole, "resources:")
	tip := l.push(t, map[string]string{list: text + "resources: []\n"})
	l.tool = argocd.Start(t, l.ControlPlane)
	for _, a := range []struct{ name, folder string }{{"before", "before"}, {example.Name, "workloads"}} {
		l.Apply(t, fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %s, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc}
  source: {repoURL: %q, targetRevision: main, path: clusters/prod-eu/%s}
  syncPolicy: {automated: {prune: true, selfHeal: true}}
`, a.name, argocd.URL(l.origin), a.folder))
		l.Applied(t, a.name, tip)
	}
	l.Kubectl(t, "", "patch", "-n", "shop", "hpa/web", "hpa/cart", "--type=merge",
		"-p", `{"spec": {"behavior": {"scaleUp": {"selectPolicy": "Disabled"}, "scaleDown": {"selectPolicy": "Disabled"}}}}`)
	l.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=60")
	l.Kubectl(t, "", "scale", "-n", "shop", "statefulset/cart", "--replicas=7")
	identities := func() string {
		return l.Kubectl(t, "", "get", "ns/shop", "-o", "jsonpath={.metadata.uid}") +
			l.Kubectl(t, "", "get", "-n", "shop", "deployment/web", "statefulset/cart", "-o", "jsonpath={.items[*].metadata.uid}") +
			l.Kubectl(t, "", "get", "mutatingadmissionpolicy/gitlatch-replicas", "-o", "jsonpath={.metadata.uid}")
	}
	began := identities()

	l.Kubectl(t, "", "patch", "-n", "argocd", "applications.argoproj.io/before", "--type=merge", "-p", `{"metadata": {"finalizers": null}}`)
	l.Kubectl(t, "", "delete", "-n", "argocd", "applications.argoproj.io/before")
	sources := strings.ReplaceAll(read(t, "admission/example/argocd/prod-eu.yaml"), example.Repository, argocd.URL(l.origin))
	l.Kubectl(t, sources, "replace", "-f", "-")
	l.Applied(t, example.Name, tip)
	l.want(t, "the change of the sources", "60 7")

	l.Applied(t, example.Name, l.push(t, map[string]string{list: whole}))
	l.want(t, "the first checkpoint files", "60 7")
	if after := identities(); after != began {
		t.Errorf("an object was replaced: %s, and now %s", began, after)
	}
	l.Kubectl(t, "", "delete", "-n", "shop", "deployment/web", "statefulset/cart")
	l.until(t, "a rebuild begins with the checkpoints", func(counts string) bool { return counts == "50 10" })
}

// onPage returns the commands of a program on the runbook, in their order.
func onPage(t *testing.T, program string) (commands []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?m)(?:^    |`)("+program+" [^`\n]+)").FindAllStringSubmatch(docs.Text("runbook"), -1) {
		commands = append(commands, m[1])
	}
	if len(commands) != 3 {
		t.Fatalf("the page has the commands %q", commands)
	}
	return commands
}

// runbook runs the commands of the runbook with the CLI of Argo CD. They sync the
// Application, and then end its automated syncs.
func (l *live) runbook(t *testing.T) {
	t.Helper()
	run := l.tool.(*argocd.ArgoCD).Serve(t)
	for _, command := range onPage(t, "argocd") {
		t.Logf("$ %s\n%s", command, run(command))
	}
	if got := l.Kubectl(t, "", "get", "-n", "argocd", "applications.argoproj.io/"+example.Name, "-o", "jsonpath={.spec.syncPolicy.automated}"); got != "" {
		t.Errorf("it still syncs automatically: %s", got)
	}
}

// Without the rule, commits scale the cluster. The audit log shows it.
func TestWithoutItsRuleArgoCDScalesALiveCluster(t *testing.T) {
	t.Parallel()
	text := string(ways.ArgoCD(example))
	before, _, ok := strings.Cut(text, "  ignoreDifferences:\n")
	if _, policy, has := strings.Cut(text, "  syncPolicy:\n"); !ok || !has {
		t.Fatal("there was no rule to leave out")
	} else {
		text = before + "  syncPolicy:\n" + policy
	}
	l := fillByArgoCD(t, "argocd", text, nil)
	for _, level := range []int32{100, 200, 50} {
		l.Applied(t, example.Name, l.latch(t, map[workload.ID]int32{web: level, cart: level / 10}))
	}
	if events := by(scaleEvents(writes(t, l.ControlPlane, "shop"))); events[argocd.User] < 3 {
		t.Errorf("Argo CD wrote %d counts in 3 commits, want one each at least: the log does not show what it should (%v)", events[argocd.User], events)
	}
	l.brakes(t, "-n argocd applications.argoproj.io/"+example.Name, `[{"op": "add", "path": "/spec/ignoreDifferences", "value": [
		{"group": "autoscaling", "kind": "HorizontalPodAutoscaler", "jsonPointers": ["/spec/behavior/scaleDown/selectPolicy"]},
		{"group": "keda.sh", "kind": "ScaledObject", "jsonPointers": ["/metadata/annotations/autoscaling.keda.sh~1paused-scale-in"]}]}]`)
	l.runbook(t)
}

// besides is the number of other objects in each of the syncs below.
const besides = 60

// During a sync of a workload, while its autoscaler moves, Argo CD may restore replicas
// that it read a second before. With the admission policy it never does. With the
// ignore rule it sometimes does, and the recipe documents that.
func TestASyncWhileAutoscalersMove(t *testing.T) {
	t.Parallel()
	for way, c := range underArgoCD {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			l := fillByArgoCD(t, c.example, c.application(t), including(t, c.example, "apps/shop/others.yaml", others(`"0"`)))
			before := len(writes(t, l.ControlPlane, "shop"))
			l.sways(t)
			n := max(commits(t)/10, 2) // each has two workloads
			for i := range n {
				tag := fmt.Sprintf("%q", fmt.Sprint("r", i))
				l.Applied(t, example.Name, l.push(t, map[string]string{
					"apps/shop/others.yaml": others(tag), webFile: tagged(l.files[webFile], tag), cartFile: tagged(l.files[cartFile], tag),
				}))
			}
			syncs, stale := 0, 0
			after := writes(t, l.ControlPlane, "shop")[before:]
			for _, w := range after {
				if w.user == argocd.User {
					syncs++
				}
			}
			for _, w := range scaleEvents(after) {
				if w.user == argocd.User {
					stale++
				}
			}
			if syncs < 2*n {
				t.Errorf("Argo CD wrote to the workloads %d times in %d commits, want twice each at least", syncs, n)
			}
			if moved := by(scaleEvents(after))[autoscaler]; moved < n {
				t.Errorf("the autoscalers wrote %d counts during %d syncs: too few to tell anything", moved, n)
			}
			if way == "admission" && stale > 0 {
				t.Errorf("%d of %d writes of Argo CD put another count back", stale, syncs)
			}
			fmt.Printf("figure syncs_of_a_moving_workload_argocd_%s %d\n", way, syncs)
			fmt.Printf("figure stale_counts_argocd_%s %d\n", way, stale)
		})
	}
}

// others returns the objects next to the workloads, each with a value.
func others(value string) string {
	var all strings.Builder
	for i := range besides {
		fmt.Fprintf(&all, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other-%d, namespace: shop}\ndata: {value: %s}\n", i, value)
	}
	return all.String()
}

// tagged changes the metadata of the workload in a manifest, and not of its pods.
func tagged(manifest []byte, value string) string {
	head, rest, _ := strings.Cut(string(manifest), "metadata: {name: ")
	name, rest, _ := strings.Cut(rest, ", namespace: shop")
	_, rest, _ = strings.Cut(rest, "}\n")
	return head + "metadata: {name: " + name + ", namespace: shop, annotations: {tag: " + value + "}}\n" + rest
}

// sways makes the autoscalers scale up and down, a few pods a second, until the test
// ends.
func (l *live) sways(t *testing.T) {
	t.Helper()
	steady := map[string]string{}
	for _, name := range []string{webFile, cartFile} {
		steady[name] = strings.NewReplacer("type: Percent, value: 900", "type: Pods, value: 8",
			"scaleDown: {stabilizationWindowSeconds: 0}", "scaleDown: {stabilizationWindowSeconds: 0, policies: [{type: Pods, value: 8, periodSeconds: 1}]}").Replace(string(l.files[name]))
	}
	l.Applied(t, example.Name, l.push(t, steady))
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			l.load.Store([]string{busy, idle}[i%2])
			select {
			case <-end:
				return
			case <-time.After(7 * time.Second):
			}
		}
	}()
	t.Cleanup(func() { close(end); <-ended })
}
