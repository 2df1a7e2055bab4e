//go:build long

package doctor_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tests of this package fail if doctor assumes the answer to any of its questions. The
// program of the tests is built once, with a switch in front of each question.
func TestAnAssumedAnswerIsCaught(t *testing.T) {
	t.Parallel()
	const file = "doctor.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	questions := map[string]string{
		"applied": "e.applied(s)", "bound": "e.bound(s)", "first": "e.first(s)", "created": "e.created(s)",
		"admitted": "e.admitted(s)", "zero": "positive(m)", "reset": "kept(m, ignores)",
	}
	text := strings.Replace(string(source), "import (", "import (\n\t\"os\"", 1)
	for name, question := range questions {
		if n := strings.Count(text, question); n != 1 {
			t.Fatalf("%s asks %s %d times: rewrite the defect", file, question, n)
		}
		text = strings.Replace(text, question, `assume("`+name+`", `+question+`)`, 1)
	}
	text += `
func assume(question string, asked Answer) Answer {
	if os.Getenv("ASSUME") == question {
		return Shows("assumed")
	}
	return asked
}
`
	dir := t.TempDir()
	changed, overlay, program := filepath.Join(dir, file), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "doctor.test")
	original, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{changed: []byte(text), overlay: replace} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	tests := func(assumed string) (string, bool) {
		c := exec.CommandContext(t.Context(), program, "-test.failfast")
		c.Env = append(os.Environ(), "ASSUME="+assumed)
		out, err := c.CombinedOutput()
		return string(out), err == nil
	}
	if out, passed := tests(""); !passed {
		t.Fatalf("without a defect:\n%s", out)
	}
	for name := range questions {
		if out, passed := tests(name); passed || !strings.Contains(out, "--- FAIL: ") {
			t.Errorf("doctor assumes %s, and no test finds it:\n%s", name, out)
		}
	}
}
