//go:build aws

package stack

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sites are the parameters that infra/samconfig.toml shows.
func sites(t *testing.T, text string) []string {
	t.Helper()
	blocks := regexp.MustCompile(`(?m)^# parameter_overrides = \[\n(?:#   .+\n)+# \]\n`).FindAllString(text, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d blocks of parameters", len(blocks))
	}
	return blocks
}

// The parameters of a site are in a copy that git ignores. A fleet that is built in
// between does not change the site's deployment.
func TestASitesParametersAreInAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	shown, err := os.ReadFile(filepath.Join(root, "infra/samconfig.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for i, wants := range []map[string]string{
		{"Site": "prod-eu", "RepositoryUrl": "https://github.com/example/fleet", "Credential": "gitlatch/git", "DemandParameter": ""},
	} {
		t.Run(wants["Site"], func(t *testing.T) {
			t.Parallel()
			dir, at := workplace(t), newCloud(t)
			block := sites(t, string(shown))[i]
			filled := strings.TrimPrefix(strings.ReplaceAll(block, "\n# ", "\n"), "# ")
			play(t, step{command: "cp infra/samconfig.toml samconfig.toml"}, dir, at)
			write(t, filepath.Join(dir, "samconfig.toml"), strings.Replace(string(shown), block, filled, 1))
			for _, command := range []string{"sam build", "sam build --config-env fleet", "sam deploy", "sam deploy"} {
				play(t, step{command: command}, dir, at)
			}
			deployed := at.deployed(t, "gitlatch")
			if len(deployed) != 2 {
				t.Fatalf("deployed %d times", len(deployed))
			}
			for _, d := range deployed {
				for name, want := range wants {
					if got := d.parameters[name]; got != want {
						t.Errorf("%s was deployed as %q, want %q", name, got, want)
					}
				}
				for _, said := range d.violated() {
					t.Error(said)
				}
			}
			if left, err := os.ReadFile(filepath.Join(dir, "infra/samconfig.toml")); err != nil || string(left) != string(shown) {
				t.Errorf("the file of the repository was written to, error %v", err)
			}
		})
	}
}

// The user pastes the line of a core unchanged. SAM leaves out the parameters that a
// template does not have, and a later deployment without the line changes nothing.
func TestThePrintedLineDeploysTheFurtherStacks(t *testing.T) {
	t.Parallel()
	of := repository(t)
	core := deployed(t, of, samples[1])[0]
	line := core.text(at(core.template.section("Outputs"), "ParameterOverrides", "Value"))
	for name, file := range map[string]string{"monitoring": monitoringSource, "drill": drillSource, "restore": restoreSource} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, at := workplace(t), newCloud(t)
			play(t, step{command: "cp infra/samconfig.toml samconfig.toml"}, dir, at)
			if name != "monitoring" {
				play(t, step{command: "sam build --config-env " + name}, dir, at)
			}
			play(t, step{command: "sam deploy --config-env " + name + " --parameter-overrides " + line}, dir, at)
			play(t, step{command: "sam deploy --config-env " + name}, dir, at)
			want := besideCore(t, of[file], core, nil).parameters
			all := at.deployed(t, "gitlatch-"+name)
			if len(all) != 2 {
				t.Fatalf("deployed %d times", len(all))
			}
			for _, d := range all {
				if !maps.Equal(d.parameters, want) {
					t.Errorf("deployed with\n%v, want\n%v", d.parameters, want)
				}
				for _, said := range d.violated() {
					t.Error(said)
				}
			}
		})
	}
}
