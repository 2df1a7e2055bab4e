package admission_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
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

// The file of one site keeps the kinds that another site added, and has the definitions of
// the site that wrote it last.
func TestOver(t *testing.T) {
	t.Parallel()
	changed := custom["crew"]
	changed.Version = "v2"
	changed.Ready = ".status.up"
	crew, team := workload.Kinds{"crew": custom["crew"]}, workload.Kinds{"team": custom["team"]}
	for name, c := range map[string]struct {
		file []byte
		site admission.Policy
		want admission.Policy
	}{
		"no file":                {nil, admission.Policy{Kinds: crew, Images: true}, admission.Policy{Kinds: crew, Images: true}},
		"a site without kinds":   {format(t, admission.Policy{Kinds: crew}), admission.Policy{}, admission.Policy{Kinds: crew}},
		"a kind of another site": {format(t, admission.Policy{Kinds: crew}), admission.Policy{Kinds: team}, admission.Policy{Kinds: crew.With(team)}},
		"another version":        {format(t, admission.Policy{Kinds: crew.With(team)}), admission.Policy{Kinds: workload.Kinds{"crew": changed}}, admission.Policy{Kinds: workload.Kinds{"crew": changed}.With(team)}},
		"another name":           {format(t, admission.Policy{Kinds: crew}), admission.Policy{Kinds: workload.Kinds{"gang": custom["crew"]}}, admission.Policy{Kinds: workload.Kinds{"gang": custom["crew"]}}},
		"images on":              {format(t, admission.Policy{Kinds: crew}), admission.Policy{Images: true}, admission.Policy{Kinds: crew, Images: true}},
		"images off":             {format(t, admission.Policy{Images: true}), admission.Policy{}, admission.Policy{}},
		"all paths":              {format(t, admission.Policy{Kinds: custom, Images: true}), admission.Policy{Kinds: workload.Kinds{"pool": custom["pool"]}, Images: true}, admission.Policy{Kinds: custom, Images: true}},
		"an older text":          {bytes.ReplaceAll(format(t, admission.Policy{Kinds: crew}), []byte("failurePolicy: Ignore"), []byte("failurePolicy: Fail")), admission.Policy{}, admission.Policy{Kinds: crew}},
	} {
		got, err := c.site.Over(c.file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(format(t, got), format(t, c.want)) {
			t.Errorf("%s: the kinds are %v, want %v", name, got, c.want)
		}
	}
	for name, c := range map[string]struct{ file, want string }{
		"no policy": {"kind: Namespace\n", "has no MutatingAdmissionPolicy gitlatch-levels"},
		"no YAML":   {"{", "parse the file in git"},
	} {
		_, err := admission.Policy{}.Over([]byte(c.file))
		if err == nil || !strings.HasPrefix(err.Error(), admission.Path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
