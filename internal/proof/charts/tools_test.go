//go:build gitops

package charts

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/helm"
)

// apply commits values, and makes each tool install or upgrade its cells. Plain Helm has a
// command for a rollback, and the other tools apply the previous values. It returns the
// errors of failed upgrades.
func (w *world) apply(t *testing.T, v values, rollback bool) map[cell]error {
	t.Helper()
	w.before, w.now = w.now, v
	files, applications, releases := map[string]string{}, []string{}, []string{}
	for _, c := range w.cells {
		switch folder := "apps/" + c.name() + "/"; c.tool {
		case "flux":
			files[folder+"helmrelease.yaml"] = w.helmRelease(t, c, v)
			releases = append(releases, files[folder+"helmrelease.yaml"])
		case "argocd":
			files[folder+"application.yaml"] = w.application(t, c)
			applications = append(applications, files[folder+"application.yaml"])
			fallthrough
		default:
			files[folder+"values.yaml"] = text(t, v.all())
		}
	}
	commit := w.push(t, files)
	w.Apply(t, append(applications, releases...)...)
	w.refresh(t)
	failed := map[cell]error{}
	for _, c := range w.of("helm4", "helm3") {
		args := append([]string{"upgrade", "--install", "web"}, w.options(c)...)
		if rollback {
			args = []string{"rollback", "web", "--namespace", c.name()}
		}
		if err := helm.Run(t, w.ControlPlane, helm.Major(c.tool), args...); err != nil {
			failed[c] = err
		}
	}
	for _, c := range w.of("flux") {
		if err := w.released(t, c, ""); err != nil {
			failed[c] = err
		}
	}
	for _, c := range w.of("argocd") {
		w.argo.Applied(t, c.name(), commit)
	}
	for c, err := range failed {
		if !strings.Contains(err.Error(), ".spec.replicas") {
			t.Fatalf("%s: %v", c.name(), err)
		}
	}
	return failed
}

// options returns the chart, the values and the namespace of a cell of plain Helm.
func (w *world) options(c cell) []string {
	return []string{filepath.Join(w.dir, "charts", w.chart(c)), "-f", filepath.Join(w.dir, "apps", c.name(), "values.yaml"), "--namespace", c.name()}
}

// refresh makes Argo CD read the repository for all Applications.
func (w *world) refresh(t *testing.T) {
	t.Helper()
	w.Kubectl(t, "", "annotate", "--overwrite", "-n", "argocd", "applications.argoproj.io", "--all", "argocd.argoproj.io/refresh=normal")
}

// reconcile makes Argo CD and Flux reconcile all cells without a change, and waits until
// they have.
func (w *world) reconcile(t *testing.T) {
	t.Helper()
	at := time.Now().Format(time.RFC3339Nano)
	w.Kubectl(t, "", "annotate", "--overwrite", "-A", "helmreleases.helm.toolkit.fluxcd.io", "--all", "reconcile.fluxcd.io/requestedAt="+at)
	w.refresh(t)
	for _, c := range w.of("flux") {
		_ = w.released(t, c, at) // the upgrade before it failed
	}
	for _, c := range w.of("argocd") {
		w.argo.Reconcile(t, c.name())
	}
}

// application returns the Application of a cell, with the fields of gitlatch's rule if the
// cell has it.
func (w *world) application(t *testing.T, c cell) string {
	t.Helper()
	application := map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": c.name(), "namespace": "argocd"},
		"spec": map[string]any{
			"project": "default", "destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": c.name()},
			"source": map[string]any{
				"repoURL": w.url, "targetRevision": "main", "path": "charts/" + w.chart(c),
				"helm": map[string]any{"releaseName": "web", "valueFiles": []any{"/apps/" + c.name() + "/values.yaml"}},
			},
			"syncPolicy": map[string]any{"automated": map[string]any{"selfHeal": true}},
		},
	}
	if c.ignored() {
		merge(application, parsed(t, ways.ArgoCDFields(w.place(cell.ignored))))
	}
	return text(t, application)
}

// helmRelease returns the HelmRelease of a cell, with gitlatch's rule for Flux in
// driftDetection or a post-renderer if the cell has it.
func (w *world) helmRelease(t *testing.T, c cell, v values) string {
	t.Helper()
	spec := map[string]any{
		"interval": "1h", "releaseName": "web", "values": v.all(),
		"chart": map[string]any{"spec": map[string]any{
			"chart": "./charts/" + w.chart(c), "sourceRef": map[string]any{"kind": "GitRepository", "name": site, "namespace": "flux-system"},
		}},
		"install": map[string]any{"disableWait": true}, "upgrade": map[string]any{"disableWait": true},
	}
	if c.ignored() {
		rules := parsed(t, ways.FluxFields(w.place(cell.ignored)))["spec"].(map[string]any)["ignore"]
		spec["driftDetection"] = map[string]any{"mode": "enabled", "ignore": rules}
	}
	if c.rule == dropped {
		patch := map[string]any{"target": map[string]any{"kind": "Deployment"}, "patch": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: any}, spec: {replicas: null}}"}
		spec["postRenderers"] = []any{map[string]any{"kustomize": map[string]any{"patches": []any{patch}}}}
	}
	return text(t, map[string]any{
		"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": map[string]any{"name": "web", "namespace": c.name()}, "spec": spec,
	})
}

func parsed(t *testing.T, data []byte) (object map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// merge adds the fields of another object to an object.
func merge(into, from map[string]any) {
	for key, value := range from {
		below, is := value.(map[string]any)
		if has, ok := into[key].(map[string]any); ok && is {
			merge(has, below)
		} else {
			into[key] = value
		}
	}
}

// release contains the fields of a HelmRelease that the test reads.
type release struct {
	Metadata struct{ Generation int64 }
	Status   struct {
		ObservedGeneration     int64
		LastHandledReconcileAt string
		Conditions             []struct{ Type, Status, Reason, Message string }
	}
}

// released waits until Flux has finished the current HelmRelease of a cell, and has handled
// a request if it is not empty. It returns the error of a failed release.
func (w *world) released(t *testing.T, c cell, request string) (failed error) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
		var r release
		if err := w.Read(ctx, "/apis/helm.toolkit.fluxcd.io/v2/namespaces/"+c.name()+"/helmreleases/web", &r); err != nil {
			return err
		}
		for _, condition := range r.Status.Conditions {
			if condition.Type != "Ready" || r.Status.ObservedGeneration != r.Metadata.Generation || request != "" && r.Status.LastHandledReconcileAt != request {
				continue
			}
			if condition.Status == "True" {
				failed = nil
				return nil
			}
			if slices.Contains([]string{"InstallFailed", "UpgradeFailed"}, condition.Reason) {
				failed = errors.New(condition.Message)
				return nil
			}
		}
		return fmt.Errorf("it is %+v", r)
	})
	if err != nil {
		t.Fatalf("wait until HelmRelease %s is released: %v", c.name(), err)
	}
	return failed
}
