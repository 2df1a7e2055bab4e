package rebuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/testenv/audit"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// What each Deployment of the split asks for, and how its manifest in git rolls.
const (
	splitPods   = 20
	splitBefore = 14 // 70 %, which is also what its autoscaler aims at
	splitSurge  = 2
	splitDown   = 6 // may be unavailable
	splitGroup  = "gitlatch:splitters"
	splitRights = "../../../infra/rbac/split/"
)

// TestASplitComesBackAsItWasLost loses three Deployments at 30/70, halted on
// their way to v2, and rebuilds the cluster with what real ticks recorded of them.
// Of web v2 is good, of bad no pod of v2 ever runs, and late is created before
// anything was seeded. The subtests are one story and run in order.
func TestASplitComesBackAsItWasLost(t *testing.T) {
	t.Parallel()
	s := &splitStory{keeper: newKeeper(t, splitFiles(), 5*time.Minute), log: audit.New(t, splitGroup)}
	if !t.Run("lost at 30/70", s.lose) {
		return
	}
	s.rebuild(t)
	for _, chapter := range []struct {
		name string
		tell func(*testing.T)
	}{
		{"with the policy of images there is nothing to seed", s.images},
		{"what is tried makes nothing", s.tries},
		{"seeds are taken back", s.takesBack},
		{"twice is once", s.twice},
		{"what changed since it was read is not taken back", s.conditions},
		{"a good v2 goes on from there to its end", s.good},
		{"of a bad v2 the pods of v1 survive", s.bad},
		{"it is undone to the seed", s.undone},
		{"what was adopted stays", s.stays},
		{"rights seen are those of the role", s.rights},
	} {
		if !t.Run(chapter.name, chapter.tell) {
			return
		}
	}
}

// splitFiles are what git has: v2, without a count.
func splitFiles() map[string]string {
	files := map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\ndefault: {acceptRisk: true}\n"}
	kustomization := "components: [../checkpoints/prod-eu/shop]\nresources:\n"
	for _, name := range []string{"web", "bad", "late"} {
		strategy := fmt.Sprintf("minReadySeconds: 1, progressDeadlineSeconds: 3, strategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: %d}}", splitSurge, splitDown)
		files["apps/"+name+".yaml"] = rolled(name, "app:2", strategy) + "---\n" + controlplane.Autoscaler("Deployment", "shop", name)
		kustomization += "- " + name + ".yaml\n"
	}
	files["apps/kustomization.yaml"] = kustomization
	return files
}

func rolled(name, image, spec string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: shop, annotations: {team: shop}}
spec: {selector: {matchLabels: {app: %[1]s}}, %[2]s, template: {metadata: {labels: {app: %[1]s, app.kubernetes.io/instance: shop}},
  spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: %[3]q, resources: {requests: {cpu: 10m}}}]}}}
`, name, spec, image)
}

// A splitStory is that of a site whose cluster is lost in the middle of rollouts.
type splitStory struct {
	*keeper
	record map[workload.ID]checkpoint.Entry
	log    *audit.Log
	cp     *controlplane.ControlPlane
	file   string // the configuration of the command
}

func (s *splitStory) start(t *testing.T, o controlplane.Options) *controlplane.ControlPlane {
	cp := controlplane.Start(t, o)
	cp.Nodes(t, 1)
	cp.Metrics(t, func(string) string { return "7m" }) // what the autoscalers aim at
	cp.Kubectl(t, "", "create", "namespace", "shop")
	return cp
}

// lose takes the Deployments so far, and ticks until git has it.
func (s *splitStory) lose(t *testing.T) {
	cp := s.start(t, controlplane.Options{})
	// Six pods of v2 in the place of six of v1, which are not available for as
	// long as the rollout is to go no further, and then it is halted.
	at := func(image string, ready int, paused bool) (all []string) {
		for _, name := range []string{"web", "bad", "late"} {
			all = append(all, rolled(name, image, fmt.Sprintf("replicas: %d, minReadySeconds: %d, paused: %t, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: %d}}", splitPods, ready, paused, splitDown)),
				controlplane.Autoscaler("Deployment", "shop", name))
		}
		return all
	}
	until := func(before, target int32) {
		must(t, controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
			for _, name := range []string{"web", "bad", "late"} {
				look, err := lookAt(ctx, cp, name)
				if err != nil || look.Before != before || look.Target != target || look.Pods != splitPods {
					return errors.Join(fmt.Errorf("%s: %+v", name, look), err)
				}
			}
			return nil
		}))
	}
	cp.Apply(t, at("app:1", 0, false)...)
	until(splitPods, 0)
	time.Sleep(time.Second) // a way back is told by which revision is younger, in seconds
	cp.Apply(t, at("app:2", 300, false)...)
	until(splitPods-splitDown, splitDown)
	cp.Apply(t, at("app:2", 0, true)...)
	sampler := s.sampler(t, cp, nil)
	for range 6 { // four are 15 minutes; the first may come before a generation is observed
		s.tick(t, sampler)
	}
	tree, err := checkpoint.ParseTree(site, s.branch(t))
	must(t, err)
	s.record = tree.Entries()
	for id, e := range s.record {
		if r := e.Rollout; e.Replicas != splitPods || r.Milestone != 30 || r.Phase != checkpoint.PhaseHalted || !r.ImagesOnly {
			t.Errorf("git has of %s: %+v", id, e)
		}
	}
	if len(s.record) != 3 {
		t.Errorf("git has of %d workloads", len(s.record))
	}
}

// rebuild starts an empty cluster, in which late is created at once.
func (s *splitStory) rebuild(t *testing.T) {
	s.cp = s.start(t, controlplane.Options{APIServerFlags: s.log.Flags})
	for _, file := range []string{"clusterrole.yaml", "clusterrolebinding.yaml"} {
		s.cp.Apply(t, read(t, splitRights+file))
	}
	s.file = filepath.Join(t.TempDir(), "config.yaml")
	must(t, os.WriteFile(s.file, fmt.Appendf(nil, "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: %s\nstate: {memory: {}}\ncluster: {kubeconfig: %q}\nrepository: {url: %q}\n",
		site, s.cp.KubeconfigAs(t, "ann", splitGroup), s.config.Repository.URL), 0o600))
	s.create(t, "late")
}

// create applies what git builds of a Deployment, as a GitOps tool does.
func (s *splitStory) create(t *testing.T, name string) {
	t.Helper()
	objects, err := gitops.Manifests(s.branch(t), "apps", gitops.Edits{})
	must(t, err)
	var own []string
	for _, o := range objects {
		var of struct{ Metadata struct{ Name string } }
		must(t, json.Unmarshal(o, &of))
		if of.Metadata.Name == name {
			own = append(own, string(o))
		}
	}
	if len(own) != 2 {
		t.Fatalf("git builds %q of %s", own, name)
	}
	s.cp.Apply(t, own...)
}

// either is any exit status.
const either = -1

// command runs gitlatch as a person does who may split.
func (s *splitStory) command(t *testing.T, status int, args ...string) (out, said string) {
	t.Helper()
	var o, e bytes.Buffer
	got := cli.Run(cli.Env{Out: &o, Err: &e, Getenv: func(string) string { return "" }, Clock: s.parts.Clock}, append(args, "--config", s.file))
	if got != status && status != either {
		t.Fatalf("%s: status %d, want %d: %s%s", strings.Join(args, " "), got, status, &o, &e)
	}
	return o.String(), e.String()
}

func (s *splitStory) plan(t *testing.T, status int, args ...string) (d restore.SplitReport) {
	t.Helper()
	if !slices.Contains(args, "--manifests") {
		args = append(args, "--path", "apps")
	}
	out, _ := s.command(t, status, append([]string{"restore", "--split", "-o", "json"}, args...)...)
	must(t, json.Unmarshal([]byte(out), &d))
	return d
}

// seeds are the names of the ReplicaSets that stand for a site, and their pods.
func (s *splitStory) seeds(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(s.cp.Kubectl(t, "", "get", "replicasets", "-n", "shop", "-l", "gitlatch.dev/seed=prod-eu", "-o", `jsonpath={range .items[*]}{.metadata.name} {.spec.replicas}{"\n"}{end}`))
}

// seed is the name of the ReplicaSet that a workload had of v1.
func (s *splitStory) seed(name string) string {
	return name + "-" + s.record[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}].Rollout.From.Hash
}
