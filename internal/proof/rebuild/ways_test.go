//go:build gitops

package rebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	gitways "github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A way is a method of rebuilding a cluster from git.
type way struct {
	name    string
	without bool // rebuilds without checkpoints
	// prepare sets up the cluster before anything is applied; nil skips it.
	prepare func(*cluster, *testing.T)
	// create applies a part of git to a cluster that does not have it. reconcile applies
	// it again to a live one; nil ends the check after create.
	create, reconcile func(c *cluster, t *testing.T, part string)
	tool              bool // a GitOps tool also reconciles on a schedule
}

// absent is the method without checkpoints: no manifest states replicas. In patient no
// pod ever fails under an overload, which is better than in reality.
var (
	absent  = way{name: "absent", without: true, create: (*cluster).applyApps}
	patient = way{name: "patient", without: true, create: (*cluster).applyApps}
)

// limit is the fastest possible method: it creates all pods that the load needs at
// once, and nothing delays them.
var limit = way{name: "limit", create: (*cluster).applyNeed}

// compared are the methods that the methods with checkpoints are compared with.
var compared = []way{absent, patient, limit}

// ways are the methods with checkpoints that run here.
var ways = []way{
	{name: "flux", prepare: (*cluster).startFlux, create: (*cluster).applyFlux, reconcile: (*cluster).reconcileFlux, tool: true},
	{name: "overlay", create: (*cluster).applyOverlay, reconcile: (*cluster).reapplyOverlay},
	{name: "admission", create: (*cluster).applyAdmission, reconcile: (*cluster).applyApps},
	{name: "argocd", prepare: (*cluster).startArgoCD, create: (*cluster).applyArgoCD, reconcile: (*cluster).reconcileArgoCD, tool: true},
}

// placeOf is the environment that the manifests of the methods are made for.
func placeOf(part string) gitways.Place {
	p := gitways.Place{Site: site, Repository: "https://git.example.com/platform/fleet.git", Branch: "main", Name: site, Path: overlay}
	if part != everything {
		p.Name += "-" + part
		p.Path += "/" + part
	}
	return p
}

// The ignore rules for the brakes of a restore. Without them, Flux and Argo CD apply the
// selectPolicy that git states, and so remove the brake.
const (
	fluxBrakes = `  ignore:
  - paths: [/spec/behavior/scaleDown/selectPolicy]
    target: {group: autoscaling, kind: HorizontalPodAutoscaler}
`
	argoBrakes = `  ignoreDifferences:
  - {group: autoscaling, kind: HorizontalPodAutoscaler, jsonPointers: [/spec/behavior/scaleDown/selectPolicy]}
`
)

// withRule adds a rule to the first list of rules in a manifest.
func withRule(t *testing.T, manifest []byte, rule string) string {
	t.Helper()
	list, _, _ := strings.Cut(rule, "\n")
	if strings.Count(string(manifest), list+"\n") != 1 {
		t.Fatalf("want one list %q in\n%s", list, manifest)
	}
	return strings.Replace(string(manifest), list+"\n", rule, 1)
}

func (c *cluster) startFlux(t *testing.T) {
	t.Helper()
	c.flux = flux.Start(t, c.cp, map[string]*gitserver.Origin{placeOf(everything).Repository: c.origin})
}

func (c *cluster) applyFlux(t *testing.T, part string) {
	t.Helper()
	p := placeOf(part)
	c.cp.Apply(t, withRule(t, gitways.Flux(p), fluxBrakes))
	c.flux.Applied(t, p.Name, c.origin.Tip("main"))
}

func (c *cluster) reconcileFlux(t *testing.T, part string) {
	t.Helper()
	c.flux.Reconcile(t, placeOf(part).Name)
}

func (c *cluster) startArgoCD(t *testing.T) {
	t.Helper()
	c.argo = argocd.Start(t, c.cp)
}

func (c *cluster) applyArgoCD(t *testing.T, part string) {
	t.Helper()
	p := placeOf(part)
	c.cp.Apply(t, strings.ReplaceAll(withRule(t, gitways.ArgoCD(p), argoBrakes), p.Repository, argocd.URL(c.origin)))
	c.argo.Applied(t, p.Name, c.origin.Tip("main"))
}

func (c *cluster) reconcileArgoCD(t *testing.T, part string) {
	t.Helper()
	c.argo.Reconcile(t, placeOf(part).Name)
}

func (c *cluster) applyApps(t *testing.T, part string) {
	t.Helper()
	c.cp.Apply(t, c.build(t, path.Join(plain, part)))
}

// applyOverlay creates the objects of the site's overlay, including Components.
func (c *cluster) applyOverlay(t *testing.T, part string) {
	t.Helper()
	c.cp.Apply(t, c.build(t, path.Join(overlay, part)))
}

// reapplyOverlay applies the overlay with the live replicas instead of the built ones.
func (c *cluster) reapplyOverlay(t *testing.T, part string) {
	t.Helper()
	c.applyAt(t, path.Join(overlay, part), c.replicas)
}

// applyNeed applies git without checkpoints, with the desired replicas of each
// workload.
func (c *cluster) applyNeed(t *testing.T, part string) {
	t.Helper()
	need := map[string]int{}
	for _, m := range c.form.fleet() {
		need[m.namespace+"/"+m.name] = m.need
	}
	c.applyAt(t, path.Join(plain, part), func(_ *testing.T, namespace, name string) int { return need[namespace+"/"+name] })
}

// applyAt applies the objects of a folder, with other replicas for each workload.
func (c *cluster) applyAt(t *testing.T, folder string, count func(t *testing.T, namespace, name string) int) {
	t.Helper()
	var all []string
	for text := range strings.SplitSeq(c.build(t, folder), "\n---\n") {
		var object map[string]any
		must(t, yaml.Unmarshal([]byte(text), &object))
		if object["kind"] == "Deployment" {
			of := object["metadata"].(map[string]any)
			object["spec"].(map[string]any)["replicas"] = count(t, of["namespace"].(string), of["name"].(string))
		}
		edited, err := json.Marshal(object)
		must(t, err)
		all = append(all, string(edited))
	}
	c.cp.Apply(t, all...)
}

func (c *cluster) replicas(t *testing.T, namespace, name string) (n int) {
	t.Helper()
	text := c.cp.Kubectl(t, "", "get", "deployment", "-n", namespace, name, "-o", "jsonpath={.spec.replicas}")
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatalf("count of %s/%s: %q: %v", namespace, name, text, err)
	}
	return n
}

// applyAdmission applies the checkpoint files, and the policy that takes them as its
// parameter. Once the policy works, it applies the manifests, which set no replicas.
func (c *cluster) applyAdmission(t *testing.T, part string) {
	t.Helper()
	for _, namespace := range namespaces {
		if part == everything || part == namespace {
			c.cp.Apply(t, namespaceManifest(namespace), read(t, filepath.Join(c.git, checkpoint.RecordPath(site, namespace))))
		}
	}
	c.cp.Apply(t, string(gitways.Admission(placeOf(everything))))
	c.admits(t, part)
	c.applyApps(t, part)
}

// admits waits until the API server applies the policy, some moments after its
// creation: an object created earlier is not changed by it.
func (c *cluster) admits(t *testing.T, part string) {
	t.Helper()
	first, _ := lists.First(c.form.fleet(), func(m member) bool { return part == everything || part == m.namespace })
	probe := controlplane.Workload("Deployment", first.namespace, first.name)
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(context.Context) error {
		got := c.cp.Kubectl(t, probe, "create", "--dry-run=server", "-o", "jsonpath={.spec.replicas}", "-f", "-")
		if got == "1" {
			return fmt.Errorf("a Deployment would be created with %s replica", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ways returns the methods whose rebuilds the form measures under a load that is there
// from the start. The quick form measures nothing, so it needs no comparison with patient
// and limit.
func (f form) ways() []way {
	switch {
	case f.late > 0:
		return nil
	case f.quick:
		return append([]way{absent}, ways...)
	}
	return selected(slices.Concat(compared, ways))
}
