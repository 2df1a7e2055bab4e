//go:build gitops

package owners

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/helm"
)

// A setting is a way with its settings: first for the first step, then for the later ones.
type setting struct {
	way
	first, then string
}

func ways(settings []setting) (all []way) {
	for _, s := range settings {
		all = append(all, s.way)
	}
	return all
}

// of returns the setting of a cell in a step.
func of(settings []setting, c cell, step int) string {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.way == c.way })
	if step == 1 {
		return settings[i].first
	}
	return settings[i].then
}

// commands are kubectl and Helm.
func commands(t *testing.T, w *world) tool {
	const client, server = "kubectl apply -f -", "kubectl apply --server-side -f -"
	const forced = server + " --force-conflicts"
	const helm3, helm4 = "helm3 upgrade --install", "helm4 upgrade --install"
	settings := []setting{
		{way{"csa", "kubectl apply"}, client, client},
		{way{"ssa", "kubectl apply --server-side"}, server, server},
		{way{"ssa-force", "kubectl apply --server-side --force-conflicts"}, forced, forced},
		{way{"csa-ssa", "kubectl apply, then --server-side --force-conflicts"}, client, forced},
		{way{"replace", "kubectl create, then replace"}, "kubectl create -f -", "kubectl replace -f -"},
		{way{"helm3", "Helm 3"}, helm3, helm3},
		{way{"helm3-force", "Helm 3 --force"}, helm3, helm3 + " --force"},
		{way{"helm4", "Helm 4"}, helm4, helm4},
		{way{"helm4-force", "Helm 4 --force-conflicts"}, helm4, helm4 + " --force-conflicts"},
		{way{"helm4-csa", "Helm 4 --server-side=false"}, helm4 + " --server-side=false", helm4 + " --server-side=false"},
		{way{"helm4-csa-ssa", "Helm 4 --server-side=false, then --server-side=true --force-conflicts"}, helm4 + " --server-side=false", helm4 + " --server-side=true --force-conflicts"},
	}
	run := func(t *testing.T, c cell, step int, manifest string) error {
		words := strings.Fields(of(settings, c, step))
		if words[0] == "kubectl" {
			_, err := w.TryKubectl(t.Context(), manifest, words[1:]...)
			return err
		}
		args := append(words[1:], "app", checkout(t, chart(step, manifest)), "-n", c.namespace())
		return helm.Run(t, w.ControlPlane, helm.Major(words[0]), args...)
	}
	return tool{ways: ways(settings), apply: func(t *testing.T, step int, manifests map[cell]string) map[cell]error {
		failed := map[cell]error{}
		for c, manifest := range manifests {
			if err := run(t, c, step, manifest); err != nil {
				failed[c] = err
			}
		}
		return failed
	}}
}

// chart returns the files of a chart of one manifest, with the step as its version.
func chart(step int, manifest string) map[string]string {
	return map[string]string{
		"Chart.yaml":         fmt.Sprintf("apiVersion: v2\nname: app\nversion: 0.0.%d\n", step),
		"templates/all.yaml": manifest,
	}
}

// repository is the URL of the repository for Flux.
const repository = "https://git.example.com/fleet.git"

const gitRepository = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1h, url: %q, ref: {branch: main}}
`

// kustomization returns a Kustomization with further fields of its spec.
func kustomization(name, path, more string) string {
	return fmt.Sprintf(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: flux-system}
spec: {interval: 1h, retryInterval: 1s, prune: true, deletionPolicy: Orphan, sourceRef: {kind: GitRepository, name: fleet}, path: %s%s}
`, name, path, more)
}

// adopted is the setting of cells that kubectl creates.
const adopted = "adopted"

// kustomizeController is Flux with Kustomizations.
func kustomizeController(t *testing.T, w *world) tool {
	const ignore = ", ignore: [{paths: [/spec/replicas], target: {group: apps, kind: Deployment}}]"
	settings := []setting{
		{way{"plain", "Flux"}, "", ""},
		{way{"force", "Flux, force: true"}, ", force: true", ", force: true"},
		{way{"ignore", "Flux, spec.ignore of the replicas"}, ignore, ignore},
		{way{"adopt", "kubectl apply, then Flux"}, adopted, ""},
		{way{"adopt" + annotated, "the same with an annotation in the manifest"}, adopted, ""},
	}
	origin := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"README": ""})
	f := flux.Start(t, w.ControlPlane, map[string]*gitserver.Origin{repository: origin})
	return tool{
		ways: ways(settings),
		apply: func(t *testing.T, step int, manifests map[cell]string) map[cell]error {
			files, all := map[string]string{}, []string{fmt.Sprintf(gitRepository, repository)}
			for c, manifest := range manifests {
				if of(settings, c, step) == adopted {
					w.Kubectl(t, manifest, "apply", "-f", "-")
					continue
				}
				files["cells/"+c.namespace()+"/all.yaml"] = manifest
				all = append(all, kustomization(c.namespace(), "cells/"+c.namespace(), of(settings, c, step)))
			}
			commit := origin.Push(t, "main", files, fmt.Sprint("step ", step))
			w.Apply(t, all...)
			failed := map[cell]error{}
			for c := range manifests {
				if of(settings, c, step) == adopted {
					continue
				}
				if err := w.kustomized(t, c.namespace(), commit); err != nil {
					failed[c] = err
				}
			}
			return failed
		},
		reconcile: func(t *testing.T, step int, cells []cell) {
			for _, c := range cells {
				if of(settings, c, step) != adopted {
					f.Reconcile(t, c.namespace())
				}
			}
		},
	}
}

// kustomized waits until Flux has applied a commit, or has failed to. It returns the failure.
func (w *world) kustomized(t *testing.T, name, commit string) (failed error) {
	t.Helper()
	eventually(t, "Kustomization "+name+" has tried "+commit, func(ctx context.Context) error {
		var o struct {
			Status struct {
				LastAppliedRevision, LastAttemptedRevision string
				Conditions                                 []struct{ Type, Status, Message string }
			}
		}
		if err := w.Read(ctx, "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/"+name, &o); err != nil {
			return err
		}
		if strings.HasSuffix(o.Status.LastAppliedRevision, commit) {
			return nil
		}
		for _, c := range o.Status.Conditions {
			if c.Type == "Ready" && c.Status == "False" && strings.HasSuffix(o.Status.LastAttemptedRevision, commit) {
				failed = errors.New(c.Message)
				return nil
			}
		}
		return fmt.Errorf("it is %+v", o)
	})
	return failed
}

// application returns an Application with further fields of its metadata and its spec.
func application(name, path string, origin *gitserver.Origin, metadata, spec string) string {
	plain := ", directory: {recurse: true}"
	if strings.HasSuffix(path, "/") { // the folder has a kustomization.yaml
		plain = ""
	}
	return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %s, namespace: argocd%s}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc}
  source: {repoURL: %q, targetRevision: main, path: %s%s}
  %s
`, name, metadata, argocd.URL(origin), path, plain, spec)
}

// sync returns the sync policy of an Application.
func sync(automated string, options ...string) string {
	return fmt.Sprintf("syncPolicy: {automated: {%s}, syncOptions: [%s]}", automated, strings.Join(options, ", "))
}

// applicationController is Argo CD.
func applicationController(t *testing.T, w *world) tool {
	const heals, server, respect = "selfHeal: true", "ServerSideApply=true", "RespectIgnoreDifferences=true"
	const ignores = "ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]\n  "
	always := func(id, title, spec string) setting { return setting{way{id, title}, spec, spec} }
	settings := []setting{
		always("csa", "Argo CD", sync("")),
		always("csa-heal", "Argo CD, selfHeal", sync(heals)),
		always("ssa", "Argo CD, ServerSideApply", sync("", server)),
		always("ssa-heal", "Argo CD, ServerSideApply, selfHeal", sync(heals, server)),
		always("diff-heal", "Argo CD, ServerSideApply and ServerSideDiff, selfHeal", sync(heals, server)),
		always("ign-heal", "Argo CD, ignoreDifferences, selfHeal", ignores+sync(heals)),
		always("ssa-ign-heal", "Argo CD, ignoreDifferences, ServerSideApply, selfHeal", ignores+sync(heals, server)),
		always("respect", "Argo CD, RespectIgnoreDifferences, selfHeal", ignores+sync(heals, respect)),
		always("ssa-respect", "Argo CD, RespectIgnoreDifferences, ServerSideApply, selfHeal", ignores+sync(heals, respect, server)),
		{way{"csa-ssa", "Argo CD, then ServerSideApply"}, sync(""), sync("", server)},
		// Without selfHeal: if Argo CD compares before its cache has the new Deployment,
		// selfHeal syncs again, and Replace then resets the replicas, in some runs only.
		always("replace", "Argo CD, Replace", sync("", "Replace=true")),
	}
	origin := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"README": ""})
	argocd.Start(t, w.ControlPlane)
	return tool{
		ways: ways(settings),
		apply: func(t *testing.T, step int, manifests map[cell]string) map[cell]error {
			files, all := map[string]string{}, []string{}
			for c, manifest := range manifests {
				metadata := ""
				if c.way.id == "diff-heal" {
					metadata = ", annotations: {argocd.argoproj.io/compare-options: ServerSideDiff=true}"
				}
				files["cells/"+c.namespace()+"/all.yaml"] = manifest
				all = append(all, application(c.namespace(), "cells/"+c.namespace(), origin, metadata, of(settings, c, step)))
			}
			commit := origin.Push(t, "main", files, fmt.Sprint("step ", step))
			w.Apply(t, all...)
			w.refresh(t)
			failed := map[cell]error{}
			for c := range manifests {
				if err := w.synced(t, c.namespace(), commit); err != nil {
					failed[c] = err
				}
			}
			return failed
		},
		reconcile: func(t *testing.T, step int, cells []cell) {
			w.refresh(t)
			for _, c := range cells {
				spec := of(settings, c, step)
				status := "Synced"
				switch ignored := strings.Contains(spec, ignores); {
				case c.stated && !ignored && strings.Contains(spec, heals):
					// Argo CD may compare before its cache has the last write, so the end
					// of a refresh is not evidence that it has healed the replicas.
					w.healed(t, c.namespace())
				case c.stated && !ignored:
					status = "OutOfSync"
				}
				w.compared(t, c.namespace(), status)
			}
		},
	}
}

// healed waits until Argo CD has set the replicas of the manifest.
func (w *world) healed(t *testing.T, namespace string) {
	t.Helper()
	for _, name := range []string{"api", "hpa", "web"} {
		eventually(t, namespace+"/"+name+" is healed", func(context.Context) error { return want(w.look(t, namespace, name), 3, &shot{}) })
	}
}

// refresh makes Argo CD read git and compare for all Applications.
func (w *world) refresh(t *testing.T) {
	t.Helper()
	w.Kubectl(t, "", "annotate", "--overwrite", "-n", "argocd", "applications.argoproj.io", "--all", "argocd.argoproj.io/refresh=normal")
}

type condition struct{ Type, Message string }

// anApplication has the fields of an Application that the tests read.
type anApplication struct {
	Metadata  struct{ Annotations map[string]string }
	Operation any
	Status    struct {
		Sync           struct{ Status string }
		Conditions     []condition
		OperationState struct {
			Phase, Message string
			SyncResult     struct {
				Revision  string
				Resources []struct{ Status, Message string }
			}
		}
	}
}

// watch waits until an Application is in a state.
func (w *world) watch(t *testing.T, name, what string, holds func(anApplication) bool) {
	t.Helper()
	eventually(t, "Application "+name+" "+what, func(ctx context.Context) error {
		var o anApplication
		if err := w.Read(ctx, "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/"+name, &o); err != nil {
			return err
		}
		if !holds(o) {
			return fmt.Errorf("it is %+v", o)
		}
		return nil
	})
}

// synced waits until Argo CD has synced a commit, or one try has failed. It returns the failure.
func (w *world) synced(t *testing.T, name, commit string) (failed error) {
	t.Helper()
	w.watch(t, name, "has tried to sync "+commit, func(o anApplication) bool {
		state := o.Status.OperationState
		failed = nil
		if state.Phase == "Failed" || state.Phase == "Error" {
			failed = errors.New(state.Message)
		}
		for _, object := range state.SyncResult.Resources {
			if object.Status == "SyncFailed" {
				failed = errors.New(object.Message)
			}
		}
		return state.SyncResult.Revision == commit && (failed != nil || o.Operation == nil && state.Phase == "Succeeded")
	})
	return failed
}

// compared waits until the requested refresh of an Application is over, it has a status, and
// no sync is running.
func (w *world) compared(t *testing.T, name, status string) {
	t.Helper()
	w.watch(t, name, "is "+status, func(o anApplication) bool {
		_, requested := o.Metadata.Annotations["argocd.argoproj.io/refresh"]
		return !requested && o.Operation == nil && o.Status.Sync.Status == status && o.Status.OperationState.Phase != "Running"
	})
}

// helmController is Flux with HelmReleases.
func helmController(t *testing.T, w *world) tool {
	// Without pods, no Deployment becomes ready, and the controller would wait for that.
	const hurried = "install: {disableWait: true}\n  upgrade: {disableWait: true}\n  "
	const client = "install: {disableWait: true, serverSideApply: false}\n  upgrade: {disableWait: true, serverSideApply: disabled}\n  "
	const corrects = "driftDetection: {mode: enabled}"
	always := func(id, title, spec string) setting { return setting{way{id, title}, spec, spec} }
	settings := []setting{
		always("plain", "helm-controller", hurried),
		always("drift", "helm-controller, driftDetection", hurried+corrects),
		always("csa", "helm-controller, serverSideApply: false", client),
		always("csa-drift", "helm-controller, serverSideApply: false, driftDetection", client+corrects),
		always("ignore", "helm-controller, driftDetection that ignores the replicas", hurried+"driftDetection: {mode: enabled, ignore: [{paths: [/spec/replicas]}]}"),
	}
	server := gitserver.Start(t)
	origin := server.Create(t, "fleet", map[string]string{"README": ""})
	helm.StartFlux(t, w.ControlPlane)
	return tool{
		ways: ways(settings),
		apply: func(t *testing.T, step int, manifests map[cell]string) map[cell]error {
			files, all := map[string]string{}, []string{fmt.Sprintf(gitRepository, server.URL("fleet"))}
			for c, manifest := range manifests {
				for name, text := range chart(step, manifest) {
					files["cells/"+c.namespace()+"/"+name] = text
				}
				all = append(all, fmt.Sprintf(`apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: %[1]s}
spec:
  interval: 1h
  chart: {spec: {chart: ./cells/%[1]s, reconcileStrategy: Revision, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}}}
  %[2]s
`, c.namespace(), of(settings, c, step)))
			}
			origin.Push(t, "main", files, fmt.Sprint("step ", step))
			w.Apply(t, all...)
			w.request(t, "-n", "flux-system", "gitrepositories.source.toolkit.fluxcd.io")
			failed := map[cell]error{}
			for c := range manifests {
				if err := w.released(t, c.namespace(), fmt.Sprintf("0.0.%d+", step), ""); err != nil {
					failed[c] = err
				}
			}
			return failed
		},
		reconcile: func(t *testing.T, step int, cells []cell) {
			at := w.request(t, "-A", "helmreleases.helm.toolkit.fluxcd.io")
			for _, c := range cells {
				if err := w.released(t, c.namespace(), fmt.Sprintf("0.0.%d+", step), at); err != nil {
					t.Errorf("reconcile %s: %v", c.namespace(), err)
				}
			}
		},
	}
}

// request makes Flux reconcile all objects of a kind, and returns the time of the request.
func (w *world) request(t *testing.T, where ...string) (at string) {
	t.Helper()
	at = time.Now().Format(time.RFC3339Nano)
	w.Kubectl(t, "", append(append([]string{"annotate"}, where...), "--all", "--overwrite", "reconcile.fluxcd.io/requestedAt="+at)...)
	return at
}

// released waits until Flux has finished a version of the release of a namespace, and has
// handled a request if it is not empty. It returns the error of a failed release.
func (w *world) released(t *testing.T, namespace, version, request string) (failed error) {
	t.Helper()
	eventually(t, "the release of "+namespace+" has version "+version, func(ctx context.Context) error {
		var o struct {
			Status struct {
				History                []struct{ ChartVersion, Status string }
				Conditions             []struct{ Type, Status, Message string }
				LastHandledReconcileAt string
			}
		}
		if err := w.Read(ctx, "/apis/helm.toolkit.fluxcd.io/v2/namespaces/"+namespace+"/helmreleases/app", &o); err != nil {
			return err
		}
		s := o.Status
		if len(s.History) == 0 || !strings.HasPrefix(s.History[0].ChartVersion, version) || request != "" && s.LastHandledReconcileAt != request {
			return fmt.Errorf("it is %+v", o)
		}
		for _, c := range s.Conditions {
			switch {
			case c.Type == "Ready" && c.Status == "True" && s.History[0].Status == "deployed":
				failed = nil
				return nil
			case c.Type == "Ready" && c.Status == "False" && s.History[0].Status == "failed":
				failed = errors.New(c.Message)
				return nil
			}
		}
		return fmt.Errorf("it is %+v", o)
	})
	return failed
}
