package doctor_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/chart"
	"github.com/gitlatch/gitlatch/internal/chart/engine"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
)

func TestMain(m *testing.M) {
	engine.Serve()
	os.Exit(m.Run())
}

// counted is a chart whose workload has the value count as its replicas. A text becomes 7.
var counted = shaped("Deployment", "count: 2\n", "  replicas: {{ kindIs \"string\" .Values.count | ternary 7 .Values.count }}\n")

// Each case states the start of the workload. 0 is unknown.
func TestValuesOfAnApplication(t *testing.T) {
	t.Parallel()
	files := fixture{
		"repo/charts/web/prod.yaml":   "count: 3\n",
		"repo/charts/web/eu.yaml":     "count: 4\n",
		"repo/values/prod.yaml":       "count: 5\n",
		"repo/values/shop/web.yaml":   "count: 6\n",
		"repo/charts/web/count":       "9",
		"repo/charts/web/values/list": "- 1\n",
	}
	for name, c := range map[string]struct {
		helm  string
		start int32
	}{
		"the chart's":                         {"{}", 2},
		"a file below the chart":              {"{valueFiles: [prod.yaml]}", 3},
		"the last file":                       {"{valueFiles: [prod.yaml, eu.yaml]}", 4},
		"a file from the root":                {"{valueFiles: [/values/prod.yaml]}", 5},
		"a file above the chart":              {"{valueFiles: [../../values/prod.yaml]}", 5},
		"a file outside of the repository":    {"{valueFiles: [../../../values/prod.yaml]}", 0},
		"a file with a variable":              {"{valueFiles: [/values/$ARGOCD_APP_NAMESPACE/$ARGOCD_APP_NAME.yaml]}", 6},
		"a file that is missing":              {"{valueFiles: [gone.yaml]}", 0},
		"a file that may be missing":          {"{valueFiles: [prod.yaml, gone.yaml], ignoreMissingValueFiles: true}", 3},
		"a file at an address":                {"{valueFiles: ['https://values.example.com/prod.yaml']}", 0},
		"an address, if files may be missing": {"{valueFiles: ['https://values.example.com/prod.yaml'], ignoreMissingValueFiles: true}", 0},
		"a pattern":                           {"{valueFiles: ['*.yaml']}", 0},
		"values over a file":                  {"{valueFiles: [prod.yaml], values: 'count: 8'}", 8},
		"an object in place of values":        {"{values: 'count: 8', valuesObject: {m: 1}}", 2},
		"a parameter over values":             {"{valuesObject: {count: 8}, parameters: [{name: count, value: '6'}]}", 6},
		"the last parameter":                  {"{parameters: [{name: count, value: '5'}, {name: count, value: '6'}]}", 6},
		"a parameter that is a text":          {"{parameters: [{name: count, value: '6', forceString: true}]}", 7},
		"a text over a parameter":             {"{parameters: [{name: count, value: '6', forceString: true}, {name: count, value: '6'}]}", 7},
		"a parameter from a file":             {"{parameters: [{name: count, value: '6'}], fileParameters: [{name: count, path: count}]}", 7},
		"values that are no YAML":             {"{values: '{'}", 0},
		"a file that is a list":               {"{valueFiles: [values/list]}", 0},
		"another name of the release":         {"{releaseName: other}", 0},
		"a namespace that is not the tool's":  {"{namespace: other}", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := application("shop/deployment/web", c.helm, counted)
			maps.Copy(f, files)
			if r := f.examine(t); r.Workloads[0].Start != c.start {
				t.Errorf("want %d:\n%s", c.start, tell(r))
			}
		})
	}
}

// Templates can depend on the cluster and on the release.
func TestOptionsOfAnApplication(t *testing.T) {
	t.Parallel()
	for replicas, helm := range map[string]string{
		".Capabilities.KubeVersion.Minor":                                 "{kubeVersion: 1.31.0}",
		".Capabilities.APIVersions.Has \"example.com/v1\" | ternary 31 3": "{apiVersions: [example.com/v1]}",
		"eq .Release.Namespace \"other\" | ternary 31 3":                  "{namespace: other}",
	} {
		f := application("shop/deployment/web", helm, shaped("Deployment", "", "  replicas: {{ "+replicas+" }}\n"))
		if r := f.examine(t); r.Workloads[0].Start != 31 {
			t.Errorf("%s: want 31:\n%s", helm, tell(r))
		}
	}
}

// Argo CD reads options from a file in the folder of the chart. The start is then unknown.
func TestOverridesOfAnApplication(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]int32{".argocd-source.yaml": 0, ".argocd-source-web.yaml": 0, ".argocd-source-other.yaml": 2} {
		f := application("shop/deployment/web", "{}", counted)
		f["repo/charts/web/"+name] = "helm: {parameters: [{name: count, value: '9'}]}\n"
		if r := f.examine(t); r.Workloads[0].Start != start {
			t.Errorf("%s: want %d:\n%s", name, start, tell(r))
		}
	}
}

// A source of values is a part of the site's repository, or the start is unknown.
func TestASourceOfValues(t *testing.T) {
	t.Parallel()
	const own = "https://git.example.com/platform/fleet.git"
	for name, c := range map[string]struct {
		sources string
		start   int32
	}{
		"of the site's repository": {"[{repoURL: " + own + ", targetRevision: main, path: charts/web, helm: {valueFiles: [$all/values/prod.yaml]}}, {repoURL: " + own + ", targetRevision: main, ref: all}]", 5},
		"of another repository":    {"[{repoURL: " + own + ", targetRevision: main, path: charts/web, helm: {valueFiles: [$all/values/prod.yaml]}}, {repoURL: https://git.example.com/values.git, ref: all}]", 0},
		"of no source":             {"[{repoURL: " + own + ", targetRevision: main, path: charts/web, helm: {valueFiles: [$gone/values/prod.yaml]}}]", 0},
		"of a packed chart":        {"[{repoURL: https://charts.example.com, chart: web, targetRevision: 1.0.0, helm: {valueFiles: [$all/values/prod.yaml]}}, {repoURL: " + own + ", targetRevision: main, ref: all}]", 5},
		"in a packed chart":        {"[{repoURL: https://charts.example.com, chart: web, targetRevision: 1.0.0, helm: {valueFiles: [prod.yaml]}}]", 0},
		"of no packed chart":       {"[{repoURL: https://charts.example.com, chart: web, targetRevision: 2.0.0}]", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := application("shop/deployment/web", "{}", counted)
			f["repo/values/prod.yaml"] = "count: 5\n"
			f["repo/prod.yaml"] = "count: 6\n"
			for name, text := range counted {
				f["charts/web-1.0.0.tgz/"+name] = text
			}
			f["cluster.yaml"] = edited(t, f["cluster.yaml"], "-  source: {repoURL: "+own+", targetRevision: main, path: charts/web, helm: {}}\n+  sources: "+c.sources+"\n")
			if r := f.examine(t); r.Workloads[0].Start != c.start {
				t.Errorf("want %d:\n%s", c.start, tell(r))
			}
		})
	}
}

// Each case states the start of the workload. 0 is unknown.
func TestValuesOfAHelmRelease(t *testing.T) {
	t.Parallel()
	const chartSpec = "chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}"
	for name, c := range map[string]struct {
		spec  string
		start int32
	}{
		"the chart's":                    {chartSpec + "}}", 2},
		"values":                         {chartSpec + "}}, values: {count: 3}", 3},
		"a file in place of the chart's": {chartSpec + ", valuesFiles: [values/prod.yaml]}}", 5},
		"a file that may be missing":     {chartSpec + ", valuesFiles: [values/prod.yaml, gone.yaml], ignoreMissingValuesFiles: true}}", 5},
		"a file that is missing":         {chartSpec + ", valuesFiles: [gone.yaml]}}", 0},
		"a ConfigMap":                    {chartSpec + "}}, valuesFrom: [{kind: ConfigMap, name: web}]", 4},
		"values over a ConfigMap":        {chartSpec + "}}, valuesFrom: [{kind: ConfigMap, name: web}], values: {count: 3}", 3},
		"a path over values":             {chartSpec + "}}, valuesFrom: [{kind: ConfigMap, name: web, valuesKey: count, targetPath: count}], values: {count: 3}", 6},
		"a quoted text at a path":        {chartSpec + "}}, valuesFrom: [{kind: ConfigMap, name: web, valuesKey: quoted, targetPath: count}]", 7},
		"a Secret":                       {chartSpec + "}}, valuesFrom: [{kind: Secret, name: web}]", 8},
		"an encrypted Secret":            {chartSpec + "}}, valuesFrom: [{kind: Secret, name: sealed}]", 0},
		"an encrypted Secret at a path":  {chartSpec + "}}, valuesFrom: [{kind: Secret, name: sealed, targetPath: count}]", 0},
		"a key that is missing":          {chartSpec + "}}, valuesFrom: [{kind: ConfigMap, name: web, valuesKey: gone}]", 0},
		"a ConfigMap that is missing":    {chartSpec + "}}, valuesFrom: [{kind: ConfigMap, name: gone}]", 0},
		"one that may be in the cluster": {chartSpec + "}}, valuesFrom: [{kind: ConfigMap, name: gone, optional: true}]", 0},
		"a post-renderer": {chartSpec + "}}, postRenderers: [{kustomize: {patches: [{target: {kind: Deployment}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 9}]'}]}}]",
			9},
		"another name":                            {chartSpec + "}}, releaseName: other", 0},
		"another namespace":                       {chartSpec + "}}, targetNamespace: other", 0},
		"another namespace, by its release":       {chartSpec + "}}, releaseName: web, targetNamespace: other", 0},
		"another repository":                      {"chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: other, namespace: flux-system}}}", 0},
		"another cluster":                         {chartSpec + "}}, kubeConfig: {secretRef: {name: other}}", 0},
		"a chart from elsewhere":                  {"chart: {spec: {chart: web, version: 2.0.0, sourceRef: {kind: HelmRepository, name: charts}}}", 0},
		"a packed chart":                          {"chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}", 2},
		"a range, with the version in the status": {"chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}}\nstatus: {history: [{chartName: web, chartVersion: 1.0.0}]", 2},
		"a reference to a chart":                  {"chartRef: {kind: OCIRepository, name: web}}\nstatus: {history: [{chartName: web, chartVersion: 1.0.0}]", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fixture{
				"live": "shop/deployment/web 10 1 20\n", "declared": "shop/deployment/web 10 1 20\n",
				"repo/values/prod.yaml":        "count: 5\n",
				"repo/apps/values/web.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {values.yaml: 'count: 4', count: '6', quoted: '\"6\"'}\n",
				"repo/apps/values/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {values.yaml: 'count: 8'}\n",
				"repo/apps/values/sealed.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: sealed}\ndata: {values.yaml: 'ENC[AES256_GCM,data:x]'}\nsops: {version: 3.9.0}\n",
				"cluster.yaml": fleetSource + "---\n" + strings.NewReplacer("name: fleet", "name: other", "fleet.git", "other.git").Replace(fleetSource) +
					"---\nkind: Kustomization\nmetadata: {name: values, namespace: flux-system}\nspec: {path: ./apps/values, targetNamespace: shop, sourceRef: {kind: GitRepository, name: fleet}}\n" +
					"---\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec: {" + c.spec + "}\n",
			}
			for name, text := range counted {
				f["repo/charts/web/"+name] = text
				f["charts/web-1.0.0.tgz/"+name] = text
			}
			if r := f.examine(t); r.Workloads[0].Start != c.start {
				t.Errorf("want %d:\n%s", c.start, tell(r))
			}
		})
	}
}

// Flux shortens the name of a release to 53 letters, with a hash.
func TestALongNameOfARelease(t *testing.T) {
	t.Parallel()
	const live = "shop/deployment/checkout-of-the-shop-in-the-region-of-fr-f16e0afb5c5f 10 1 20\n"
	f := fixture{"live": live, "declared": live, "cluster.yaml": fleetSource +
		"---\nkind: HelmRelease\nmetadata: {name: checkout-of-the-shop-in-the-region-of-frankfurt-for-customers-of-germany, namespace: shop}\n" +
		"spec: {chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}}}}\n"}
	for name, text := range counted {
		f["repo/charts/web/"+name] = text
	}
	if r := f.examine(t); r.Workloads[0].Start != 2 {
		t.Errorf("want 2:\n%s", tell(r))
	}
}

// A hostile chart costs only its own Application, and 60 Applications with one problem
// give one finding.
func TestManyApplicationsOfCharts(t *testing.T) {
	t.Parallel()
	const hostile = 30
	f := fixture{}
	for i := range 60 {
		one := application(fmt.Sprintf("shop/deployment/web-%02d", i), "{}", nil)
		f["live"] += one["live"]
		f["declared"] += one["declared"]
		f["cluster.yaml"] += strings.NewReplacer("name: web,", fmt.Sprintf("name: web-%02d,", i), "charts/web", fmt.Sprintf("charts/web-%02d", i)).Replace(one["cluster.yaml"]) + "---\n"
		files := shaped("Deployment", "replicaCount: 10\n", "  {{- if .Values.fixed }}\n  replicas: {{ .Values.replicaCount }}\n  {{- end }}\n")
		if i == hostile {
			files["templates/more.yaml"] = "x: {{ repeat 1000000000 \"x\" }}\n"
		}
		for name, text := range files {
			f[fmt.Sprintf("repo/charts/web-%02d/%s", i, name)] = text
		}
	}
	f["cluster.yaml"] = strings.TrimSuffix(f["cluster.yaml"], "---\n")
	f["in a child"] = "true"
	r := f.examine(t)
	for i, w := range r.Workloads {
		want := int32(1)
		if i == hostile {
			want = 0
		}
		if w.Start != want {
			t.Errorf("%s starts with %d, want %d", w.ID, w.Start, want)
		}
	}
	var out bytes.Buffer
	if err := r.Table(&out, term.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"chart-guard: 59 workloads in shop\n", "not-built: Application argocd/web-30\n", "need more than"} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("want %q once:\n%s", want, out.String()[:min(4000, out.Len())])
		}
	}
}

// BenchmarkAChartOf500Templates renders a chart in a child process, and reads its objects.
func BenchmarkAChartOf500Templates(b *testing.B) {
	f := application("shop/deployment/web-000", "{}", shaped("Deployment", "replicaCount: 3\n", "  replicas: 1\n"))
	files := map[string]string{}
	for name, text := range f {
		if at, ok := strings.CutPrefix(name, "repo/"); ok {
			files[at] = text
		}
	}
	for i := range 500 {
		files[fmt.Sprintf("charts/web/templates/web-%03d.yaml", i)] = fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s-%03d}\n"+
			"spec:\n  replicas: {{ .Values.replicaCount }}\n  template: {spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]}}\n", "{{ .Release.Name }}", i)
	}
	repository := repomem.New(files)
	tip, _, err := repository.Heads(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	cluster := doctor.ReadCluster(b.Context(), f, nil)
	for b.Loop() {
		built, err := doctor.ReadOverlays(b.Context(), repository, tip, cluster.Builds(), doctor.Charts{Render: chart.Child})
		if err != nil || len(built) != 1 || built[0].Err != nil || len(built[0].Workloads) != 501 {
			b.Fatalf("%d overlays, %v", len(built), err)
		}
	}
}

// shaped returns a chart with one workload and the lines of its spec.
func shaped(kind, values, spec string) map[string]string {
	return map[string]string{
		"Chart.yaml":          "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"values.yaml":         values,
		"templates/main.yaml": "apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: {{ .Release.Name }}}\nspec:\n  selector: {}\n" + spec,
	}
}
