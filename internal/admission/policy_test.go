package admission_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the diff")

// custom are custom kinds: with the usual path, with two that share another one, and with
// one that no expression can set.
var custom = workload.Kinds{
	"crew":  {Group: "example.com", Version: "v1", Kind: "Worker", Resource: "workers", Replicas: ".spec.workers.replicas"},
	"squad": {Group: "other.example.com", Version: "v1beta1", Kind: "Worker", Resource: "workers", Replicas: workload.Replicas},
	"team":  {Group: "example.com", Version: "v1", Kind: "Team", Resource: "teams", Replicas: ".spec.workers.replicas"},
	"pool":  {Group: "example.com", Version: "v1", Kind: "Pool", Resource: "pools", Replicas: ".spec.node-count"},
}

func format(t *testing.T, p admission.Policy) []byte {
	t.Helper()
	file, err := p.Format()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, got := range map[string][]byte{
		"gitlatch.yaml":        format(t, admission.Policy{}),
		"gitlatch-custom.yaml": format(t, admission.Policy{Kinds: custom, Images: true}),
		"binding.yaml":         admission.Binding("shop"),
		"applier.yaml":         admission.Applier("flux-system", "gitlatch"),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs: run go test ./internal/admission -update, and read the diff", name)
		}
	}
}

// The order of a map and the fields that a policy does not use do not change the file.
func TestEqualPoliciesHaveEqualFiles(t *testing.T) {
	t.Parallel()
	want := format(t, admission.Policy{Kinds: custom})
	for range 20 {
		kinds := workload.Kinds{}
		for kind, o := range custom {
			o.Ready = ".status.other"
			kinds[kind] = o
		}
		if got := format(t, admission.Policy{Kinds: kinds}); !bytes.Equal(got, want) {
			t.Fatalf("the same kinds have another file:\n%s", got)
		}
	}
}

func TestAKindThatIsNotValidIsAnError(t *testing.T) {
	t.Parallel()
	valid := custom["crew"]
	for name, c := range map[string]struct {
		kind   workload.Kind
		change func(*workload.Object)
		want   string
	}{
		"a quote in the name":        {"cr'ew", func(*workload.Object) {}, `kinds["cr'ew"].name: must be a DNS label`},
		"a quote in the group":       {"crew", func(o *workload.Object) { o.Group = "example'.com" }, "kinds[crew].apiVersion: must match"},
		"no version":                 {"crew", func(o *workload.Object) { o.Version = "" }, "kinds[crew].apiVersion: must match"},
		"a line break in the plural": {"crew", func(o *workload.Object) { o.Resource = "workers\n" }, "kinds[crew].resource: must match"},
		"an expression as the path":  {"crew", func(o *workload.Object) { o.Replicas = ".spec.x'}" }, "kinds[crew].replicas: must match"},
		"no path":                    {"crew", func(o *workload.Object) { o.Replicas = "" }, "kinds[crew].replicas: must match"},
		"a built-in resource": {"crew", func(o *workload.Object) {
			o.Group = "apps"
			o.Resource = "deployments"
		}, `kinds[deployment].resource: must be unique in a group, got "deployments", which kinds[crew] has. Keep one`},
	} {
		o := valid
		c.change(&o)
		_, err := admission.Policy{Kinds: workload.Kinds{c.kind: o}}.Format()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	crew := workload.Kinds{"crew": custom["crew"]}
	changed := func(change func(*workload.Object)) admission.Policy {
		o := custom["crew"]
		change(&o)
		return admission.Policy{Kinds: workload.Kinds{"crew": o}}
	}
	for name, c := range map[string]struct {
		sites map[string]admission.Policy
		kinds []workload.Kind
		want  string // part of the error; "" means success
	}{
		"no site":                 {nil, nil, ""},
		"a site without kinds":    {map[string]admission.Policy{"a": {}, "b": {Kinds: crew}}, []workload.Kind{"crew"}, ""},
		"kinds of two sites":      {map[string]admission.Policy{"a": {Kinds: workload.Kinds{"team": custom["team"]}}, "b": {Kinds: crew}}, []workload.Kind{"crew", "team"}, ""},
		"the same kind twice":     {map[string]admission.Policy{"a": {Kinds: crew}, "b": {Kinds: crew}}, []workload.Kind{"crew"}, ""},
		"another ready field":     {map[string]admission.Policy{"a": {Kinds: crew}, "b": changed(func(o *workload.Object) { o.Ready = ".status.up" })}, []workload.Kind{"crew"}, ""},
		"another path":            {map[string]admission.Policy{"a": {Kinds: crew}, "b": changed(func(o *workload.Object) { o.Replicas = workload.Replicas })}, nil, "site b: kinds[crew]: must have one definition"},
		"another version":         {map[string]admission.Policy{"a": {Kinds: crew}, "b": changed(func(o *workload.Object) { o.Version = "v2" })}, nil, "site b: kinds[crew]: must have one definition"},
		"another name":            {map[string]admission.Policy{"a": {Kinds: crew}, "b": {Kinds: workload.Kinds{"gang": custom["crew"]}}}, nil, "site b: kinds[gang]: must have one definition in all sites of a repository, got another than kinds[crew]"},
		"images of one site only": {map[string]admission.Policy{"a": {}, "b": {Images: true}}, nil, "site b: admission.images: must be the same for all sites of a repository, got true, and false for site a"},
	} {
		joined, err := admission.Join(c.sites)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", name, err, c.want)
			}
			continue
		}
		if got := slices.Sorted(maps.Keys(joined.Kinds)); err != nil || !slices.Equal(got, c.kinds) {
			t.Errorf("%s: kinds %v, error %v, want %v", name, got, err, c.kinds)
		}
	}
	joined, err := admission.Join(map[string]admission.Policy{"a": {Images: true}, "b": {Images: true}})
	if err != nil || !joined.Images {
		t.Errorf("images of all sites: %v, error %v", joined.Images, err)
	}
}
