//go:build gitops

package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// taken returns the rows that this run includes.
func taken(all map[string]row) map[string]row {
	all = maps.Clone(all)
	maps.DeleteFunc(all, func(_ string, r row) bool { return !r.short && os.Getenv("GITLATCH_TOOLS") != "all" })
	return all
}

const (
	created, scaled, next = 5, 9, 3 // pods: the first level, the autoscaler's replicas, the second level
	rowAudit              = `apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch]
  resources: [{group: apps, resources: [deployments, deployments/scale, statefulsets, statefulsets/scale]}]
- level: None
`
)

// doctor's report on an object matches the real tool's effect on live replicas.
func TestDoctorSaysWhatTheToolsDo(t *testing.T) {
	t.Parallel()
	rows := taken(argoRows)
	flows := taken(fluxRows)
	cp := controlplane.Start(t, controlplane.Options{Audit: rowAudit})
	origin := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"nothing/none.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: none, namespace: default}}\n"})
	w := &toolbench{ControlPlane: cp, origin: origin, rows: maps.Clone(rows)}
	maps.Copy(w.rows, flows)
	w.push(t, created, "first")
	origin.Git(t, "branch", "other", "main")

	argo := argocd.Start(t, cp)
	cp.Kubectl(t, "", "patch", "configmap", "-n", "argocd", "argocd-cm", "--type=merge", "-p",
		`{"data":{"resource.customizations.ignoreDifferences.apps_StatefulSet":"jsonPointers: [/spec/replicas]"}}`)
	var objects []string
	for name, r := range rows {
		objects = append(objects, r.application(name, argocd.URL(origin)))
	}
	if len(flows) > 0 {
		flux.Start(t, cp, map[string]*gitserver.Origin{argocd.URL(origin): origin})
		objects = append(objects, fmt.Sprintf("{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: rows, namespace: flux-system}, spec: {interval: 1m, url: %q, ref: {branch: main}}}", argocd.URL(origin)))
		for name, r := range flows {
			objects = append(objects, r.kustomization(name))
		}
	}
	cp.Apply(t, objects...)
	w.settle(t, "is created", func(_ string, _ row, count int) bool { return count > 0 })
	for name := range rows {
		argo.Reconcile(t, name)
	}
	for name, r := range w.rows {
		w.scale(t, name, r)
	}
	at := time.Now()

	said := w.examine(t)
	commit := w.push(t, next, "second")
	for name, r := range rows {
		if !r.idle {
			argo.Applied(t, name, commit)
		}
	}
	w.settle(t, "has seen the commit", func(name string, r row, _ int) bool { return r.idle || w.applied(t, name, commit) })

	wrong := 0
	for _, name := range slices.Sorted(maps.Keys(w.rows)) {
		r, inert := w.rows[name], said[name] != ""
		count, by := w.wrote(t, name, at)
		is := count == scaled
		t.Logf("%-24s doctor: %-9s  after the commit: %d, written by %s", name, map[bool]string{true: "inert", false: "not known"}[inert], count, by)
		switch {
		case inert && !is:
			wrong++
			t.Errorf("%s: doctor says %q, and %s wrote %d", name, said[name], by, count)
		case !inert && is && r.why == "":
			wrong++
			t.Errorf("%s: doctor knows nothing that keeps the count, and it was kept", name)
		case inert && r.why != "":
			t.Errorf("%s: doctor knows what keeps it, and the row says why not: %s", name, r.why)
		}
	}
	fmt.Printf("figure doctor_rows_against_the_tools %d\n", len(w.rows))
	fmt.Printf("figure doctor_rows_wrong %d\n", wrong)
}

// A toolbench is a cluster with one workload for each row, in a namespace with the row's
// name.
type toolbench struct {
	*controlplane.ControlPlane
	origin *gitserver.Origin
	rows   map[string]row
	files  map[string]string
}

func (r row) resource() string {
	if r.kind == "StatefulSet" {
		return "statefulsets"
	}
	return "deployments"
}

func (r row) id(name string) workload.ID {
	kind := workload.Deployment
	if r.kind == "StatefulSet" {
		kind = workload.StatefulSet
	}
	return workload.ID{Namespace: name, Kind: kind, Name: "web"}
}

// application returns the Application of a row. The fields in its spec replace the
// defaults.
func (r row) application(name, url string) string {
	spec := r.spec
	if !strings.Contains(spec, "source: ") && !strings.Contains(spec, "sources: ") {
		spec = "source: {repoURL: REPOSITORY, targetRevision: main, path: rows/NAME}, " + spec
	}
	if !strings.Contains(spec, "destination: ") {
		spec = "destination: {server: https://kubernetes.default.svc}, " + spec
	}
	spec = strings.NewReplacer("REPOSITORY", url, "NAME", name).Replace(strings.TrimSuffix(spec, ", "))
	return fmt.Sprintf("{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: %s, namespace: argocd}, spec: {project: default, %s, syncPolicy: {automated: {selfHeal: true}, syncOptions: [%s]}}}", name, spec, r.options)
}

func (r row) kustomization(name string) string {
	return fmt.Sprintf("{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: %s, namespace: flux-system}, spec: {interval: 1m, prune: false, sourceRef: {kind: GitRepository, name: rows}, path: rows/%[1]s, %s}}", name, r.spec)
}

// push commits a workload for each row, with its checkpoint entry.
func (w *toolbench) push(t *testing.T, declared int32, tag string) string {
	t.Helper()
	var changes []checkpoint.Change
	w.files = map[string]string{}
	for name, r := range w.rows {
		changes = append(changes, checkpoint.Change{ID: r.id(name), To: checkpoint.Entry{Replicas: declared, Min: 1, Max: 20}})
		meta := "tag: " + tag
		if r.meta != "" {
			meta += ", " + r.meta
		}
		kind := map[bool]string{true: "StatefulSet", false: "Deployment"}[r.kind == "StatefulSet"]
		w.files["rows/"+name+"/web.yaml"] = fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}\n---\n", name) +
			strings.Replace(controlplane.Workload(kind, name, "web"), "metadata: {", "metadata: {annotations: {"+meta+"}, ", 1)
		w.files["rows/"+name+"/kustomization.yaml"] = "resources: [web.yaml]\ncomponents: [../../checkpoints/prod/" + name + "]\n"
	}
	written, skipped := checkpoint.Merge(checkpoint.Tree{}, checkpoint.Site{Name: "prod"}, changes)
	if len(skipped) > 0 {
		t.Fatalf("skipped %v", skipped)
	}
	for name, data := range written {
		w.files[name] = string(data)
	}
	return w.origin.Push(t, "main", w.files, tag)
}

// path returns the API path of a row's workload.
func (w *toolbench) path(name string) string {
	return "/apis/apps/v1/namespaces/" + name + "/" + w.rows[name].resource() + "/web"
}

func (w *toolbench) count(ctx context.Context, name string) (int, error) {
	var object struct{ Spec struct{ Replicas int } }
	err := w.Read(ctx, w.path(name), &object)
	return object.Spec.Replicas, err
}

// settle waits until holds is true for each row and its replicas.
func (w *toolbench) settle(t *testing.T, what string, holds func(string, row, int) bool) {
	t.Helper()
	for name, r := range w.rows {
		err := controlplane.Eventually(t.Context(), 4*time.Minute, func(ctx context.Context) error {
			count, err := w.count(ctx, name)
			if err == nil && !holds(name, r, count) {
				err = errors.New("it does not")
			}
			return err
		})
		if err != nil {
			t.Fatalf("wait until %s %s: %v", name, what, err)
		}
	}
}

// applied reports whether Flux has applied a commit of a row. It is true for a row
// without Flux.
func (w *toolbench) applied(t *testing.T, name, commit string) bool {
	t.Helper()
	if _, ok := fluxRows[name]; !ok {
		return true
	}
	var object struct {
		Status struct{ LastAppliedRevision string }
	}
	err := w.Read(t.Context(), "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/"+name, &object)
	return err == nil && strings.HasSuffix(object.Status.LastAppliedRevision, ":"+commit)
}

// scale writes replicas under the autoscaler's manager name.
func (w *toolbench) scale(t *testing.T, name string, r row) {
	t.Helper()
	w.Kubectl(t, "", "patch", r.resource()+"/web", "-n", name, "--subresource=scale", "--field-manager=kube-controller-manager",
		"--type=merge", "-p", fmt.Sprintf(`{"spec":{"replicas":%d}}`, scaled))
}

// examine returns the rule that doctor finds for the replicas of each row; "" if it
// finds none.
func (w *toolbench) examine(t *testing.T) map[string]string {
	t.Helper()
	sampler, err := kube.New(w.Config(), kube.Options{Site: "prod", Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := kube.NewObjects(w.Config())
	if err != nil {
		t.Fatal(err)
	}
	c := doctor.Case{Site: "prod", Set: config.DefaultPolicy(5 * time.Minute), Here: doctor.Here{Repository: argocd.URL(w.origin), Branch: "main", Tip: w.origin.Tip("main")}}
	c.Cluster = doctor.ReadCluster(t.Context(), objects, nil)
	if c.Fleet, err = sampler.Sample(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	repository := repomem.New(w.files)
	tip, _, err := repository.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Overlays, err = doctor.ReadOverlays(t.Context(), repository, tip, c.Cluster.Builds(), doctor.Charts{}); err != nil {
		t.Fatal(err)
	}
	tree := map[string][]byte{}
	for name, text := range w.files {
		tree[name] = []byte(text)
	}
	if c.Tree, err = checkpoint.ParseTree("prod", tree); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	r := doctor.Examine(c)
	for _, found := range r.Workloads {
		said[found.ID.Namespace] = found.Inert.Line()
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%s", tell(r))
	}
	return said
}

// wrote returns the replicas of a row, and the user who wrote other replicas than the
// autoscaler's since a time; "" if no one did.
func (w *toolbench) wrote(t *testing.T, name string, since time.Time) (count int, by string) {
	t.Helper()
	for _, r := range w.Audit(t) {
		var answer struct{ Spec struct{ Replicas int } }
		if r.Object.Namespace != name || r.Code >= 300 || r.At.Before(since) || strings.Contains(r.URI, "dryRun=") || json.Unmarshal(r.Answers, &answer) != nil {
			continue
		}
		if answer.Spec.Replicas != scaled {
			by = r.User
		}
	}
	count, err := w.count(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return count, by
}
