package gitops_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/gitops"
)

// A chart has workloads with and without a namespace, in lists and between comments, and
// hooks, which are not a part of a rebuild.
func TestBuildChart(t *testing.T) {
	t.Parallel()
	const (
		web    = "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3}\n"
		others = "---# Source: a\n# nothing\n---\r\nkind: Service\napiVersion: v1\nmetadata: {name: web}\n" +
			"---\nkind: List\napiVersion: v1\nitems: [{kind: StatefulSet, apiVersion: apps/v1, metadata: {name: db}}]\n" +
			"---\nkind: Deployment\napiVersion: apps/v1\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n" +
			"---\nkind: HorizontalPodAutoscaler\napiVersion: autoscaling/v2\nmetadata: {name: web, namespace: shop}\n" +
			"spec: {minReplicas: 2, scaleTargetRef: {kind: Deployment, apiVersion: apps/v1, name: web}}\n"
	)
	patched := gitops.Edits{Fields: map[string]any{"patches": []any{map[string]any{"patch": `[{"op": "replace", "path": "/spec/replicas", "value": 9}]`, "target": map[string]any{"name": "web", "kind": "Deployment"}}}}}
	for name, c := range map[string]struct {
		edits    gitops.Edits
		replicas int32
	}{
		"unchanged":          {gitops.Edits{}, 3},
		"with edits":         {patched, 9},
		"with edits of none": {gitops.Edits{Fields: map[string]any{"patches": []any{}}}, 3},
	} {
		o, err := gitops.BuildChart([]byte(web+others), "charts/web", c.edits, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(o.Workloads) != 2 || o.Dir != "charts/web" || o.Folders != nil || len(o.Autoscalers) != 1 || o.Autoscalers[0].Min != 2 {
			t.Fatalf("%s: %+v", name, o)
		}
		db, web := o.Workloads[0], o.Workloads[1]
		if db.ID.Name != "db" || !db.Unplaced || db.Replicas != nil || web.ID.Namespace != "shop" || web.Unplaced || *web.Replicas != c.replicas {
			t.Errorf("%s: %+v", name, o.Workloads)
		}
	}
	if _, err := gitops.BuildChart([]byte("---\n# Source: web/templates/a.yaml\na: b: c\n"), "charts/web", gitops.Edits{}, nil); err == nil || !strings.Contains(err.Error(), "Source: web/templates/a.yaml") {
		t.Errorf("the error names no template: %v", err)
	}
}
