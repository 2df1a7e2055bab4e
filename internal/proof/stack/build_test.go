//go:build aws

package stack

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// sam runs SAM's command line with the settings of infra/samconfig.toml. It has a
// separate home folder, except for Go's caches, and no AWS account.
func sam(t *testing.T, subcommand string, args ...string) string {
	t.Helper()
	venv := program.Folder(t, "SAM's command line", filepath.Join("scripts", "python", "venv.sh"))
	args = append([]string{subcommand, "--config-file", "infra/samconfig.toml", "--region", region}, args...)
	cmd := command(t, filepath.Join(venv, "bin", "sam"), args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "SAM_CLI_TELEMETRY=0", "AWS_ACCESS_KEY_ID=none", "AWS_SECRET_ACCESS_KEY=none")
	for _, cache := range []string{"GOCACHE", "GOMODCACHE"} {
		cmd.Env = append(cmd.Env, cache+"="+strings.TrimSpace(string(output(t, command(t, "go", "env", cache)))))
	}
	return string(output(t, cmd))
}

// zipLimits are the limits for packed functions, in MB, because a cold start downloads
// them. The drill renders overlays and Helm charts, and users call it only sometimes: Helm's
// engine adds 8 MB.
var zipLimits = map[string]float64{"LatchFunction": 10, "RestoreFunction": 10, "RegionSwitchFunction": 10, "DrillFunction": 21,
	"FleetWorker": 10, "FleetDispatcher": 10}

func TestSAMBuildsWhatLambdaCanRun(t *testing.T) {
	t.Parallel()
	for file, env := range map[string]string{source: "default", drillSource: "drill", restoreSource: "restore", fleetSource: "fleet"} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			builds(t, file, env)
		})
	}
}

// builds builds a template with the settings of an environment.
func builds(t *testing.T, file, env string) {
	dir := t.TempDir()
	sam(t, "build", "--config-env", env, "--build-dir", dir)
	built := readFile(t, filepath.Join(dir, "template.yaml")).section("Resources")
	for id, f := range functions(read(t, file).section("Resources")) {
		if got := fmt.Sprint(at(f, "Properties", "Architectures"), " ", at(f, "Properties", "Runtime")); got != "[arm64] provided.al2023" {
			t.Errorf("%s is built for arm64 on provided.al2023, and runs on %s", id, got)
		}
		if got := at(built, id, "Properties", "CodeUri"); got != id {
			t.Errorf("the code of %s is in %v", id, got)
		}
		bootstrap := filepath.Join(dir, id, "bootstrap")
		binary, err := elf.Open(bootstrap)
		if err != nil {
			t.Fatal(err)
		}
		defer binary.Close()
		if binary.Machine != elf.EM_AARCH64 {
			t.Errorf("%s is built for %v", id, binary.Machine)
		}
		if libraries, err := binary.ImportedLibraries(); err != nil || len(libraries) != 0 {
			t.Errorf("%s needs libraries, which provided.al2023 may lack: %v %v", id, libraries, err)
		}

		limit := zipLimits[id]
		pack := command(t, "go", "run", "./scripts/zipsize", bootstrap, fmt.Sprint(limit))
		pack.Dir = root
		said := string(output(t, pack))
		var size float64
		if _, err := fmt.Sscanf(said, "figure zip_mb_arm64 %f", &size); err != nil || size > limit {
			t.Errorf("%s: %s(%v), and may be %g MB", id, said, err, limit)
		}
		t.Log(id, said)
	}
}
