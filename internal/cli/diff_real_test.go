//go:build cluster

package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// declaring returns the checkpoint file of shop with a level of web.
func declaring(level int32) string {
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	return string(checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{web: {Replicas: level, Min: 2, Max: 5000}}}.Format())
}

// A cluster with 1,874 live pods and a level of 2,000 in git is in sync. diff uses the
// rights of a tick and no state.
func TestDiffOnARealControlPlane(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 3)
	cp.Kubectl(t, "", "create", "namespace", "shop")
	var rights []string
	for _, name := range []string{"clusterrole.yaml", "clusterrolebinding.yaml"} {
		text, err := os.ReadFile("../../infra/rbac/" + name)
		if err != nil {
			t.Fatal(err)
		}
		rights = append(rights, string(text))
	}
	web := strings.Replace(controlplane.Workload("Deployment", "shop", "web"), "spec:\n", "spec:\n  replicas: 1874\n", 1)
	scaler := strings.Replace(controlplane.Autoscaler("Deployment", "shop", "web"), "maxReplicas: 200", "maxReplicas: 5000", 1)
	cp.Apply(t, append(rights, web, scaler)...)

	w := &world{dir: t.TempDir(), now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	w.origin = gitserver.NewOrigin(t, w.path("site.git"), map[string]string{"gitlatch.yaml": latching, shopRecord: declaring(2000)})
	w.write(t, "config.yaml", fmt.Sprintf(configure, cp.KubeconfigAs(t, "ci", "gitlatch:samplers"), w.path("state/latch.db"), w.origin.Dir))

	says := func(status int, words string) {
		t.Helper()
		err := controlplane.Eventually(t.Context(), 3*time.Minute, func(context.Context) error {
			got := w.run("diff", "shop/web")
			if out := strings.Join(strings.Fields(got.out), " "); got.status != status || !strings.Contains(out, words) || got.err != "" {
				return fmt.Errorf("want %d and %q, got %+v", status, words, got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	cp.Kubectl(t, "", "wait", "-n", "shop", "--for=jsonpath={.status.readyReplicas}=1874", "deployment/web", "--timeout=280s")
	says(0, "shop/web 1874 2000 in-sync the replica count of 1874 is within the thresholds of level 2000")

	cp.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=2001")
	says(1, "is above 2000, so the level changes to 5000 after 2 samples in a row")
	cp.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=600")
	says(0, "shop/web 600 2000 frozen the autoscaler cannot compute a replica count (ScalingActive is False")
	cp.Kubectl(t, "", "delete", "-n", "shop", "horizontalpodautoscaler/web")
	says(1, "600 is at or below 909, so the level changes to 1000 after 26h. The cluster allows any number of replicas, but git allows 2 to 5000 replicas")

	w.origin.Push(t, "main", map[string]string{shopRecord: declaring(1000)}, "less")
	tip := w.origin.Tip("main")
	cp.Apply(t, scaler)
	says(0, "shop/web 600 1000 in-sync")
	if _, err := os.Stat(w.path("state")); !errors.Is(err, os.ErrNotExist) || w.origin.Tip("main") != tip {
		t.Errorf("it wrote: state %v, branch at %s", err, w.origin.Tip("main"))
	}
}
