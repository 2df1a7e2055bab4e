//go:build aws

package stack

import (
	"maps"
	"testing"
)

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
