//go:build cluster || gitops || early

package handbook

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A step is a command of the README, with the output that the README shows.
type step struct{ command, output string }

// stepsOf returns the commands in the code blocks of a text. A command starts with "$ ",
// and includes the lines of a here document up to EOF.
func stepsOf(text string) (steps []step) {
	document := false
	for line := range strings.Lines(text) {
		line, indented := strings.CutPrefix(line, "    ")
		command, is := strings.CutPrefix(line, "$ ")
		last := len(steps) - 1
		switch {
		case !indented && strings.TrimSpace(line) != "":
			steps = append(steps, step{}) // text ends an output
		case is:
			steps = append(steps, step{command: command})
			document = strings.Contains(command, "<<'EOF'")
		case document:
			steps[last].command += line
			document = line != "EOF\n"
		case last >= 0:
			steps[last].output += line
		}
	}
	return steps
}

// changing matches the values that differ in each run: ids, times and names of commits.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\b[0-9a-f]{7,40}\b|20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z)?`)

// steady returns the output without these values, and without the spaces of folded lines.
func steady(output string) string {
	return strings.Join(strings.Fields(changing.ReplaceAllString(output, "*")), " ")
}

// indented returns the output as a code block of a page.
func indented(output string) string {
	lines := "    " + strings.ReplaceAll(strings.TrimRight(output, "\n"), "\n", "\n    ") + "\n"
	return strings.ReplaceAll(lines, "    \n", "\n")
}

// The four commands in "Quick start" of the README lead to a first level in git, and print
// the output that the README shows.
func TestTheQuickStartOfTheReadmeRuns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(root, "README.md")
	readme, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(readme), "\n## Quick start\n")
	text, _, _ = strings.Cut(text, "\n## ")

	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 1)
	cp.Metrics(t, func(string) string { return "7m" })
	web := controlplane.Workload("Deployment", "shop", "web")
	cp.Kubectl(t, "", "create", "namespace", "shop")
	cp.Apply(t, web)
	cp.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=42")
	cp.Kubectl(t, "", "rollout", "status", "-n", "shop", "deployment/web", "--timeout=2m")
	// The autoscaler must not change the replicas, however slow the machine is. So it is
	// created after the scale. An autoscaler that sees one pod first may set its minimum,
	// even if its behavior should prevent that.
	cp.Apply(t, strings.Replace(controlplane.Autoscaler("Deployment", "shop", "web"), "stabilizationWindowSeconds: 0", "selectPolicy: Disabled", 1))
	cp.Kubectl(t, "", "wait", "-n", "shop", "hpa/web", "--for=condition=ScalingActive", "--timeout=2m")

	home := t.TempDir()
	origin := gitserver.NewOrigin(t, filepath.Join(home, "origin.git"), map[string]string{"apps/shop/web.yaml": web})
	sh := newShell(t, home, origin, cp.Kubeconfig())
	ran := 0
	for _, s := range stepsOf(text) {
		if s.command == "" {
			continue
		}
		ran++
		out, status := sh.run(t, s.command)
		if status != 0 {
			t.Fatalf("$ %sexit status %d\n%s", s.command, status, out)
		}
		t.Logf("$ %s%s", s.command, out)
		want := steady(s.output)
		switch {
		case want == "" || steady(out) == want:
		case *update:
			text := strings.Replace(string(readme), indented(s.output), indented(out), 1)
			if readme = []byte(text); os.WriteFile(file, readme, 0o644) != nil {
				t.Fatalf("%s cannot be written", file)
			}
		default:
			t.Errorf("$ %sprints\n%s\nand the README shows\n%s", s.command, out, s.output)
		}
	}
	if ran != 4 {
		t.Errorf("the README has %d commands", ran)
	}
	record := exec.CommandContext(t.Context(), "git", "-C", filepath.Join(sh.dir, "fleet.git"), "show", "main:checkpoints/local/shop.levels.yaml")
	if out, err := record.CombinedOutput(); err != nil || !strings.Contains(string(out), `deployment.web: "50"`) {
		t.Errorf("%v: the record is\n%s", err, out)
	}
}
