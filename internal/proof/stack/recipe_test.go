package stack

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// manifestsCommand prints the rights of the function and the rule, on the page of AWS.
const manifestsCommand = "(kubectl kustomize infra/rbac && echo --- && gitlatch render admission -c prod-eu.yaml) >gitlatch-prod-eu.yaml"

// A step is a command of a recipe, with a user's answers to its questions.
type step struct {
	command string
	answers map[string]string // by the text before the answer
}

// recipe returns the commands of a handbook topic: the lines that start with $, each
// with the answers in the lines below it.
func recipe(topic string) (steps []step) {
	for line := range strings.Lines(docs.Text(topic)) {
		line, indented := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if command, is := strings.CutPrefix(line, "$ "); indented && is {
			steps = append(steps, step{command, map[string]string{}})
		} else if asked := question.FindStringSubmatch(line); indented && asked != nil && len(steps) > 0 {
			steps[len(steps)-1].answers[asked[1]] = asked[2]
		}
	}
	return steps
}

// question matches a question of SAM, with the answer for Enter in brackets.
var question = regexp.MustCompile(`^\s*(\S[^\n]* \[[^\n]*\]:) ?([^\n]*)$`)

// workplace returns a folder with the files of this repository that SAM reads. Its
// functions have a trivial build.
func workplace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append([]string{"infra/samconfig.toml"}, sources...) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	write(t, filepath.Join(dir, "Makefile"), "build-%:\n\ttouch $(ARTIFACTS_DIR)/bootstrap\n")
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// play types a step's command, and its answers to SAM's questions. It accepts the
// changes, and types Enter for other questions.
func play(t *testing.T, s step, dir string, at *cloud) {
	t.Helper()
	playShown(t, s, dir, at)
}

// playShown is play, and returns the output.
func playShown(t *testing.T, s step, dir string, at *cloud) string {
	t.Helper()
	venv := program.Folder(t, "SAM's command line", filepath.Join("scripts", "python", "venv.sh"))
	cmd := command(t, "bash", "-c", s.command)
	cmd.Dir = dir
	// The environment has no settings of this machine. Requests to other hosts than
	// loopback, such as SAM's check for a newer version, go to a proxy that does not
	// exist.
	cmd.Env = []string{"PATH=" + filepath.Join(venv, "bin") + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(),
		"LANG=C.UTF-8", "SAM_CLI_TELEMETRY=0", "SAM_CLI_POLL_DELAY=0.05", "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1",
		"AWS_ENDPOINT_URL=" + at.URL, "AWS_DEFAULT_REGION=" + region, "AWS_ACCESS_KEY_ID=none", "AWS_SECRET_ACCESS_KEY=none"}
	keys, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer typed.Close()
	answers := maps.Clone(s.answers)
	shown := &screen{answer: func(asked string) {
		answer := answers[asked]
		delete(answers, asked)
		if strings.HasPrefix(asked, "Deploy this changeset?") {
			answer = "y"
		}
		_, _ = io.WriteString(typed, answer+"\n") // fails if the program has ended; its output has the reason
	}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = keys, shown, shown
	err = cmd.Run()
	keys.Close()
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.command, err, shown.all.Bytes())
	}
	for asked := range answers {
		t.Errorf("%s: never asks %q\n%s", s.command, asked, shown.all.Bytes())
	}
	return shown.all.String()
}

// A screen shows the output of a program, and answers its questions.
type screen struct {
	all    bytes.Buffer
	answer func(asked string)
}

func (s *screen) Write(p []byte) (int, error) {
	s.all.Write(p)
	said := s.all.Bytes()
	last := said[bytes.LastIndexByte(said, '\n')+1:]
	if asked := question.FindSubmatch(last); asked != nil && bytes.HasSuffix(last, []byte("]: ")) {
		s.answer(string(asked[1]))
		s.all.WriteByte('\n')
	}
	return len(p), nil
}

// SAM stores the answers and uses them in the next deployment. So a recipe must not
// give a temporary answer that another command takes back.
func TestWhatARecipeDeploysIsDeployedAgainAsItIs(t *testing.T) {
	t.Parallel()
	dir, at := workplace(t), newCloud(t)
	steps := recipe("fleet")
	for _, s := range steps {
		if !strings.HasPrefix(s.command, "kubectl ") {
			play(t, s, dir, at)
		}
	}
	deployed := at.deployed(t, "gitlatch-fleet")
	if len(deployed) < 2 {
		t.Fatalf("the recipe does not deploy twice: %v", steps)
	}
	for _, d := range deployed {
		for name, value := range d.parameters {
			if first := deployed[0].parameters[name]; value != first {
				t.Errorf("%s was deployed as %q, and then as %q", name, first, value)
			}
		}
		if !d.holds(map[string]any{"Condition": "Scheduled"}) {
			t.Error("deployed with its schedule off")
		}
		for _, said := range d.violated() {
			t.Error(said)
		}
	}
}

// The page of AWS has at most ten steps, and each is one command or one approval. Before the
// first tick, the group of the access entry has its rights, and the rules are in git.
func TestThePageOfAWSHasTenStepsInOrder(t *testing.T) {
	t.Parallel()
	steps := regexp.MustCompile(`\n### \d+\. `).Split(docs.Text("aws"), -1)[1:]
	for i, text := range steps {
		text, _, _ = strings.Cut(text, "\n### ")
		commands, approvals := strings.Count(text, "\n    $ "), strings.Count(text, "\n- **Approval**: ")
		if signs := strings.Count(text, "\n- **It worked if** "); commands+approvals != 1 || signs != 1 {
			t.Errorf("step %d has %d commands, %d approvals and %d signs", i+1, commands, approvals, signs)
		}
	}
	if len(steps) > 10 {
		t.Errorf("the page has %d steps", len(steps))
	}
	last := -1
	for _, command := range []string{"gitlatch init --aws", manifestsCommand, "gitlatch doctor --write -c prod-eu.yaml", deployCommand} {
		at := slices.IndexFunc(recipe("aws"), func(s step) bool { return s.command == command })
		if at <= last {
			t.Errorf("%s is step %d, and the step before it is %d", command, at, last)
		}
		last = at
	}
}
