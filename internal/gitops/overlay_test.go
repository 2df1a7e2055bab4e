package gitops_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/gitops"
)

// files returns the files of a repository by path.
func files(of map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for name, text := range of {
		all[name] = []byte(text)
	}
	return all
}

// counts returns the replicas in an overlay, by workload.
func counts(o gitops.Overlay) string {
	var all []string
	for _, w := range o.Workloads {
		n := "-"
		if w.Replicas != nil {
			n = fmt.Sprint(*w.Replicas)
		}
		all = append(all, w.ID.String()+"="+n)
	}
	return strings.Join(all, " ")
}

func TestBuildingAsAToolDoes(t *testing.T) {
	t.Parallel()
	declared := checkpoints(t, entries{"shop/deployment/web": 200})
	for name, c := range map[string]struct {
		files map[string]string
		edits gitops.Edits
		want  string
	}{
		"as it stands": {map[string]string{"apps/shop/kustomization.yaml": "resources: [web.yaml]\ncomponents: [../../checkpoints/prod/shop]\n",
			"apps/shop/web.yaml": manifest("Deployment", "shop", "web", 0)}, gitops.Edits{}, "shop/deployment/web=200"},
		"a Component of the tool's": {map[string]string{"apps/shop/kustomization.yaml": "resources: [web.yaml]\n",
			"apps/shop/web.yaml": manifest("Deployment", "shop", "web", 0)},
			gitops.Edits{Fields: map[string]any{"components": []any{"../../checkpoints/prod/shop"}}}, "shop/deployment/web=200"},
		"a namespace of the tool's, at the level of the Component": {map[string]string{"apps/shop/kustomization.yaml": "resources: [web.yaml]\ncomponents: [../../checkpoints/prod/shop]\n",
			"apps/shop/web.yaml": manifest("Deployment", "", "web", 3)},
			gitops.Edits{Fields: map[string]any{"namespace": "shop"}}, "shop/deployment/web=3"},
		"without a kustomization": {map[string]string{"apps/shop/web.yaml": manifest("Deployment", "shop", "web", 2), "apps/shop/below/api.yml": manifest("Deployment", "shop", "api", 4)},
			gitops.Edits{}, "shop/deployment/web=2"},
		"without a kustomization, and all below": {map[string]string{"apps/shop/web.yaml": manifest("Deployment", "shop", "web", 2), "apps/shop/below/api.yml": manifest("Deployment", "shop", "api", 4)},
			gitops.Edits{Recurse: true}, "shop/deployment/api=4 shop/deployment/web=2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := files(c.files)
			maps.Copy(all, declared)
			o, err := gitops.Build(all, "apps/shop/", c.edits, nil)
			if err != nil || counts(o) != c.want {
				t.Errorf("got %s, %v, want %s", counts(o), err, c.want)
			}
		})
	}
}

func TestWhatABuildGivesBesideWorkloads(t *testing.T) {
	t.Parallel()
	all := files(map[string]string{
		"live/kustomization.yaml":             "namePrefix: blue-\nresources: [../base, ../checkpoints/prod]\n",
		"checkpoints/prod/kustomization.yaml": "resources: [shop/checkpoint.yaml]\n",
		"base/kustomization.yaml":             "resources: [all.yaml]\nreplicas: [{name: web, count: 4}]\n",
		"base/all.yaml": manifest("Deployment", "shop", "web", 1) + `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {minReplicas: 3, maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: cart}
spec: {minReplicaCount: 4, scaleTargetRef: {name: cart}}
`})
	maps.Copy(all, checkpoints(t, entries{"shop/deployment/web": 200}))
	o, err := gitops.Build(all, "live", gitops.Edits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range o.Autoscalers {
		got = append(got, fmt.Sprint(a.ID, a.Unplaced, a.Target, a.Min))
	}
	want := []string{"shop/horizontalpodautoscaler/blue-web false shop/deployment/blue-web 3", "default/scaledobject/blue-cart true default/deployment/cart 4"}
	if !slices.Equal(got, want) {
		t.Errorf("autoscalers %q, want %q", got, want)
	}
	if len(o.Records) != 0 {
		t.Errorf("records %v: the prefix renamed it, and no policy finds it", o.Records)
	}
	if len(o.Folders) != 3 || o.Folders[0].Prefix != "blue-" || !slices.Equal(o.Folders[1].Replicas, []string{"web"}) {
		t.Errorf("folders %+v", o.Folders)
	}
	all["live/kustomization.yaml"] = []byte("resources: [../base, ../checkpoints/prod]\n")
	if o, err = gitops.Build(all, "live", gitops.Edits{}, nil); err != nil || !slices.Equal(o.Records, []string{"shop"}) {
		t.Errorf("records %v, %v", o.Records, err)
	}
}

func TestNothingRemoteIsFetched(t *testing.T) {
	t.Parallel()
	for _, field := range []string{
		"resources: [https://example.com/web.yaml]", "resources: ['github.com/example/fleet//base?ref=v1']", "components: ['git@example.com:fleet.git']",
		"resources: ['ssh://git@example.com/fleet']", "patches: [{path: https://example.com/patch.yaml}]", "configMapGenerator: [{name: a, files: ['k=https://example.com/k']}]",
		"transformers: [https://example.com/t.yaml]", "openapi: {path: https://example.com/schema.json}", "crds: [http://example.com/crd.json]",
	} {
		all := files(map[string]string{"live/kustomization.yaml": "resources: [../base]\n", "base/kustomization.yaml": field + "\n"})
		_, err := render(all, "live", nil)
		if err == nil || !strings.Contains(err.Error(), "build base: gitlatch does not fetch the remote ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestTraceNamesWhatItLacks(t *testing.T) {
	t.Parallel()
	all := files(map[string]string{"live/kustomization.yaml": `resources: [../base, web.yaml, ../web.v2]
components: [../checkpoints/prod/shop]
patches: [{path: patch.yaml}, {patch: "- op: add"}]
patchesStrategicMerge: ["kind: Deployment\nmetadata: {name: web}\n"]
`})
	_, missing, err := gitops.Trace(all, "live")
	if want := []string{"base", "checkpoints/prod/shop", "live/patch.yaml", "live/web.yaml", "web.v2"}; err != nil || !slices.Equal(missing, want) {
		t.Errorf("missing %v, %v, want %v", missing, err, want)
	}
	if _, _, err := gitops.Trace(files(map[string]string{"kustomization.yaml": "resources: [../outside]\n"}), "."); err == nil || !strings.Contains(err.Error(), "outside the repository") {
		t.Errorf("leads outside: %v", err)
	}
}
