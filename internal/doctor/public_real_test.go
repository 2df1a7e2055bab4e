//go:build gitops

package doctor_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// The charts of Go modules, with the values of a user.
func TestPublicCharts(t *testing.T) {
	t.Parallel()
	dir := program.Folder(t, "charts", filepath.Join("scripts", "charts", "build.sh"))
	for name, c := range map[string]struct {
		chart, values, workload string
		start                   int32 // 0 is unknown
		traps                   string
	}{
		"stated from a value":          {"cert-manager", "{replicaCount: 3}", "shop/deployment/web-cert-manager", 3, "stated-count"},
		"a default of a chart":         {"cert-manager", "{}", "shop/deployment/web-cert-manager", 1, "stated-count"},
		"at its level":                 {"cert-manager", "{replicaCount: 10}", "shop/deployment/web-cert-manager", 10, ""},
		"guarded":                      {"ingress-nginx", "{controller: {replicaCount: 10, autoscaling: {enabled: true}}}", "shop/deployment/web-ingress-nginx-controller", 1, "chart-guard"},
		"guarded by KEDA":              {"ingress-nginx", "{controller: {replicaCount: 10, keda: {enabled: true}}}", "shop/deployment/web-ingress-nginx-controller", 1, "chart-guard"},
		"a guard that is off":          {"ingress-nginx", "{controller: {replicaCount: 4}}", "shop/deployment/web-ingress-nginx-controller", 4, "stated-count"},
		"a constant":                   {"external-dns", "{replicaCount: 10}", "shop/deployment/web-external-dns", 1, "stated-count"},
		"another name of the value":    {"metrics-server", "{replicas: 5}", "shop/deployment/web-metrics-server", 5, "stated-count"},
		"a chart of a scheduler":       {"karpenter", "{replicas: 6}", "shop/deployment/web-karpenter", 6, "stated-count"},
		"dependencies from elsewhere":  {"kyverno", "{}", "shop/deployment/web-kyverno-admission-controller", 0, "not-built"},
		"the values file is not valid": {"metrics-server", "[]", "shop/deployment/web-metrics-server", 0, "not-built"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := application(c.workload, "{valuesObject: "+c.values+"}", folderOf(t, filepath.Join(dir, c.chart))).examine(t)
			if r.Workloads[0].Start != c.start || traps(r) != c.traps {
				t.Errorf("want %d, %q:\n%s", c.start, c.traps, tell(r))
			}
		})
	}
}

// folderOf returns the files of a folder by their path.
func folderOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
