//go:build cluster || gitops || early

package handbook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// commandsUnder returns the commands in the code blocks of a section of a page, in order.
func commandsUnder(t *testing.T, page, heading string) (commands []string) {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("the page has no %q", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n#")
	for line := range strings.Lines(rest) {
		if command, indented := strings.CutPrefix(line, "    "); indented {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	if len(commands) == 0 {
		t.Fatalf("%q has no command", heading)
	}
	return commands
}

// shop are the manifests of a namespace with a Deployment and a StatefulSet, which omit their
// replicas, and a policy that latches them.
var shop = map[string]string{
	"gitlatch.yaml":                "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n",
	"apps/shop/kustomization.yaml": "resources: [namespace.yaml, web.yaml, cart.yaml]\n",
	"apps/shop/namespace.yaml":     "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n",
	"apps/shop/web.yaml":           controlplane.Workload("Deployment", "shop", "web") + "---\n" + controlplane.Autoscaler("Deployment", "shop", "web"),
	"apps/shop/cart.yaml":          controlplane.Workload("StatefulSet", "shop", "cart") + "---\n" + controlplane.Autoscaler("StatefulSet", "shop", "cart"),
}

// runs returns an error unless the workloads have the replicas.
func runs(cp *controlplane.ControlPlane, web, cart int32) func(context.Context) error {
	return func(ctx context.Context) error {
		var w, c struct {
			Spec   struct{ Replicas int32 }
			Status struct{ ReadyReplicas int32 }
		}
		err := errors.Join(cp.Read(ctx, "/apis/apps/v1/namespaces/shop/deployments/web", &w), cp.Read(ctx, "/apis/apps/v1/namespaces/shop/statefulsets/cart", &c))
		if err == nil && (w.Spec.Replicas != web || w.Status.ReadyReplicas != web || c.Spec.Replicas != cart || c.Status.ReadyReplicas != cart) {
			err = fmt.Errorf("web %+v, want %d; cart %+v, want %d", w, web, c, cart)
		}
		return err
	}
}

func eventually(t *testing.T, holds func(context.Context) error) {
	t.Helper()
	if err := controlplane.Eventually(t.Context(), 5*time.Minute, holds); err != nil {
		t.Fatal(err)
	}
}

// TestTheRunbookRecoversALostCluster deletes a cluster with levels in git, makes a new one,
// and runs the commands of the runbook in order. The traffic is late: the autoscalers lower
// the idle workloads before the brake.
func TestTheRunbookRecoversALostCluster(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	origin := gitserver.NewOrigin(t, filepath.Join(home, "origin.git"), shop)
	sh := newShell(t, home, origin.Dir, "")
	config := "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {bolt: prod-eu.db}\nperiod: 1h\nrepository: {url: " + origin.Dir + "}\n"
	if err := os.WriteFile(filepath.Join(sh.dir, "prod-eu.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs(root)
	if err == nil {
		err = os.Symlink(checkout, filepath.Join(sh.dir, "gitlatch"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if !t.Run("the lost cluster", func(t *testing.T) { sh.latches(t) }) {
		return
	}
	sh.recovers(t, docs.Text("runbook"))
}

// latches runs a cluster under load, until its levels are in git. The cluster is gone when
// the test t ends.
func (s *shell) latches(t *testing.T) {
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 1)
	cp.Metrics(t, func(string) string { return "7m" })
	s.kubeconfig = cp.Kubeconfig()
	s.must(t, "git clone --quiet "+fleetURL+" first && kubectl apply --server-side -k first/apps/shop")
	eventually(t, runs(cp, 2, 2)) // the autoscalers set their minimum once
	s.must(t, "kubectl scale -n shop deployment/web --replicas=42 && kubectl scale -n shop statefulset/cart --replicas=9")
	eventually(t, runs(cp, 42, 9))
	s.must(t, "kubectl wait -n shop --for=condition=ScalingActive hpa --all --timeout=240s")
	s.must(t, "gitlatch init -c prod-eu.yaml")
	s.must(t, "gitlatch tick -c prod-eu.yaml")
	s.must(t, "gitlatch tick -c prod-eu.yaml")
	if out := s.must(t, "gitlatch status -c prod-eu.yaml"); strings.Contains(out, "recovery") {
		t.Errorf("a recovery runs before the loss:\n%s", out)
	}
}

// recovers runs the commands of the page on a new cluster.
func (s *shell) recovers(t *testing.T, page string) {
	cp := controlplane.Start(t, controlplane.Options{
		ControllerManagerFlags: []string{"--horizontal-pod-autoscaler-downscale-stabilization=1s"},
	})
	cp.Nodes(t, 1)
	var use atomic.Value // CPU of each pod
	use.Store("1m")
	cp.Metrics(t, func(string) string { return use.Load().(string) })
	s.kubeconfig = cp.Kubeconfig()
	s.must(t, "kubectl config rename-context test prod-eu-green && kubectl config unset current-context")
	under := func(headings ...string) {
		for _, heading := range headings {
			for _, command := range commandsUnder(t, page, heading) {
				s.must(t, command)
			}
		}
	}
	// check runs the check of a step until it prints the states in this order.
	check := func(step int, states ...string) {
		t.Helper()
		eventually(t, func(context.Context) error {
			for _, command := range commandsUnder(t, page, fmt.Sprintf("### Check of step %d", step)) {
				out, status := s.run(t, command)
				if status != 1 {
					return fmt.Errorf("$ %s: exit status %d\n%s", command, status, out)
				}
				for rest, i := strings.Join(strings.Fields(out), " "), 0; i < len(states); i++ {
					var found bool
					if _, rest, found = strings.Cut(rest, states[i]); !found {
						return fmt.Errorf("no %q in\n%s", states[i], out)
					}
				}
				t.Logf("$ %s\n%s", command, out)
			}
			return nil
		})
	}

	under("## Before you start", "### By hand")
	eventually(t, runs(cp, 2, 2)) // no one acted in time
	check(1, "capacity (pending): 0 of 2 workloads (0 %) are ready at their level", "braked (pending)", "traffic (pending)", "adopted (pending)")
	under("## 2. Brake")
	check(2, "capacity (done)", "braked (done)", "traffic (pending)", "shop/web (14 %)", "released (pending): brakes in the cluster: 2", "Next: move the traffic")
	if err := runs(cp, 50, 10)(t.Context()); err != nil {
		t.Error(err)
	}
	var out string
	for _, m := range regexp.MustCompile("`(kubectl (?:get|describe) [^`]+)`").FindAllStringSubmatch(page, -1) {
		out += s.must(t, m[1])
	}
	for _, want := range []string{"v1beta1.metrics.k8s.io", "True", "No resources found", "Deployment/web"} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands that only read print no %q", want)
		}
	}
	use.Store("7m") // the traffic comes
	check(3, "capacity (done)", "braked (done)", "traffic (done)", "released (pending)", "Next: run gitlatch restore --release")
	under("## 4. Release")
	check(4, "capacity (done)", "traffic (done)", "released (done)", "adopted (pending)", "Next: run gitlatch adopt")
	under("## 5. Adopt")
	out = s.must(t, commandsUnder(t, page, "### Check of step 5")[0])
	if strings.Contains(out, "recovery") || !strings.Contains(out, "healthy") {
		t.Errorf("after the last step:\n%s", out)
	}
	if err := runs(cp, 50, 10)(t.Context()); err != nil {
		t.Error(err)
	}
}
