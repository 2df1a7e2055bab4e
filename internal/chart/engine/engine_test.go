package engine_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/chart"
	"github.com/gitlatch/gitlatch/internal/chart/engine"
)

const (
	webChart = "apiVersion: v2\nname: web\nversion: 1.2.3\n"
	printed  = "a: {{ .Values.a | toJson }}\n"
)

// Later values take precedence, and a parameter has the type that Helm's option gives it.
func TestValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []chart.Value
		want   string
	}{
		"the chart's":         {nil, `{"b":1}`},
		"merged":              {[]chart.Value{{Data: "a: {c: 2}"}}, `{"b":1,"c":2}`},
		"two documents":       {[]chart.Value{{Data: "a: {c: 2}\n---\na: {c: 3}"}}, `{"b":1,"c":3}`},
		"the later one":       {[]chart.Value{{Data: "a: {b: 2}"}, {Data: "a: {b: 3}"}}, `{"b":3}`},
		"removed":             {[]chart.Value{{Data: "a: null"}}, `null`},
		"a number":            {[]chart.Value{{Path: "a.b", Data: "5"}}, `{"b":5}`},
		"a boolean":           {[]chart.Value{{Path: "a.b", Data: "true"}}, `{"b":true}`},
		"a text":              {[]chart.Value{{Path: "a.b", Data: "5", Text: true}}, `{"b":"5"}`},
		"an element":          {[]chart.Value{{Path: "a.c[0].d", Data: "5"}}, `{"b":1,"c":[{"d":5}]}`},
		"a list":              {[]chart.Value{{Path: "a.c", Data: "{x,y}"}}, `{"b":1,"c":["x","y"]}`},
		"a file":              {[]chart.Value{{Path: "a.b", Data: "x,y={z}\n", Whole: true}}, `{"b":"x,y={z}\n"}`},
		"a dot in a name":     {[]chart.Value{{Path: `a.c\.d`, Data: "5"}}, `{"b":1,"c.d":5}`},
		"a parameter on top":  {[]chart.Value{{Data: "a: {b: 2}"}, {Path: "a.b", Data: "3"}}, `{"b":3}`},
		"a value of YAML 1.1": {[]chart.Value{{Data: "a: {b: on}"}}, `{"b":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := chart.Request{Name: "shop", Values: c.values, Files: map[string][]byte{
				"Chart.yaml": []byte(webChart), "values.yaml": []byte("a: {b: 1}\n"), "templates/web.yaml": []byte(printed)}}
			out, err := engine.Render(t.Context(), r)
			if err != nil || !strings.Contains(string(out), "\na: "+c.want+"\n") {
				t.Errorf("%s, %v", out, err)
			}
		})
	}
}

// An error about a value does not show the value, which can be from a Secret.
func TestAnErrorShowsNoValue(t *testing.T) {
	t.Parallel()
	for _, v := range []chart.Value{{Path: "a.b", Data: "x,password"}, {Path: "a.b", Data: "x,password", Text: true}} {
		_, err := engine.Render(t.Context(), chart.Request{Files: map[string][]byte{"Chart.yaml": []byte(webChart)}, Values: []chart.Value{v}})
		if err == nil || strings.Contains(err.Error(), "password") {
			t.Errorf("%+v: %v", v, err)
		}
	}
}

// A chart renders with its vendored dependencies, and without the files that its
// .helmignore excludes. A missing dependency is an error with a fix.
func TestFilesOfAChart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // "!" is a text that must be missing
		fails string
	}{
		"a dependency": {map[string]string{
			"Chart.yaml":                   webChart + "dependencies: [{name: db, version: 1.0.0}]\n",
			"values.yaml":                  "db: {a: 7}\n",
			"charts/db/Chart.yaml":         "apiVersion: v2\nname: db\nversion: 1.0.0\n",
			"charts/db/templates/web.yaml": printed,
		}, []string{"a: 7\n"}, ""},
		"an alias": {map[string]string{
			"Chart.yaml":                   webChart + "dependencies: [{name: db, alias: cache, version: 1.0.0}]\n",
			"values.yaml":                  "cache: {a: 8}\n",
			"charts/db/Chart.yaml":         "apiVersion: v2\nname: db\nversion: 1.0.0\n",
			"charts/db/templates/web.yaml": printed,
		}, []string{"a: 8\n"}, ""},
		"a condition": {map[string]string{
			"Chart.yaml":                   webChart + "dependencies: [{name: db, version: 1.0.0, condition: db.enabled}]\n",
			"values.yaml":                  "db: {a: 7, enabled: false}\n",
			"charts/db/Chart.yaml":         "apiVersion: v2\nname: db\nversion: 1.0.0\n",
			"charts/db/templates/web.yaml": printed,
		}, []string{"!a:"}, ""},
		"a dependency that is missing": {map[string]string{"Chart.yaml": webChart + "dependencies: [{name: db, version: 1.0.0, repository: 'https://charts.example.com'}]\n"},
			nil, `its dependency db 1.0.0 is not in charts/. Run "helm dependency build", and commit charts/`},
		"an ignored template": {map[string]string{"Chart.yaml": webChart, ".helmignore": "templates/old/\n*.bak\n",
			"templates/old/a.yaml": "old: 1", "templates/b.yaml.bak": "bak: 1", "templates/c.yaml": "new: 1"}, []string{"new: 1", "!old", "!bak"}, ""},
		"a hidden template":          {map[string]string{"Chart.yaml": webChart, "templates/.a.yaml": "hidden: 1"}, []string{"!hidden"}, ""},
		"notes and tests of nothing": {map[string]string{"Chart.yaml": webChart, "templates/NOTES.txt": "a note", "templates/_a.tpl": "a: 1", "templates/b.yaml": " \n"}, []string{"!note", "!a: 1", "!b.yaml"}, ""},
		"a library":                  {map[string]string{"Chart.yaml": webChart + "type: library\n"}, nil, "library"},
		"another Kubernetes":         {map[string]string{"Chart.yaml": webChart + "kubeVersion: '<1.30.0'\n"}, nil, "requires Kubernetes <1.30.0, but the cluster runs v1.37"},
		"a schema at an address": {map[string]string{"Chart.yaml": webChart, "values.schema.json": `{"$ref": "https://schema.example.com/values.json"}`,
			"templates/a.yaml": "kube: {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.APIVersions.Has \"keda.sh/v1alpha1\" }} {{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.IsInstall }}"},
			[]string{"kube: 37 true shop team true"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string][]byte{}
			for at, text := range c.files {
				files[at] = []byte(text)
			}
			out, err := engine.Render(t.Context(), chart.Request{Files: files, Name: "shop", Namespace: "team", Kubernetes: "1.37", APIs: []string{"keda.sh/v1alpha1"}})
			if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("error %v, want %q", err, c.fails)
			}
			for _, want := range c.want {
				text, missing := strings.CutPrefix(want, "!")
				if strings.Contains(string(out), text) == missing {
					t.Errorf("want %q:\n%s", want, out)
				}
			}
		})
	}
}
