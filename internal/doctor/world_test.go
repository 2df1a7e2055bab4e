package doctor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var web = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}

// A world is the objects of a cluster, as YAML by a name, and the site in git. It starts as a
// site that Flux fills: the Kustomization apps depends on the Kustomization levels, and web
// has 42 pods and level 50. Its manifest omits replicas.
type world struct {
	objects map[string]string
	// forbidden are the resources that the cluster does not list.
	forbidden []string
	fail      string // a kind whose list fails
	minor     int
	site      string // the identity in the cluster
	policy    []byte // the file of the policy in the cluster; nil is the usual one
	data      map[string]string
	labels    map[string]string // of the ConfigMap with the levels
	wave      string            // of the ConfigMap, and of the policy
	handmade  bool              // no tool applies the policy
	change    func(*doctor.Case)
}

const (
	fluxOwned  = "labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}"
	nobody     = `{manager: kustomize-controller, operation: Apply, apiVersion: apps/v1, fieldsV1: {"f:spec": {"f:template": {}}}}`
	fluxStates = `{manager: kustomize-controller, operation: Apply, apiVersion: apps/v1, fieldsV1: {"f:spec": {"f:replicas": {}}}}`
	scaled     = `{manager: kube-controller-manager, operation: Update, subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}`
	updated    = `{manager: kubectl-client-side-apply, operation: Update, fieldsV1: {"f:spec": {"f:replicas": {}}}}`
)

func deployment(metadata, spec string, managers ...string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, %s, managedFields: [%s]}\nspec: {replicas: 42%s, selector: {}, template: {spec: {containers: [{name: app, resources: {requests: {cpu: 10m}}}]}}}\n",
		metadata, strings.Join(managers, ", "), spec)
}

// noted returns the annotation of a client-side apply.
func noted(spec string) string {
	return fmt.Sprintf(`kubectl.kubernetes.io/last-applied-configuration: '{"kind": "Deployment", "spec": %s}'`, spec)
}

func kustomization(name, spec, status string) string {
	return fmt.Sprintf("kind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\nspec: {%s}\nstatus: {conditions: [{type: Ready, status: %q, reason: Told, lastTransitionTime: '2026-11-20T08:00:00Z'}]}\n", name, spec, status)
}

func newWorld() *world {
	return &world{minor: 37, site: "prod", data: map[string]string{"deployment.web": "50"},
		labels: map[string]string{"kustomize.toolkit.fluxcd.io/name": "levels", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"},
		objects: map[string]string{
			"web":    deployment(fluxOwned, "", nobody),
			"apps":   kustomization("apps", "dependsOn: [{name: levels}]", "True"),
			"levels": kustomization("levels", "", "True"),
			"pool":   pool(500),
			"node":   node(2, ""),
		},
		change: func(*doctor.Case) {},
	}
}

// List returns the objects of a kind.
func (w *world) List(_ context.Context, _, resource, kind string) (all []json.RawMessage, err error) {
	if slices.Contains(w.forbidden, resource) {
		return nil, errors.New("forbidden: no")
	}
	if kind == w.fail {
		return nil, errors.New("timeout")
	}
	for _, name := range slices.Sorted(maps.Keys(w.objects)) {
		data, err := yaml.YAMLToJSON([]byte(w.objects[name]))
		if err != nil {
			return nil, err
		}
		var o struct{ Kind string }
		if err := json.Unmarshal(data, &o); err != nil {
			return nil, err
		}
		if o.Kind == kind {
			all = append(all, data)
		}
	}
	return all, nil
}

// Get returns no object.
func (w *world) Get(context.Context, string) (json.RawMessage, error) { return nil, nil }

// ReadLevels returns the objects of gitlatch.
func (w *world) ReadLevels(context.Context) admission.Levels {
	l := admission.Levels{Version: admission.Observed(w.minor), Policy: admission.Missing(), Bindings: admission.Observed([]map[string]any{})}
	var bindings []map[string]any
	file, _ := admission.Policy{}.Format()
	if w.policy != nil {
		file = w.policy
	}
	for _, text := range append(bytes.Split(file, []byte("\n---\n")), admission.Binding("shop")) {
		var o map[string]any
		if err := yaml.Unmarshal(text, &o); err != nil {
			panic(err)
		}
		switch o["kind"] {
		case "MutatingAdmissionPolicy":
			w.own(o["metadata"].(map[string]any))
			l.Policy = admission.Present(o)
		case "MutatingAdmissionPolicyBinding":
			bindings = append(bindings, o)
		}
	}
	l.Bindings = admission.Observed(bindings)
	annotations := map[string]string{}
	if w.wave != "" {
		annotations["argocd.argoproj.io/sync-wave"] = w.wave
	}
	maps.Copy(annotations, w.tracking())
	l.ConfigMaps = admission.Observed([]admission.ConfigMap{
		{Name: admission.Identity, Data: map[string]string{"name": w.site}},
		{Name: "shop", Data: w.data, Labels: w.labels, Annotations: annotations, Managers: []admission.Manager{{Name: "kubectl", Operation: "Apply"}}},
	})
	return l
}

// own makes the tool of the levels also apply the policy.
func (w *world) own(metadata map[string]any) {
	if w.handmade {
		return
	}
	labels, annotations := map[string]any{}, map[string]any{}
	for key, value := range w.labels {
		labels[key] = value
	}
	if w.wave != "" {
		annotations["argocd.argoproj.io/sync-wave"] = w.wave
	}
	if app := w.labels["application"]; app != "" {
		annotations["argocd.argoproj.io/tracking-id"] = app + ":admissionregistration.k8s.io/MutatingAdmissionPolicy:default/gitlatch-levels"
	}
	metadata["labels"], metadata["annotations"] = labels, annotations
}

// tracking returns the annotation of Argo CD on the levels, if the labels name an Application.
func (w *world) tracking() map[string]string {
	if app := w.labels["application"]; app != "" {
		return map[string]string{"argocd.argoproj.io/tracking-id": app + ":/ConfigMap:gitlatch-levels/shop"}
	}
	return nil
}

// read returns the case of the world.
func (w *world) read(t *testing.T) doctor.Case {
	t.Helper()
	file, err := admission.Policy{}.Format()
	if err != nil {
		t.Fatal(err)
	}
	c := doctor.Case{
		Site: "prod", Policy: "gitlatch.yaml", Admission: file,
		Tree: checkpoint.Tree{Site: checkpoint.Site{Name: "prod", Cluster: "blue"},
			Records: map[string]checkpoint.Record{"shop": {Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{web: {Replicas: 50}}}}},
		Fleet: workload.Fleet{Site: "prod", Cluster: "blue", Samples: []workload.Sample{{ID: web, Scale: &workload.Scale{Desired: 42, Ready: 42, Driver: workload.DrivenByHPA}}}},
	}
	c.Cluster = doctor.ReadCluster(t.Context(), w, nil)
	w.change(&c)
	c.ReadRoom(t.Context(), nil, nil)
	return c
}

// told returns the start of web, its start without gitlatch, and the findings, in one line.
func told(r doctor.Report) string {
	w := r.Workloads[0]
	return fmt.Sprintf("%s %s, without %s: %s", w.Start.Basis, w.Start, w.Without, strings.Join(lists.Map(r.Findings, func(f doctor.Finding) string { return string(f.Trap) }), " "))
}
