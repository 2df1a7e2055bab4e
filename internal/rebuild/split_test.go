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
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/gitops"
	gitways "github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/restore"
	restored "github.com/gitlatch/gitlatch/internal/restore/cluster"
	"github.com/gitlatch/gitlatch/internal/restore/split"
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
	splitRights = "../../infra/rbac/split/"
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

func (s *splitStory) plan(t *testing.T, status int, args ...string) (d restore.SplitDocument) {
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

// images has the other way of coming back at work, which begins with v1 alone.
func (s *splitStory) images(t *testing.T) {
	record := string(s.branch(t)[checkpoint.RecordPath(site, "shop")])
	s.cp.Apply(t, record, string(gitways.Images(place)))
	until := func(returned int) {
		t.Helper()
		must(t, controlplane.Eventually(t.Context(), 3*time.Minute, func(context.Context) error {
			d, n := s.plan(t, either, "shop/web", "shop/bad"), 0
			for _, left := range d.Left {
				if left.Reason == "returned" {
					n++
				}
			}
			if n != returned || len(d.Seeded) != 2-returned {
				return fmt.Errorf("%+v", d)
			}
			return nil
		}))
	}
	until(2)
	s.cp.Kubectl(t, record+"---\n"+string(gitways.Images(place)), "delete", "-f", "-")
	until(0)
}

func (s *splitStory) tries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "apps.yaml")
	must(t, os.WriteFile(file, []byte(s.cp.Kubectl(t, "", "kustomize", filepath.Join(checkOut(t, s.branch(t)), "apps"))), 0o600))
	d := s.plan(t, 1, "--manifests", file)
	if by := s.plan(t, 1); fmt.Sprint(by.Seeded, by.Left) != fmt.Sprint(d.Seeded, d.Left) {
		t.Errorf("by the folder %+v, by its manifests %+v", by, d)
	}
	var got []string
	for _, one := range d.Seeded {
		got = append(got, fmt.Sprintf("%s %s %d%% of %d: %d, %d+%d", one.Workload, one.ReplicaSet, one.Reached, one.Replicas, one.Before, one.Target-one.Surge, one.Surge))
	}
	want := []string{"shop/deployment/bad " + s.seed("bad") + " 30% of 20: 14, 6+2", "shop/deployment/web " + s.seed("web") + " 30% of 20: 14, 6+2"}
	if !slices.Equal(got, want) || !d.DryRun {
		t.Errorf("would seed %q, want %q", got, want)
	}
	if len(d.Left) != 1 || d.Left[0].Workload != "shop/deployment/late" || d.Left[0].Reason != "there" {
		t.Errorf("left %+v", d.Left)
	}
	if made := s.cp.Kubectl(t, "", "get", "deployments,replicasets", "-n", "shop", "-o", "name"); strings.Contains(made, "/web") || strings.Contains(made, "/bad") {
		t.Errorf("a dry run made %s", made)
	}
}

func (s *splitStory) takesBack(t *testing.T) {
	if d := s.plan(t, 0, "shop/bad", "--yes"); len(d.Seeded) != 1 {
		t.Errorf("seeded %+v", d)
	}
	want := s.seed("bad") + " 14"
	if got := s.seeds(t); got != want {
		t.Fatalf("seeds %q, want %q", got, want)
	}
	s.command(t, 0, "restore", "release", "--split")
	if got := s.seeds(t); got != want {
		t.Errorf("a dry run left %q", got)
	}
	if out, _ := s.command(t, 0, "restore", "release", "--split", "--yes"); !strings.HasSuffix(out, "took back 1 seed\n") {
		t.Errorf("said %s", out)
	}
	must(t, controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		if look, err := lookAt(ctx, s.cp, "bad"); err != nil || look.Pods != 0 {
			return errors.Join(fmt.Errorf("%+v", look), err)
		}
		return nil
	}))
}

func (s *splitStory) twice(t *testing.T) {
	if d := s.plan(t, 1, "--yes"); len(d.Seeded) != 2 || len(d.Left) != 1 {
		t.Errorf("seeded %+v", d)
	}
	must(t, controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		for _, name := range []string{"web", "bad"} {
			if look, err := lookAt(ctx, s.cp, name); err != nil || look.Available != splitBefore || look.Pods != splitBefore {
				return errors.Join(fmt.Errorf("%s: %+v", name, look), err)
			}
		}
		return nil
	}))
	d := s.plan(t, 1, "--yes")
	if len(d.Seeded) != 0 || len(d.Standing) != 2 || d.Standing[0].Ready != splitBefore || d.Standing[0].Adopter != "" {
		t.Errorf("the second run seeded %+v", d)
	}
	if got, want := s.seeds(t), s.seed("bad")+" 14\n"+s.seed("web")+" 14"; got != want {
		t.Errorf("seeds %q, want %q", got, want)
	}
}

// conditions takes a seed back as it was before, and one that stood in its place.
func (s *splitStory) conditions(t *testing.T) {
	client, err := restored.New(s.cp.As("ann", splitGroup), nil)
	must(t, err)
	seeds, err := client.Seeds(t.Context(), site)
	must(t, err)
	for name, change := range map[string]func(*split.Standing){
		"before it changed": func(s *split.Standing) { s.Version = "1" },
		"another":           func(s *split.Standing) { s.UID = "0b9c8f0e-0000-4000-8000-000000000000" },
	} {
		changed := seeds[0]
		change(&changed)
		if err := client.Unseed(t.Context(), changed); !apierrors.IsConflict(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if others, err := client.Seeds(t.Context(), "prod-us"); err != nil || len(others) != 0 {
		t.Errorf("of another site: %+v %v", others, err)
	}
}

func (s *splitStory) good(t *testing.T) {
	end := s.watch(t, "web")
	s.create(t, "web")
	must(t, controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		if look, err := lookAt(ctx, s.cp, "web"); err != nil || look.Before != 0 || look.Target != splitPods || look.Available != splitPods {
			return errors.Join(fmt.Errorf("%+v", look), err)
		}
		return nil
	}))
	looks := end()
	first := slices.IndexFunc(looks, func(l splitLook) bool { return l.Target > 0 })
	if at := looks[first]; at.Before != splitBefore || at.Target != splitPods-splitBefore+splitSurge {
		t.Errorf("it came back at %+v, want %d of v2, the surge among them, and %d of v1", at, splitPods-splitBefore+splitSurge, splitBefore)
	}
	within(t, looks)
}

// within holds what was seen of a rollout against the bounds that it has.
func within(t *testing.T, looks []splitLook) {
	t.Helper()
	for _, l := range looks {
		if l.Before+l.Target > splitPods+splitSurge || l.Available < splitPods-splitDown {
			t.Errorf("seen: %+v", l)
		}
	}
	if len(looks) < 10 {
		t.Errorf("looked %d times only", len(looks))
	}
}

func (s *splitStory) bad(t *testing.T) {
	s.cp.Kubectl(t, "", "cordon", "node-1") // nothing that comes now has room
	end := s.watch(t, "bad")
	s.create(t, "bad")
	s.cp.Kubectl(t, "", "wait", "-n", "shop", "deployment/bad", "--for=condition=Progressing=false", "--timeout=180s")
	looks := end()
	within(t, looks)
	last := looks[len(looks)-1]
	if last.Before != splitBefore || last.Available != splitBefore || last.Target != splitPods-splitBefore+splitSurge {
		t.Errorf("v2 failed at %+v", last)
	}
}

func (s *splitStory) undone(t *testing.T) {
	s.cp.Kubectl(t, "", "rollout", "undo", "-n", "shop", "deployment/bad")
	s.cp.Kubectl(t, "", "uncordon", "node-1")
	must(t, controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		look, err := lookAt(ctx, s.cp, "bad")
		if err != nil || look.Before != splitPods || look.Target != 0 || look.Available != splitPods {
			return errors.Join(fmt.Errorf("%+v", look), err)
		}
		return nil
	}))
	if got := s.cp.Kubectl(t, "", "get", "deployment", "-n", "shop", "bad", "-o", "jsonpath={.metadata.annotations.team} {.spec.template.spec.containers[0].image}"); got != "shop app:1" {
		t.Errorf("undone it has %q", got)
	}
}

func (s *splitStory) stays(t *testing.T) {
	d := s.plan(t, 0, "shop/web", "shop/bad", "--yes")
	if len(d.Seeded) != 0 || len(d.Standing) != 2 || d.Standing[0].Adopter != "bad" || d.Standing[1].Adopter != "web" {
		t.Errorf("%+v", d)
	}
	before := s.seeds(t)
	out, _ := s.command(t, 0, "restore", "release", "--split", "--yes")
	if after := s.seeds(t); after != before || !strings.HasSuffix(out, "no seed to take back\n") {
		t.Errorf("%s: from %s to %s", out, before, after)
	}
}

func (s *splitStory) rights(t *testing.T) {
	if got, want := s.log.Seen(t), audit.Granted(t, splitRights+"clusterrole.yaml"); !slices.Equal(got, want) {
		t.Errorf("asked for\n%s\nand granted is\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A splitLook is what is seen of a Deployment at once, in pods.
type splitLook struct {
	Before, Target  int32 // asked for, of v1 and of v2
	Pods, Available int32 // of both
}

func lookAt(ctx context.Context, cp *controlplane.ControlPlane, name string) (l splitLook, err error) {
	var list struct {
		Items []struct {
			Spec struct {
				Replicas int32
				Template struct {
					Spec struct{ Containers []struct{ Image string } }
				}
			}
			Status struct{ Replicas, AvailableReplicas int32 }
		}
	}
	err = cp.Read(ctx, "/apis/apps/v1/namespaces/shop/replicasets?labelSelector=app%3D"+name, &list)
	for _, o := range list.Items {
		if o.Spec.Template.Spec.Containers[0].Image == "app:1" {
			l.Before += o.Spec.Replicas
		} else {
			l.Target += o.Spec.Replicas
		}
		l.Pods += o.Status.Replicas
		l.Available += o.Status.AvailableReplicas
	}
	return l, err
}

// watch looks at a Deployment all the time, until it is told to end.
func (s *splitStory) watch(t *testing.T, name string) (end func() []splitLook) {
	ctx, stop := context.WithCancel(t.Context())
	var looks []splitLook
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			if l, err := lookAt(ctx, s.cp, name); err == nil {
				looks = append(looks, l)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return func() []splitLook {
		stop()
		watching.Wait()
		return looks
	}
}
