package cli_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

func TestValidateSaysWhatIsWrongWithFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(t, "gitlatch.yaml", latching)
	w.write(t, "bad.yaml", "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latchh\npolicies: [{name: default, match: {}, hold: {down: 2w}}]\n")
	w.write(t, "fleet.yaml", "apiVersion: gitlatch.dev/v1alpha1\nkind: Fleet\nsites:\n- {site: Prod EU}\n")
	w.write(t, "other.yaml", "apiVersion: v1\nkind: ConfigMap\n")
	w.write(t, "foo.yaml", "apiVersion: gitlatch.dev/v1alpha1\nkind: Foo\nmode: latch\n")
	w.write(t, "both.yaml", "apiVersion: gitlatch.dev/v1\nkind: Polcy\n")
	w.write(t, "unkind.yaml", "apiVersion: gitlatch.dev/v1alpha1\nmode: latch\n")
	w.write(t, "list.yaml", "- kind: Policy\n")
	w.write(t, "empty.yaml", "")
	w.write(t, "flow.yaml", "{apiVersion: gitlatch.dev/v1alpha1, kind: Policy, mode: latch}\n")
	w.write(t, "broken.yaml", "kind: [\n")
	w.write(t, "kinds.yaml", "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\npolicies:\n- {name: workers, match: {kinds: [worker]}}\n")
	w.write(t, "review.yaml", latches+"policies: [{name: careful, match: {names: [web]}, review: true}]\n")
	w.write(t, "hosted.yaml", "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {bolt: latch.db}\nrepository: {url: 'https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet'}\n")
	w.api.Close()
	before := w.hash(t)
	for _, c := range []struct {
		files  string
		status int
		says   []string
	}{
		{"config.yaml gitlatch.yaml", 0, []string{"config.yaml: valid, of kind Config\n", "gitlatch.yaml: valid, of kind Policy\n"}},
		{"bad.yaml gitlatch.yaml", 1, []string{"bad.yaml:3: mode: must be one of observe, latch", "bad.yaml:4: policies[0].hold.down: must be a duration such as 5m, 26h or 8d", "gitlatch.yaml: valid"}},
		{"fleet.yaml", 1, []string{"fleet.yaml:4: sites[0].site: must be a DNS label", "fleet.yaml:4: sites[0].eks: is required"}},
		{"foo.yaml", 1, []string{`foo.yaml:2: kind: must be one of Config, Policy, Fleet, got "Foo"` + "\n"}},
		{"other.yaml", 1, []string{`other.yaml:1: apiVersion: must be gitlatch.dev/v1alpha1, got "v1"` + "\n", `other.yaml:2: kind: must be one of Config, Policy, Fleet, got "ConfigMap"` + "\n"}},
		{"both.yaml", 1, []string{`both.yaml:1: apiVersion: must be gitlatch.dev/v1alpha1`, `both.yaml:2: kind: must be one of Config, Policy, Fleet, got "Polcy"` + "\n"}},
		{"unkind.yaml", 1, []string{"unkind.yaml:1: kind: is required: one of Config, Policy, Fleet\n"}},
		{"list.yaml", 1, []string{"list.yaml:1: must be a mapping, got a list\n"}},
		{"empty.yaml", 1, []string{"empty.yaml: is empty. Start it with apiVersion: gitlatch.dev/v1alpha1 and kind: one of Config, Policy, Fleet\n"}},
		{"flow.yaml", 0, []string{"flow.yaml: valid, of kind Policy\n"}},
		{"broken.yaml", 1, []string{"broken.yaml:", "YAML"}},
		{"kinds.yaml", 1, []string{"kinds.yaml:4: policies[0].match.kinds"}},
		{"review.yaml", 0, []string{"review.yaml: valid"}},
		{"review.yaml hosted.yaml", 0, []string{"review.yaml: valid"}},
		{"review.yaml config.yaml", 1, []string{"review.yaml: policies[0].review: the repository's host has no pull requests", "config.yaml: valid"}},
		{"gitlatch.yaml none.yaml", 2, []string{"gitlatch.yaml: valid", "none.yaml: no such file"}},
	} {
		args := []string{"validate"}
		for _, file := range strings.Fields(c.files) {
			args = append(args, w.path(file))
		}
		got := run(w.now, args...)
		for _, says := range c.says {
			if !strings.Contains(got.out+got.err, says) {
				t.Errorf("%s: does not say %q: %+v", c.files, says, got)
			}
		}
		if strings.Contains(got.out, "must be Config,") {
			t.Errorf("%s: one kind of three is named: %+v", c.files, got)
		}
		if got.status != c.status {
			t.Errorf("%s: %+v", c.files, got)
		}
	}
	var d struct {
		Valid bool
		Files []struct {
			Kind     string
			Problems []map[string]any
		}
	}
	got := run(w.now, "validate", w.path("bad.yaml"), "-o", "json")
	if must(t, json.Unmarshal([]byte(got.out), &d)); d.Valid || len(d.Files) != 1 || d.Files[0].Kind != "Policy" || len(d.Files[0].Problems) != 2 {
		t.Fatalf("%+v", got)
	}
	want := map[string]any{"file": w.path("bad.yaml"), "line": 3.0, "field": "mode", "message": `must be one of observe, latch, got "latchh"`}
	if first := d.Files[0].Problems[0]; !maps.Equal(first, want) {
		t.Errorf("%+v, want %+v", first, want)
	}
	if w.hash(t) != before {
		t.Error("it wrote")
	}
}
