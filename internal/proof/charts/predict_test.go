//go:build gitops

package charts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/chart/engine"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/testenv/helm"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
)

// predictions returns what doctor finds about each cell in the cluster and the
// repository: the effect of upgrades, and the replicas after a rebuild.
func (w *world) predictions(t *testing.T) map[string]method {
	t.Helper()
	report := w.examine(t)
	all := map[string]method{}
	for _, found := range report.Workloads {
		traps := lists.Map(lists.Filter(report.Findings, func(f doctor.Finding) bool { return f.Subject == found.ID.String() }),
			func(f doctor.Finding) doctor.Trap { return f.Trap })
		effect := keeps
		switch {
		case slices.Contains(traps, doctor.HelmConflict):
			effect = fails
		case slices.Contains(traps, doctor.ReplicasReset):
			effect = resets
		}
		all[found.ID.Namespace] = method{effect: effect, rebuilt: int(found.Start)}
	}
	return all
}

// examine returns doctor's report. No tool in the cluster applies the folder with the
// checkpoint files, the policy or the manifests that plain Helm renders, so a user names
// them.
func (w *world) examine(t *testing.T) doctor.Report {
	t.Helper()
	folders := append(w.render(t), checkpoint.Directory(site), "policy")
	sampler, err := kube.New(w.Config(), kube.Options{Site: site, Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := kube.NewObjects(w.Config())
	if err != nil {
		t.Fatal(err)
	}
	c := doctor.Case{Site: site, Set: config.DefaultPolicy(5 * time.Minute), Here: doctor.Here{Repository: w.url, Branch: "main", Tip: w.origin.Tip("main")}}
	c.Cluster = doctor.ReadCluster(t.Context(), objects, nil)
	if c.Fleet, err = sampler.Sample(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	repository := repomem.New(w.files)
	tip, _, err := repository.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Overlays, err = doctor.ReadOverlays(t.Context(), repository, tip, c.Cluster.Builds(folders...), doctor.Charts{Render: engine.Render}); err != nil {
		t.Fatal(err)
	}
	if c.Tree, err = checkpoint.ParseTree(site, data(w.files)); err != nil {
		t.Fatal(err)
	}
	report := doctor.Examine(c)
	if len(report.Unread) > 0 {
		t.Fatalf("doctor could not read %v", report.Unread)
	}
	return report
}

// render commits the manifests of plain Helm, one folder for each cell.
func (w *world) render(t *testing.T) (folders []string) {
	t.Helper()
	files := map[string]string{}
	for _, c := range w.of("helm4", "helm3") {
		out, folder := t.TempDir(), "rendered/"+c.name()
		args := append([]string{"template", "web"}, append(w.options(c), "--output-dir", out)...)
		if err := helm.Run(t, w.ControlPlane, helm.Major(c.tool), args...); err != nil {
			t.Fatal(err)
		}
		manifests, err := filepath.Glob(filepath.Join(out, "*", "templates", "*"))
		if err != nil {
			t.Fatal(err)
		}
		var list strings.Builder
		for _, file := range manifests {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			files[folder+"/"+filepath.Base(file)] = string(text)
			list.WriteString("- " + filepath.Base(file) + "\n")
		}
		files[folder+"/kustomization.yaml"] = "namespace: " + c.name() + "\nresources:\n" + list.String()
		folders = append(folders, folder)
	}
	w.push(t, files)
	return folders
}

// data returns files as bytes.
func data(files map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for name, text := range files {
		all[name] = []byte(text)
	}
	return all
}
