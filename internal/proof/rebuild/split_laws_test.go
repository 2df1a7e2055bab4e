package rebuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	gitways "github.com/gitlatch/gitlatch/internal/gitops/ways"
	restored "github.com/gitlatch/gitlatch/internal/restore/cluster"
	"github.com/gitlatch/gitlatch/internal/restore/split"
	"github.com/gitlatch/gitlatch/internal/testenv/audit"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

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
		got = append(got, fmt.Sprintf("%s %s %d%% of %d: %d, %d+%d", one.ID, one.Name, one.Reached, one.Replicas, one.Pods, one.Target-one.Surge, one.Surge))
	}
	want := []string{"shop/deployment/bad " + s.seed("bad") + " 30% of 20: 14, 6+2", "shop/deployment/web " + s.seed("web") + " 30% of 20: 14, 6+2"}
	if !slices.Equal(got, want) || !d.DryRun {
		t.Errorf("would seed %q, want %q", got, want)
	}
	if len(d.Left) != 1 || d.Left[0].ID.String() != "shop/deployment/late" || d.Left[0].Reason != "there" {
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
	client, err := restored.New(s.cp.As("ann", splitGroup))
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
