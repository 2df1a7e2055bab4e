//go:build gitops

package ways_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	webFile    = "apps/shop/web.yaml"
	recordFile = "checkpoints/prod-eu/shop/checkpoint.yaml"

	cartFile = "apps/shop/cart.yaml"

	v1, v2         = "registry.example.com/shop/web:1.4.0", "registry.example.com/shop/web:1.5.0"
	cartV1, cartV2 = "registry.example.com/shop/cart:1.4.0", "registry.example.com/shop/cart:1.5.0"
)

// rebuild lets Flux apply the steps of the example. It adds the workloads once the
// policies act: they set the level of web in a namespace with a checkpoint file.
func (l *live) rebuild(t *testing.T, want string) {
	t.Helper()
	steps := strings.SplitAfter(string(l.files["flux/prod-eu.yaml"]), "---\n")
	workloads := len(steps) - 1
	l.Apply(t, strings.TrimSuffix(strings.Join(steps[:workloads], ""), "---\n"))
	l.Applied(t, "prod-eu-records", l.origin.Tip("main"))
	acts(t, l.ControlPlane, "shop", "web", want)
	l.Apply(t, steps[workloads])
	l.Applied(t, example.Name, l.origin.Tip("main"))
}

func TestAdmissionAppliesTheCheckpointOnCreationOnly(t *testing.T) {
	t.Parallel()
	l := fill(t, "admission", including(t, "admission", plain, controlplane.Workload("Deployment", "shop", "plain")))
	l.rebuild(t, "50 app:1")
	l.want(t, "creation", "50 10")
	if got := l.asks(t, "deployments/plain"); got != "1" {
		t.Errorf("what git declares nothing of is created with %s, want 1", got)
	}

	l.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=30")
	l.Kubectl(t, "", "scale", "-n", "shop", "statefulset/cart", "--replicas=7")
	l.Reconcile(t, example.Name)
	l.want(t, "a reconcile", "30 7")
	l.Applied(t, "prod-eu-records", l.latch(t, map[workload.ID]int32{web: 100, cart: 20}))
	l.Reconcile(t, example.Name)
	l.want(t, "a commit of checkpoints", "30 7")
	l.Applied(t, example.Name, l.push(t, map[string]string{webFile: strings.ReplaceAll(string(l.files[webFile]), v1, v2)}))
	l.want(t, "a commit of another image", "30 7")

	l.grows(t)
	l.Applied(t, "prod-eu-records", l.latch(t, map[workload.ID]int32{web: 50, cart: 10}))
	l.Reconcile(t, example.Name)
	l.want(t, "a commit of checkpoints", "200 200")

	l.Kubectl(t, "", "delete", "-n", "shop", "deployment/web", "statefulset/cart")
	l.Reconcile(t, example.Name)
	l.want(t, "a rebuild", "50 10")
	if got, want := l.images(t), v2+" "+cartV1; got != want {
		t.Errorf("without a rollout in flight they are created with %s, want %s", got, want)
	}
	l.bootstrapped(t)
}

// bootstrapped runs the commands of the runbook with the CLI of Flux. They reconcile the
// first Kustomization, which contains the others, and then suspend the workloads'.
func (l *live) bootstrapped(t *testing.T) {
	t.Helper()
	l.Apply(t, `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: flux-system, namespace: flux-system},
		spec: {interval: 10m, prune: true, path: flux, sourceRef: {kind: GitRepository, name: prod-eu}}}`)
	var all string
	for _, command := range onPage(t, "flux") {
		out := l.tool.(*flux.Flux).Run(t, command)
		t.Logf("$ %s\n%s", command, out)
		all += out
	}
	if ready := strings.Count(all, "True \tApplied revision"); ready != 4 {
		t.Errorf("%d of 4 Kustomizations are ready", ready)
	}
	if got := l.Kubectl(t, "", "get", "-n", "flux-system", "kustomizations/"+example.Name, "-o", "jsonpath={.spec.suspend}"); got != "true" {
		t.Errorf("suspend is %q", got)
	}
}

// image returns the image in the template of web.
func (l *live) image(t *testing.T) string { t.Helper(); return l.runs(t, "deployment/web") }

// images returns the images in the templates of web and cart.
func (l *live) images(t *testing.T) string {
	t.Helper()
	return l.image(t) + " " + l.runs(t, "statefulset/cart")
}

func (l *live) runs(t *testing.T, workload string) string {
	t.Helper()
	return l.Kubectl(t, "", "get", "-n", "shop", workload, "-o", "jsonpath={.spec.template.spec.containers[0].image}")
}

// rolled waits until every pod of web and cart has the current template.
func (l *live) rolled(t *testing.T) {
	t.Helper()
	for _, w := range []string{"deployment/web", "statefulset/cart"} {
		l.Kubectl(t, "", "rollout", "status", "-n", "shop", w, "--timeout=180s")
	}
}

// midway returns changes to the example: the cluster is lost in the middle of two
// rollouts, and the entries return one side.
func midway(t *testing.T, returns string) map[string]string {
	return map[string]string{
		webFile:  strings.ReplaceAll(read(t, "admission/example/"+webFile), v1, v2),
		cartFile: strings.ReplaceAll(read(t, "admission/example/"+cartFile), cartV1, cartV2),
		recordFile: read(t, "admission/example/"+recordFile) +
			rollout("deployment.web", v1, v2, returns) + rollout("statefulset.cart", cartV1, cartV2, returns),
	}
}

// Both rollouts to v2 were below their thresholds when the cluster was lost. The rebuild
// creates pods of v1, which then roll out to v2.
func TestARebuildDuringARolloutReturnsToWhatItCameFrom(t *testing.T) {
	t.Parallel()
	l := fill(t, "admission", midway(t, "from"))
	l.rebuild(t, "50 app:1")
	if got, want := l.images(t), v1+" "+cartV1; got != want {
		t.Fatalf("they are created with %s, want %s", got, want)
	}
	l.rolled(t)

	before := len(writes(t, l.ControlPlane, "shop"))
	l.Reconcile(t, example.Name)
	if got, want := l.images(t), v2+" "+cartV2; got != want {
		t.Fatalf("after a reconcile they ask for %s, want %s", got, want)
	}
	l.rolled(t)
	l.want(t, "the rollout", "50 10")
	history := l.Kubectl(t, "", "get", "replicasets", "-n", "shop", "-l", "app=web", "-o",
		`jsonpath={range .items[*]}{.metadata.annotations.deployment\.kubernetes\.io/revision}{" "}{.spec.template.spec.containers[0].image}{" "}{.spec.replicas}{"\n"}{end}`)
	for _, want := range []string{"1 " + v1 + " 0\n", "2 " + v2 + " 50\n"} {
		if !strings.Contains(history, want) {
			t.Errorf("the rollout left\n%swithout %s", history, want)
		}
	}

	// The default limits of a rollout: a Deployment lacks at most a quarter of its pods
	// at a time, and a StatefulSet lacks at most one pod.
	for _, c := range []struct {
		workload   string
		pods, gate int
	}{{"deployments/web", 50, 38}, {"statefulsets/cart", 10, 9}} {
		fewest, between := c.pods, 0
		for _, w := range writes(t, l.ControlPlane, "shop")[before:] {
			if w.workload == c.workload {
				fewest = min(fewest, w.available)
				if w.updated > 0 && w.updated < c.pods {
					between++
				}
			}
		}
		if fewest < c.gate || between == 0 {
			t.Errorf("%s: the rollout had %d pods available at its lowest, want %d or more, and %d steps between v1 and v2, want some", c.workload, fewest, c.gate, between)
		}
	}
}

// Above their thresholds, the rebuild creates only pods of v2.
func TestARebuildDuringARolloutGoesOnToTheTarget(t *testing.T) {
	t.Parallel()
	l := fill(t, "admission", midway(t, "to"))
	l.rebuild(t, "50 app:1")
	if got, want := l.images(t), v2+" "+cartV2; got != want {
		t.Errorf("they are created with %s, want %s", got, want)
	}
}

// rollout returns the lines of an entry for a rollout of one container, which has the
// name of its workload.
func rollout(of, from, to, returns string) string {
	_, name, _ := strings.Cut(of, ".")
	lines := ""
	for _, line := range []string{
		`differ: "images"`, `from: "5d4f"`, "from_" + name + `: "` + from + `"`, `milestone: "10"`, `phase: "progressing"`,
		`returns: "` + returns + `"`, `to: "7c9b"`, "to_" + name + `: "` + to + `"`,
	} {
		lines += "  " + of + "_" + line + "\n"
	}
	return lines
}
