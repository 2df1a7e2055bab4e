//go:build aws

package stack

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
	"github.com/gitlatch/gitlatch/internal/testenv/skip"
)

func TestTemplatesAreCleanByEveryValidator(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*testing.T, []string) []finding{"cfn-lint": lint, "cfn-guard": guard} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var files []string
			for _, file := range sources {
				files = append(files, absolute(t, filepath.Join(root, file)))
			}
			for _, f := range run(t, files) {
				t.Error(f)
			}
		})
	}
}

func TestDefectsAreCaughtByValidators(t *testing.T) {
	t.Parallel()
	for name, find := range finders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catch(t, name, find)
		})
	}
}

// finders find the defects of one kind, by validator. The defects that cfn-lint and SAM find are
// theirs to test.
var finders = map[string]func(t *testing.T, of []defect, files []string) []finding{
	"cfn-guard": func(t *testing.T, _ []defect, files []string) []finding { return guard(t, files) },
	"iam":       wrongDecisions,
	"endpoints": closedPassages,
}

// lint checks templates in their source form and as SAM translates them.
func lint(t *testing.T, files []string) []finding {
	t.Helper()
	venv := program.Folder(t, "cfn-lint", filepath.Join("scripts", "python", "venv.sh"))
	args := append([]string{absolute(t, filepath.Join(root, "scripts/stack/lint.py"))}, files...)
	return decode[finding](t, output(t, command(t, filepath.Join(venv, "bin", "python"), args...)))
}

func guard(t *testing.T, files []string) (found []finding) {
	t.Helper()
	args := []string{"validate", "--structured", "--output-format", "json", "--show-summary", "none",
		"--rules", absolute(t, filepath.Join(root, "infra/guard")), "--data"}
	// It exits with 19 if a template breaks a rule, and with 5 if it cannot read the
	// rules.
	out := output(t, command(t, guardBinary(t), append(args, files...)...), 19)
	var reports []struct {
		Name         string
		NotCompliant []struct {
			Rule struct {
				Name   string
				Checks json.RawMessage
			}
		} `json:"not_compliant"`
	}
	if err := json.Unmarshal(out, &reports); err != nil {
		t.Fatalf("cfn-guard: %v\n%s", err, out)
	}
	if len(reports) != len(files) {
		t.Fatalf("cfn-guard looked at %d files of %d", len(reports), len(files))
	}
	for _, r := range reports {
		for _, broken := range r.NotCompliant {
			found = append(found, finding{r.Name, "cfn-guard", broken.Rule.Name, "", string(broken.Rule.Checks)})
		}
	}
	return found
}

// guardBinary is in a package that wraps it for the CDK, for two systems on two
// architectures.
func guardBinary(t *testing.T) string {
	t.Helper()
	system, known := map[string]string{"linux": "ubuntu", "darwin": "macos"}[runtime.GOOS]
	machine, built := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if !known || !built {
		skip.Test(t, "needs cfn-guard, which is not packed for %s on %s", runtime.GOOS, runtime.GOARCH)
	}
	return filepath.Join(modules(t), "@cdklabs", "cdk-validator-cfnguard", "bin", system, machine, "cfn-guard")
}

func modules(t *testing.T) string {
	t.Helper()
	return filepath.Join(program.Folder(t, "validators of CloudFormation and IAM", filepath.Join("scripts", "npm", "install.sh")), "node_modules")
}

// node runs a script of scripts/stack, with a value as JSON on its input.
func node(t *testing.T, script string, input any) []byte {
	t.Helper()
	given, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "node", absolute(t, filepath.Join(root, "scripts/stack", script)))
	cmd.Stdin = bytes.NewReader(given)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules(t))
	return output(t, cmd)
}
