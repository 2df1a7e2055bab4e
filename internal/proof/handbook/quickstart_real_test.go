//go:build gitops

package handbook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// fluxCommand sends what the two commands of the page send, and waits as they do. The command
// flux itself contains all controllers, and takes minutes to build.
const fluxCommand = `#!/bin/bash
set -euo pipefail
reconcile() {
	local at
	at=$(date +%s%N)
	kubectl annotate --overwrite -n flux-system "$1" "reconcile.fluxcd.io/requestedAt=$at"
	until [ "$(kubectl get -n flux-system "$1" -o jsonpath={.status.lastHandledReconcileAt})" = "$at" ]; do sleep 0.2; done
	kubectl wait -n flux-system "$1" --for=condition=Ready --timeout=240s
}
source=gitrepositories.source.toolkit.fluxcd.io/flux-system
of=kustomizations.kustomize.toolkit.fluxcd.io
case "$*" in
"reconcile source git flux-system") reconcile $source ;;
"create kustomization apps --source=GitRepository/flux-system --path=./apps --prune --interval=1m")
	kubectl apply -f - <<EOF
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1m, prune: true, path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}
EOF
	kubectl wait -n flux-system $of/apps --for=condition=Ready --timeout=240s ;;
"reconcile kustomization "*" --with-source") reconcile $source && reconcile "$of/$3" ;;
"reconcile kustomization "*) reconcile "$of/$3" ;;
*) echo "the stand-in of flux does not know: $*" && exit 1 ;;
esac
`

const fluxSource = `{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: flux-system, namespace: flux-system}, spec: {interval: 1m, url: "` + fleetURL + `", ref: {branch: main}}}`

// The page "Quick start" leads from a manifest without replicas to a workload that Flux or Argo CD
// creates again at its level.
func TestTheQuickStartOfTheHandbookRuns(t *testing.T) {
	for name, start := range map[string]func(*testing.T, *controlplane.ControlPlane, *gitserver.Origin){
		"Flux": func(t *testing.T, cp *controlplane.ControlPlane, origin *gitserver.Origin) {
			flux.Start(t, cp, map[string]*gitserver.Origin{fleetURL: origin})
			cp.Apply(t, fluxSource)
		},
		"Argo CD": func(t *testing.T, cp *controlplane.ControlPlane, _ *gitserver.Origin) { argocd.Start(t, cp) },
	} {
		t.Run(name, func(t *testing.T) {
			cp := controlplane.Start(t, controlplane.Options{})
			cp.Nodes(t, 1)
			home := t.TempDir()
			origin := gitserver.NewOrigin(t, filepath.Join(home, "origin.git"), map[string]string{"README.md": "fleet\n"})
			start(t, cp, origin)
			sh := newShell(t, home, origin.Dir, cp.Kubeconfig())
			if err := os.WriteFile(filepath.Join(home, "bin/flux"), []byte(fluxCommand), 0o755); err != nil {
				t.Fatal(err)
			}
			sh.must(t, "git clone --quiet "+fleetURL+" clone")
			sh.dir = filepath.Join(sh.dir, "clone")
			ran := 0
			for _, command := range commandsFor(docs.Text("quickstart"), name) {
				ran++
				// The repository is in a folder, which needs no credential.
				command = strings.ReplaceAll(command, "  credential: env:GIT_TOKEN\n", "")
				if strings.Contains(command, "kind: Application") {
					command = strings.ReplaceAll(command, fleetURL, argocd.URL(origin))
				}
				command = strings.ReplaceAll(command, "url: "+fleetURL, "url: "+origin.Dir)
				// gitlatch cannot know by which URL a tool reads the folder, and names fleetURL.
				command = strings.Replace(command, " | kubectl", " | sed s#"+fleetURL+"#"+argocd.URL(origin)+"# | kubectl", 1)
				if strings.Contains(command, "kubectl delete") {
					policyActs(t, cp)
				}
				sh.must(t, command)
			}
			if ran < 14 {
				t.Errorf("the page has %d commands", ran)
			}
			eventually(t, func(ctx context.Context) error {
				var web struct{ Spec struct{ Replicas int32 } }
				err := cp.Read(ctx, "/apis/apps/v1/namespaces/default/deployments/web", &web)
				if err == nil && web.Spec.Replicas != 50 {
					err = fmt.Errorf("web was created again with %d pods", web.Spec.Replicas)
				}
				return err
			})
		})
	}
}

// policyActs waits until the API server has read the policy and its binding, as the page waits
// some seconds. A level of its own shows it, because web exists. The tool may remove this level at
// any time.
func policyActs(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		if _, err := cp.TryKubectl(ctx, "", "patch", "configmap", "default", "-n", "gitlatch-levels", "--type=merge", "-p", `{"data":{"deployment.probe":"7"}}`); err != nil {
			return err
		}
		out, err := cp.TryKubectl(ctx, "", "create", "deployment", "probe", "-n", "default", "--image", "nginx", "--dry-run=server", "-o", "jsonpath={.spec.replicas}")
		if err == nil && out != "7" {
			err = fmt.Errorf("a workload would be created with %s pods", out)
		}
		return err
	})
}

// commandsFor returns the commands in the code blocks of the page up to "Your own cluster", without
// the blocks of the other tool. A block after "If you use" is for one tool.
func commandsFor(page, tool string) (commands []string) {
	page, _, _ = strings.Cut(page, "\n## Your own cluster")
	other := map[string]string{"Flux": "Argo CD", "Argo CD": "Flux"}[tool]
	before := ""
	open, output := false, false
	for line := range strings.Lines(page) {
		code, indented := strings.CutPrefix(line, "    ")
		if !indented {
			if strings.TrimSpace(line) != "" {
				before = line
			}
			open, output = false, false
			continue
		}
		command, prompted := strings.CutPrefix(code, "$ ")
		switch {
		case strings.Contains(before, "If you use "+other):
		case open:
			commands[len(commands)-1] += command
			open = strings.HasSuffix(command, "\\\n") || strings.Contains(commands[len(commands)-1], "<<'EOF'") && command != "EOF\n"
		case output && !prompted:
		default:
			commands = append(commands, command)
			open = strings.HasSuffix(command, "\\\n") || strings.Contains(command, "<<'EOF'")
			output = prompted
		}
	}
	return commands
}
