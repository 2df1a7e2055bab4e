//go:build aws

package stack

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

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
	steps := recipe("aws", "## Fleet")
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
