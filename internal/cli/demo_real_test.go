//go:build cluster

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// needs are the live pods of the 20 workloads of a cluster.
var needs = []int{160, 42, 38, 20, 18, 16, 14, 12, 9, 8, 7, 6, 6, 6, 4, 4, 4, 3, 2, 2}

// On a cluster with 20 workloads, the demo has the numbers of two drills: the drill of
// git before the checkpoints, and the drill after a flush of the same checkpoints. The
// README shows the sentence. Without the repository, the start is unknown.
func TestTheDemoOfARealClusterEqualsADrill(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 4)
	cp.Kubectl(t, "", "create", "namespace", "shop")
	cp.Kubectl(t, "", "apply", "-k", "../../infra/rbac/doctor")
	files := map[string]string{}
	kustomization := "resources:\n"
	var objects []string
	for i, pods := range needs {
		name := fmt.Sprintf("w%d", i)
		manifest := controlplane.Workload("Deployment", "shop", name)
		files["apps/"+name+".yaml"] = manifest
		kustomization += "- " + name + ".yaml\n"
		scaler := strings.NewReplacer("minReplicas: 2", "minReplicas: 1", "stabilizationWindowSeconds: 0", "selectPolicy: Disabled")
		objects = append(objects, strings.Replace(manifest, "spec:\n", fmt.Sprintf("spec:\n  replicas: %d\n", pods), 1),
			scaler.Replace(controlplane.Autoscaler("Deployment", "shop", name)))
	}
	files["apps/kustomization.yaml"] = kustomization
	cp.Apply(t, objects...)
	cp.Kubectl(t, "", "wait", "-n", "shop", "--for=condition=Available", "deployment", "--all", "--timeout=280s")

	w := &world{dir: t.TempDir(), now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	w.origin = gitserver.NewOrigin(t, w.path("fleet.git"), files)
	w.write(t, "config.yaml", fmt.Sprintf(configure, cp.KubeconfigAs(t, "person", "gitlatch:people"), w.path("state/latch.db"), w.origin.Dir))
	before := w.hash(t)
	folded := func(got outcome) string {
		t.Helper()
		if got.status != 0 || got.err != "" {
			t.Fatalf("%+v", got)
		}
		return strings.Join(strings.Fields(got.out), " ")
	}

	shown := folded(w.run("demo", "--cluster", "real", "--config", w.path("config.yaml"), "--path", "apps"))
	_, sentence, _ := strings.Cut(shown, "Lost now")
	sentence = "Lost now" + sentence
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(string(readme)), " "), sentence) {
		t.Errorf("the README does not show %q", sentence)
	}
	if got := folded(w.run("demo", "--cluster", "real", "--kubeconfig", cp.KubeconfigAs(t, "person", "gitlatch:people"))); !strings.Contains(got,
		"Lost now, this cluster would start with an unknown number of its 381 pods; with these checkpoints 484 pods, 30 s.") ||
		!strings.Contains(got, "set no replicas, a rebuild needs about 8 min 30 s. To compute the number, run") {
		t.Errorf("without a repository: %s", got)
	}
	if w.hash(t) != before {
		t.Error("the demo wrote a file")
	}

	fleet := func(args ...string) (f drill.Fleet) {
		t.Helper()
		got := w.run(append(args, "--path", "apps", "-o", "json")...)
		var d drill.Document
		if err := json.Unmarshal([]byte(got.out), &d); err != nil || d.Fleet.Coverage == nil {
			t.Fatalf("%v: %+v", err, got)
		}
		return d.Fleet
	}
	now := fleet("drill")
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latching, "apps/kustomization.yaml": kustomization + "components: [../checkpoints/prod-eu/shop]\n"}, "latch")
	then := fleet("drill", "--flush")
	want := fmt.Sprintf("Lost now, this cluster would start with %d of %d pods (%s) and need about %s; with these checkpoints %d pods, %s.",
		now.Covered, now.Need, term.Percent(*now.Coverage), drill.Span(now.With), then.Rebuilt, drill.Span(then.With))
	if sentence != want || then.Workloads != len(needs) || now.StuckWith+then.StuckWith > 0 {
		t.Errorf("the demo ends with\n%s\nand drills predict\n%s\n%+v\n%+v", sentence, want, now, then)
	}
}
