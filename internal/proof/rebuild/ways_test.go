//go:build gitops

package rebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
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

// ways are the methods with checkpoints that run here. In each of them, the folders of
// gitlatch come first, and then the manifests alone.
var ways = []way{
	{name: "flux", prepare: (*cluster).startFlux, create: (*cluster).applyFlux, reconcile: (*cluster).reconcileFlux, tool: true},
	{name: "kubectl", create: (*cluster).applyByKubectl, reconcile: (*cluster).applyApps},
	{name: "argocd", prepare: (*cluster).startArgoCD, create: (*cluster).applyArgoCD, reconcile: (*cluster).reconcileArgoCD, tool: true},
}

// folders applies the policy and the levels, as a bootstrap does.
func (c *cluster) folders(t *testing.T) {
	t.Helper()
	policy, err := admission.Policy{}.Format()
	must(t, err)
	file := filepath.Join(t.TempDir(), "gitlatch.yaml")
	must(t, os.WriteFile(file, policy, 0o600))
	c.cp.Kubectl(t, "", "apply", "--server-side", "-f", file, "-f", filepath.Join(c.git, checkpoint.Directory(site)))
}

// The objects that apply a folder of the branch. They have an ignore rule for the brakes of a
// restore. Without it, Flux and Argo CD apply the selectPolicy that git states, and so remove
// the brake.
const (
	repository = "https://git.example.com/platform/fleet.git"
	fluxObject = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: ` + repository + `, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec:
  interval: 10m
  prune: true
  sourceRef: {kind: GitRepository, name: fleet}
  path: %[2]s
  ignore:
  - paths: [/spec/behavior/scaleDown/selectPolicy]
    target: {group: autoscaling, kind: HorizontalPodAutoscaler}
`
	argoObject = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc}
  source: {repoURL: %[3]s, targetRevision: main, path: %[2]s}
  ignoreDifferences:
  - {group: autoscaling, kind: HorizontalPodAutoscaler, jsonPointers: [/spec/behavior/scaleDown/selectPolicy]}
  syncPolicy:
    automated: {selfHeal: true}
    syncOptions: [RespectIgnoreDifferences=true]
`
)

// nameOf is the name of the object that applies a part.
func nameOf(part string) string {
	return strings.TrimSuffix("apps-"+part, "-")
}

func (c *cluster) startFlux(t *testing.T) {
	t.Helper()
	c.flux = flux.Start(t, c.cp, map[string]*gitserver.Origin{repository: c.origin})
}

func (c *cluster) applyFlux(t *testing.T, part string) {
	t.Helper()
	c.folders(t)
	c.cp.Apply(t, fmt.Sprintf(fluxObject, nameOf(part), path.Join(plain, part)))
	c.flux.Applied(t, nameOf(part), c.origin.Tip("main"))
}

func (c *cluster) reconcileFlux(t *testing.T, part string) {
	t.Helper()
	c.flux.Reconcile(t, nameOf(part))
}

func (c *cluster) startArgoCD(t *testing.T) {
	t.Helper()
	c.argo = argocd.Start(t, c.cp)
}

func (c *cluster) applyArgoCD(t *testing.T, part string) {
	t.Helper()
	c.folders(t)
	c.cp.Apply(t, fmt.Sprintf(argoObject, nameOf(part), path.Join(plain, part), argocd.URL(c.origin)))
	c.argo.Applied(t, nameOf(part), c.origin.Tip("main"))
}

func (c *cluster) reconcileArgoCD(t *testing.T, part string) {
	t.Helper()
	c.argo.Reconcile(t, nameOf(part))
}

func (c *cluster) applyApps(t *testing.T, part string) {
	t.Helper()
	c.cp.Apply(t, c.build(t, path.Join(plain, part)))
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

// applyByKubectl applies the folders. Once the policy works, it applies the manifests, which
// set no replicas.
func (c *cluster) applyByKubectl(t *testing.T, part string) {
	t.Helper()
	c.folders(t)
	for _, namespace := range namespaces {
		if part == everything || part == namespace {
			c.cp.Apply(t, namespaceManifest(namespace)) // a dry-run CREATE needs the namespace
		}
	}
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
