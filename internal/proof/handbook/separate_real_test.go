//go:build gitops

package handbook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// levelsURL is the separate repository on the page.
const levelsURL = "https://git.example.com/platform/levels.git"

// sectionOf returns a section of a page.
func sectionOf(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("the page has no %q", heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// blockOf returns the first YAML block of a text.
func blockOf(t *testing.T, text string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(text)
	if block == nil {
		t.Fatalf("no block of YAML in\n%s", text)
	}
	return block[1]
}

// A site with a separate repository is the cluster, the two repositories and the shell of
// a user who follows the page.
type separate struct {
	*shell
	cp            *controlplane.ControlPlane
	page          string
	fleet, levels *gitserver.Origin
	url           string // of levels
}

// A carrier applies fleet and levels to the cluster.
type carrier struct {
	section string
	known   bool // doctor knows the tool that applies fleet
	// start applies fleet, before gitlatch knows the site.
	start func(t *testing.T, s *separate)
	// sets follows the section of the page.
	sets func(t *testing.T, s *separate)
	// applied returns once the checkpoint files are in the cluster.
	applied func(t *testing.T, s *separate)
	// again applies fleet once more.
	again func(t *testing.T, s *separate)
}

// The page of a separate repository leads from the first commit to a drill, and a rebuild
// starts at the level, although gitlatch has no access to the manifests.
func TestTheSeparateRepositoryLeadsToADrill(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func() carrier{"by hand": byHand, "with Flux": withFlux, "with Argo CD": withArgoCD} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leadsToADrill(t, of())
		})
	}
}

func leadsToADrill(t *testing.T, way carrier) {
	home, server := t.TempDir(), gitserver.Start(t)
	s := &separate{
		cp: controlplane.Start(t, controlplane.Options{}),
		fleet: gitserver.NewOrigin(t, filepath.Join(home, "fleet.git"), map[string]string{
			"apps/shop/kustomization.yaml": "resources: [web.yaml]\n",
			"apps/shop/web.yaml":           controlplane.Workload("Deployment", "shop", "web") + "\n---\n" + controlplane.Autoscaler("Deployment", "shop", "web"),
		}),
		levels: server.Create(t, "levels", map[string]string{"README.md": "# Levels\n"}),
		url:    server.URL("levels"),
	}
	s.page = strings.ReplaceAll(docs.Text("separate-repository"), levelsURL, s.url)
	s.shell = newShell(t, home, s.fleet, s.cp.Kubeconfig())
	s.env = append(s.env, "GIT_TOKEN=secret")
	s.cp.Nodes(t, 1)
	s.cp.Metrics(t, func(string) string { return "7m" })
	s.cp.Kubectl(t, "", "create", "namespace", "shop")
	way.start(t, s)
	eventually(t, s.desired(2)) // the autoscaler sets its minimum once
	s.must(t, "kubectl scale -n shop deployment/web --replicas=42")
	eventually(t, s.desired(42))
	s.must(t, "kubectl wait -n shop --for=condition=ScalingActive hpa/web --timeout=240s")

	four := blockOf(t, sectionOf(t, s.page, "## Configure the site"))
	if n := strings.Count(four, "\n"); n != 4 {
		t.Errorf("the configuration has %d lines", n)
	}
	if way.section != "## By hand" {
		four = strings.Replace(four, ", checkpoints/prod-eu", "", 1)
	}
	config := "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {bolt: {path: prod-eu.db}}\n" + four
	if err := os.WriteFile(filepath.Join(s.dir, "prod-eu.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}

	commands := commandsUnder(t, s.page, "## Set up the site")
	if len(commands) != 12 {
		t.Fatalf("the page has the commands %q", commands)
	}
	for _, command := range commands[:8] {
		s.must(t, command)
	}
	way.sets(t, s)
	eventually(t, func(context.Context) error {
		out, status := s.run(t, commands[8]) // gitlatch doctor
		if (status == 0) != way.known || strings.Contains(out, "not-built") == way.known {
			return fmt.Errorf("$ %s: exit status %d\n%s", commands[8], status, out)
		}
		return nil
	})
	s.must(t, commands[9])
	if out := s.must(t, commands[10]); !strings.Contains(out, "shop/web new -> 50") {
		t.Errorf("the second tick prints\n%s", out)
	}
	way.applied(t, s)
	out, status := s.run(t, commands[11])
	full := strings.Contains(strings.Join(strings.Fields(out), " "), "a rebuild starts with 100 % of the needed pods")
	if (status == 0) != way.known || full != way.known {
		t.Errorf("the drill exits with status %d and prints\n%s", status, out)
	}
	eventually(t, s.desired(42)) // the level changes no running workload
	s.must(t, "kubectl delete -n shop deployment/web")
	way.again(t, s)
	eventually(t, s.desired(50))
}

// desired returns an error unless web has the replicas, and all of them are ready.
func (s *separate) desired(want int32) func(context.Context) error {
	return func(ctx context.Context) error {
		var web struct {
			Spec   struct{ Replicas int32 }
			Status struct{ ReadyReplicas int32 }
		}
		err := s.cp.Read(ctx, "/apis/apps/v1/namespaces/shop/deployments/web", &web)
		if err == nil && (web.Spec.Replicas != want || web.Status.ReadyReplicas != want) {
			err = fmt.Errorf("web is %+v, want %d", web, want)
		}
		return err
	}
}

// follow runs the commands of a section of the page.
func (s *separate) follow(t *testing.T, heading string) {
	t.Helper()
	ran := 0
	for _, step := range stepsOf(sectionOf(t, s.page, heading)) {
		if step.command != "" {
			s.must(t, step.command)
			ran++
		}
	}
	if ran == 0 {
		t.Errorf("%s has no commands", heading)
	}
}

func byHand() carrier {
	const section = "## By hand"
	apply := func(t *testing.T, s *separate) {
		s.must(t, "git clone --quiet "+fleetURL+" fleet-$RANDOM && kubectl apply -k fleet-*/apps/shop && rm -rf fleet-*")
	}
	return carrier{
		section: section,
		start:   apply,
		sets:    func(*testing.T, *separate) {},
		applied: func(t *testing.T, s *separate) { s.follow(t, section) },
		again:   apply,
	}
}

func withFlux() carrier {
	var tool *flux.Flux
	return carrier{
		section: "## With Flux",
		known:   true,
		start: func(t *testing.T, s *separate) {
			tool = flux.Start(t, s.cp, map[string]*gitserver.Origin{fleetURL: s.fleet, s.url: s.levels})
			s.cp.Apply(t, applied)
			tool.Applied(t, "shop", s.fleet.Tip("main"))
		},
		sets: func(t *testing.T, s *separate) {
			s.follow(t, "## With Flux")
			tool.Applied(t, "prod-eu-levels", s.levels.Tip("main"))
		},
		applied: func(t *testing.T, s *separate) { tool.Applied(t, "prod-eu-levels", s.levels.Tip("main")) },
		again:   func(t *testing.T, _ *separate) { tool.Reconcile(t, "shop") },
	}
}

// application is an Argo CD Application of fleet without a rule.
const application = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc"}
  source: {repoURL: %q, targetRevision: main, path: apps/shop}
  syncPolicy: {automated: {selfHeal: true}}
`

func withArgoCD() carrier {
	level := func(t *testing.T, s *separate) {
		eventually(t, func(ctx context.Context) error {
			var record struct{ Data map[string]string }
			err := s.cp.Read(ctx, "/api/v1/namespaces/shop/configmaps/gitlatch-checkpoint", &record)
			if err == nil && record.Data["deployment.web"] != "50" {
				err = fmt.Errorf("the checkpoint file in the cluster is %v", record.Data)
			}
			return err
		})
	}
	return carrier{
		section: "## With Argo CD",
		known:   true,
		start: func(t *testing.T, s *separate) {
			argocd.Start(t, s.cp)
			s.cp.Apply(t, fmt.Sprintf(application, argocd.URL(s.fleet)))
		},
		sets:    func(t *testing.T, s *separate) { s.follow(t, "## With Argo CD") },
		applied: level,
		again:   func(*testing.T, *separate) {}, // Argo CD heals the Application itself
	}
}
