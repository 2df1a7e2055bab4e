//go:build cluster || gitops || early

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
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
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

// changing matches the values that differ in each run: ids, times, names of commits, and the
// progress of a new Deployment, of which only the number of pods that it asks for is the same.
var changing = regexp.MustCompile(`\b\d+/|(?:\s+\d+){2}\s+\d+s\b|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\b[0-9a-f]{7,40}\b|20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z)?`)

// steady returns the output without these values, and without the spaces of folded lines.
func steady(output string) string {
	return strings.Join(strings.Fields(changing.ReplaceAllString(output, "*")), " ")
}

// indented returns the output as a code block of a page.
func indented(output string) string {
	lines := "    " + strings.ReplaceAll(strings.TrimRight(output, "\n"), "\n", "\n    ") + "\n"
	return strings.ReplaceAll(lines, "    \n", "\n")
}

// The commands in "Quick start" of the README lead from an empty repository to a workload that
// is created again at its level, and print the output that the README shows.
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
	sh := newShell(t, t.TempDir(), t.TempDir(), cp.Kubeconfig())
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
		if strings.Contains(s.command, "kubectl delete") {
			levelsAct(t, cp)
		}
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
	if ran != 15 {
		t.Errorf("the README has %d commands", ran)
	}
	if got := cp.Kubectl(t, "", "get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"); got != "50" {
		t.Errorf("the workload was created again with %s pods", got)
	}

	// The page that comes next says how to delete everything again.
	_, text, _ = strings.Cut(docs.Text("quickstart"), "If you ran the quick start of the README")
	text, _, _ = strings.Cut(text, "\n")
	deletes := regexp.MustCompile("`(kubectl delete [^`]+)`").FindAllStringSubmatch(text, -1)
	if len(deletes) != 2 {
		t.Fatalf("the page has %d commands that delete", len(deletes))
	}
	for _, command := range deletes {
		sh.must(t, command[1])
	}
	if left := cp.Kubectl(t, "", "get", "namespace,deployment,mutatingadmissionpolicy,mutatingadmissionpolicybinding", "-o", "name"); regexp.MustCompile("gitlatch|web").MatchString(left) {
		t.Errorf("the commands leave %s", left)
	}
}

// levelsAct waits until the API server has read the policy and the levels that were applied.
// A user who types the next command gives it the time.
func levelsAct(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		out, err := cp.TryKubectl(ctx, "", "create", "deployment", "web", "--image", "nginx", "--dry-run=server", "-o", "jsonpath={.spec.replicas}")
		if err == nil && out != "50" {
			err = fmt.Errorf("the workload would be created with %s pods", out)
		}
		return err
	})
}
