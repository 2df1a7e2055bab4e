package chart_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/chart"
	"github.com/gitlatch/gitlatch/internal/chart/engine"
)

func TestMain(m *testing.M) {
	engine.Serve()
	os.Exit(m.Run())
}

// of returns a chart with templates by name.
func of(templates map[string]string) chart.Request {
	files := map[string][]byte{"Chart.yaml": []byte("apiVersion: v2\nname: web\nversion: 1.2.3\n"), "values.yaml": []byte("replicaCount: 3\n")}
	for name, text := range templates {
		files["templates/"+name] = []byte(text)
	}
	return chart.Request{Files: files, Name: "shop", Namespace: "team"}
}

// A hostile chart fails with its reason, within 256 MiB.
func TestHostileCharts(t *testing.T) {
	t.Parallel()
	const double = `{{- define "d" }}{{ $x := printf "%s%s" . . }}{{ if lt (len $x) 2000000000 }}{{ include "d" $x }}{{ end }}{{ end }}{{ include "d" "0123456789abcdef" }}`
	for name, c := range map[string]struct{ template, want string }{
		"an endless loop":          {`{{ range until 1000000 }}{{ range until 1000000 }}{{ end }}{{ end }}`, "do not end within"},
		"a long list":              {`{{ range until 2000000000 }}{{ end }}`, "of memory"},
		"1 GB of one string":       {`x: {{ repeat 1000000000 "x" }}`, "of memory"},
		"1 GB in small parts":      {`{{ range until 1000000 }}{{ repeat 1000 "x" }}{{ end }}`, "MiB"},
		"a string that doubles":    {double, "of memory"},
		"20 MB of output":          {`{{ range until 20 }}{{ repeat 1000000 "x" }}{{ end }}`, fmt.Sprintf("print more than %d MiB", chart.MostOutput>>20)},
		"a template without end":   {`{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`, "nested reference"},
		"a recursion without end":  {`{{ define "b" }}{{ template "b" . }}{{ end }}{{ template "b" . }}`, "maximum template depth"},
		"a failure":                {`{{ fail "set image.tag" }}`, "set image.tag"},
		"a function of the system": {`{{ env "HOME" }}`, `function "env" not defined`},
		"no template":              {`{{`, "parse error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, state, err := chart.Measured(t.Context(), of(map[string]string{"web.yaml": c.template}))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d bytes, error %.300v, want %q", len(out), err, c.want)
			}
			within(t, peak(state))
		})
	}
}

// within checks the peak of a child's resident memory, in bytes.
func within(t *testing.T, peak int64) {
	t.Helper()
	t.Logf("peak %d MiB", peak>>20)
	if runtime.GOOS == "linux" && (peak == 0 || peak > 256<<20) {
		t.Errorf("the process took %d MiB", peak>>20)
	}
}

// A template has no access to the cluster, to the network and to files outside of the
// chart.
func TestATemplateReadsOnlyItsChart(t *testing.T) {
	t.Parallel()
	out, err := chart.Child(t.Context(), of(map[string]string{"web.yaml": `
lookup: {{ lookup "v1" "Secret" "kube-system" "" | len }}
host: {{ getHostByName "localhost" | quote }}
outside: {{ .Files.Get "../../../../../../etc/passwd" | quote }}
absolute: {{ .Files.Get "/etc/passwd" | quote }}
all: {{ (.Files.Glob "../**").AsConfig | quote }}
`}))
	const want = "lookup: 0\nhost: \"\"\noutside: \"\"\nabsolute: \"\"\nall: \"{}\"\n"
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("rendered %s, %v", out, err)
	}
}

// large returns a chart with a number of templates.
func large(templates int) chart.Request {
	all := map[string]string{"_helpers.tpl": `{{ define "labels" }}app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}{{ end }}`}
	for i := range templates {
		all[fmt.Sprintf("web-%03d.yaml", i)] = fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web-%d
  labels: {{- include "labels" . | nindent 4 }}
spec:
  {{- if not .Values.autoscaling }}
  replicas: {{ .Values.replicaCount }}
  {{- end }}
  selector:
    matchLabels: {{- include "labels" . | nindent 6 }}
  template:
    metadata:
      labels: {{- include "labels" . | nindent 8 }}
    spec:
      containers:
      - name: web
        image: {{ printf "registry.example.com/web:%%s" .Chart.Version | quote }}
        resources: {requests: {cpu: 100m, memory: 128Mi}}
`, i)
	}
	return of(all)
}

func BenchmarkChild500Templates(b *testing.B) {
	r := large(500)
	for b.Loop() {
		if _, err := chart.Child(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChildOneTemplate(b *testing.B) {
	r := large(1)
	for b.Loop() {
		if _, err := chart.Child(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

func TestALargeChartRenders(t *testing.T) {
	t.Parallel()
	out, state, err := chart.Measured(t.Context(), large(500))
	if err != nil || strings.Count(string(out), "replicas: 3\n") != 500 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	within(t, peak(state))
}
