package split_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore/split"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var web = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}

// lost is what git has of a rollout at 30/70.
func lost() checkpoint.Entry {
	return checkpoint.Entry{Replicas: 100, Rollout: checkpoint.Rollout{
		Milestone: 30, Phase: checkpoint.PhaseProgressing, Returns: checkpoint.SideFrom, ImagesOnly: true,
		From: checkpoint.Template{Hash: "5d8f", Images: "app=web:v1 proxy=envoy:1 setup=setup:v1"},
		To:   checkpoint.Template{Hash: "7c9b", Images: "app=web:v2 proxy=envoy:1 setup=setup:v2"},
	}}
}

// manifest is web as git has it.
const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {team: shop, kubectl.kubernetes.io/last-applied-configuration: "{}"}}
spec:
  replicas: 100
  minReadySeconds: 5
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tier: front}, annotations: {note: kept}}
    spec:
      initContainers: [{name: setup, image: "setup:v2"}]
      containers: [{name: app, image: "web:v2", env: [{name: A, value: b}]}, {name: proxy, image: "envoy:1"}]
      securityContext: {runAsUser: 9007199254740993}
`

const scaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}
`

func object(t *testing.T, text string) json.RawMessage {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func source(t *testing.T, name string, texts ...string) split.Source {
	t.Helper()
	s := split.Source{Name: name, Namespace: "shop"}
	for _, text := range texts {
		s.Objects = append(s.Objects, object(t, text))
	}
	return s
}

// seed is what comes of one workload, seen how the cluster would create it.
func seed(t *testing.T, id workload.ID, e checkpoint.Entry, created string, o split.Options, sources ...split.Source) (split.Seed, split.Left) {
	t.Helper()
	found, left, err := split.Find(map[workload.ID]checkpoint.Entry{id: e}, sources, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 && len(left) == 1 {
		return split.Seed{}, left[0]
	}
	if len(found) != 1 {
		return split.Seed{}, split.Left{}
	}
	s, why, err := split.Judge(found[0], object(t, created), "prod-eu")
	if err != nil {
		t.Fatal(err)
	}
	return s, why
}

func TestASeedIsTheReplicaSetOfTheTemplateBefore(t *testing.T) {
	t.Parallel()
	s, left := seed(t, web, lost(), manifest, split.Options{}, source(t, "apps", manifest))
	if left.Reason != "" || s.Reached != 30 || s.Replicas != 100 || s.Pods != 70 || s.Target != 55 || s.Surge != 25 || s.Halted {
		t.Fatalf("%+v %+v", s, left)
	}
	want := `{"apiVersion":"apps/v1","kind":"ReplicaSet",` +
		`"metadata":{"annotations":{"deployment.kubernetes.io/revision":"1","team":"shop"},"labels":{"app":"web","gitlatch.dev/seed":"prod-eu","pod-template-hash":"5d8f","tier":"front"},"name":"web-5d8f","namespace":"shop"},` +
		`"spec":{"minReadySeconds":5,"replicas":70,"selector":{"matchLabels":{"app":"web","pod-template-hash":"5d8f"}},` +
		`"template":{"metadata":{"annotations":{"note":"kept"},"labels":{"app":"web","pod-template-hash":"5d8f","tier":"front"}},` +
		`"spec":{"containers":[{"env":[{"name":"A","value":"b"}],"image":"web:v1","name":"app"},{"image":"envoy:1","name":"proxy"}],` +
		`"initContainers":[{"image":"setup:v1","name":"setup"}],"securityContext":{"runAsUser":9007199254740993}}}}}`
	if string(s.Object) != want {
		t.Errorf("made\n%s\nwant\n%s", s.Object, want)
	}
}

// Argo CD may take an object for its own by this label, and prune it before it is
// adopted.
func TestASeedThatArgoMayTakeForItsOwnIsNotPruned(t *testing.T) {
	t.Parallel()
	for already, want := range map[string]string{"": "Prune=false", "Replace=true": "Replace=true,Prune=false"} {
		text := strings.Replace(manifest, "tier: front", "app.kubernetes.io/instance: web", 1)
		if already != "" {
			text = strings.Replace(text, "team: shop", "argocd.argoproj.io/sync-options: "+already, 1)
		}
		s, _ := seed(t, web, lost(), text, split.Options{}, source(t, "apps", text))
		if !strings.Contains(string(s.Object), fmt.Sprintf(`"argocd.argoproj.io/sync-options":%q`, want)) {
			t.Errorf("%q: made %s", already, s.Object)
		}
	}
}

func TestHowManyPodsAreSeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		replicas, milestone int32
		surge               string
		aims                int // in percent; 0 is no autoscaler
		want                string
	}{
		{100, 30, "25%", 0, "70, 55 with 25 surge"},
		{100, 30, "25%", 70, "70, 55 with 25 surge"},
		{100, 30, "25%", 80, "80, 45 with 25 surge"},  // so many carry the load if v2 turns bad
		{100, 90, "25%", 70, "70, 55 with 25 surge"},  // likewise
		{100, 90, "25%", 0, "10, 100 with 10 surge"},  // the Deployment never asks for more than all
		{100, 0, "0", 0, "100, 0 with 0 surge"},       // it goes on by maxUnavailable
		{100, 0, "3", 100, "100, 3 with 3 surge"},     // failed: v1 as it was
		{100, 0, "10%", 150, "100, 10 with 10 surge"}, // never more than all
		{7, 28, "25%", 0, "5, 4 with 2 surge"},        // 2 of 7 are 28.6 %
		{2, 99, "1", 0, "1, 2 with 1 surge"},          // one survives
		{1, 0, "25%", 0, "1, 1 with 1 surge"},         //
		{1000, 30, "0", 70, "700, 300 with 0 surge"},  //
		{100, 50, "25%", 29, "50, 75 with 25 surge"},  //
		{100, 50, "25%", 7, "50, 75 with 25 surge"},   //
		{100, 99, "25%", 7, "7, 100 with 7 surge"},    // 0.07 of 100 is 7
		{300, 33, "33%", 0, "201, 198 with 99 surge"}, //
	} {
		e := lost()
		e.Replicas, e.Rollout.Milestone = 0, c.milestone
		text := strings.Replace(strings.Replace(manifest, "replicas: 100", fmt.Sprint("replicas: ", c.replicas), 1), "maxSurge: 25%", "maxSurge: "+c.surge, 1)
		objects := []string{text}
		if c.aims > 0 {
			objects = append(objects, strings.Replace(scaler, "80", fmt.Sprint(c.aims), 1))
		}
		s, left := seed(t, web, e, text, split.Options{}, source(t, "apps", objects...))
		if got := fmt.Sprintf("%d, %d with %d surge", s.Pods, s.Target, s.Surge); got != c.want || left.Reason != "" {
			t.Errorf("%+v: %s %+v", c, got, left)
		}
	}
}

func TestWhatAnAutoscalerAimsAt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scaler string
		pods   int32 // of 100
	}{
		"none":              {"", 70},
		"one":               {scaler, 80},
		"of version 1":      {"apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\nspec: {targetCPUUtilizationPercentage: 85, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}", 85},
		"the highest":       {strings.Replace(scaler, "[{", "[{type: ContainerResource, containerResource: {name: memory, container: app, target: {type: Utilization, averageUtilization: 90}}}, {", 1), 90},
		"not all of it":     {strings.Replace(scaler, "[{", "[{type: External, external: {}}, {", 1), 70},
		"of another":        {strings.Replace(scaler, "name: web}, metrics", "name: other}, metrics", 1), 70},
		"of another kind":   {strings.Replace(scaler, "kind: Deployment", "kind: StatefulSet", 1), 70},
		"elsewhere":         {strings.Replace(scaler, "{name: web}", "{name: web, namespace: pay}", 1), 70},
		"no HPA at all":     {"apiVersion: v1\nkind: Service\nmetadata: {name: web}", 70},
		"placed by itself":  {strings.Replace(scaler, "{name: web}", "{name: web, namespace: shop}", 1), 80},
		"with other fields": {scaler + "  \n", 80},
	} {
		objects := []string{manifest}
		if c.scaler != "" {
			objects = append(objects, c.scaler)
		}
		if s, left := seed(t, web, lost(), manifest, split.Options{}, source(t, "apps", objects...)); s.Pods != c.pods {
			t.Errorf("%s: %d pods, want %d; %+v", name, s.Pods, c.pods, left)
		}
	}
}

func TestWhatIsLeftForAPersonToDecide(t *testing.T) {
	t.Parallel()
	replace := func(old, text string) string {
		if !strings.Contains(manifest, old) {
			t.Fatalf("the manifest has no %s", old)
		}
		return strings.Replace(manifest, old, text, 1)
	}
	v1 := strings.NewReplacer("web:v2", "web:v1", "setup:v2", "setup:v1").Replace(manifest)
	canary := "apiVersion: flagger.app/v1beta1\nkind: Canary\nmetadata: {name: web}\nspec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}"
	for name, c := range map[string]struct {
		change  func(id *workload.ID, e *checkpoint.Entry)
		sources []split.Source // nil is the manifest as it is created
		created string         // "" is the manifest
		reason  split.Reason
		text    string
	}{
		"a StatefulSet":    {change: func(id *workload.ID, _ *checkpoint.Entry) { id.Kind = workload.StatefulSet }, reason: split.Unadoptable, text: "is a statefulset"},
		"more than images": {change: func(_ *workload.ID, e *checkpoint.Entry) { e.Rollout.ImagesOnly = false }, reason: split.Unknown, text: "differ in more than images"},
		"no images": {change: func(_ *workload.ID, e *checkpoint.Entry) { e.Rollout.From.Images, e.Rollout.To.Images = "", "" },
			reason: split.Unknown, text: "no images"},
		"an image too few": {change: func(_ *workload.ID, e *checkpoint.Entry) { e.Rollout.From.Images = "app=web:v1 proxy=envoy:1" },
			reason: split.Unknown, text: "has other containers than the record has images"},
		"no manifest":                        {sources: []split.Source{source(t, "apps", scaler)}, reason: split.Unbuilt, text: "--path"},
		"of another name":                    {sources: []split.Source{source(t, "apps", replace("name: web,", "name: web-2,"))}, reason: split.Unbuilt, text: "--path"},
		"two manifests":                      {sources: []split.Source{source(t, "a", manifest), source(t, "b", manifest, v1)}, reason: split.Ambiguous, text: "is built by a and by b, which differ"},
		"one, twice":                         {sources: []split.Source{source(t, "a", manifest), source(t, "b", manifest)}},
		"by Flagger":                         {sources: []split.Source{source(t, "apps", manifest, canary)}, reason: split.Promoted, text: "Flagger"},
		"a policy puts the images before in": {created: v1, reason: split.Returned, text: "by a policy of the cluster"},
		"git has the template before":        {sources: []split.Source{source(t, "apps", v1)}, created: v1, reason: split.OtherTarget, text: "has the template before in its manifests"},
		"another target":                     {created: replace("web:v2", "web:v3"), reason: split.OtherTarget, text: `container app has "web:v3", and "web:v2" in the record`},
		"one of two at its target":           {created: replace("setup:v2", "setup:v1"), reason: split.OtherTarget, text: `container setup has "setup:v1", and "setup:v2" in the record`},
		"a container more": {created: replace(`{name: proxy, image: "envoy:1"}`, `{name: proxy, image: "envoy:1"}, {name: more, image: "more:1"}`),
			reason: split.OtherTarget, text: "the record has no container more"},
		"a container less": {created: replace(`, {name: proxy, image: "envoy:1"}`, ""), reason: split.OtherTarget, text: `container proxy has "", and "envoy:1" in the record`},
		"digests put in":   {sources: []split.Source{source(t, "apps", replace("web:v2", "web:latest"))}, created: manifest},
		"Recreate":         {created: replace("{type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}", "{type: Recreate}"), reason: split.Recreate, text: "Recreate"},
		"paused":           {created: replace("minReadySeconds: 5", "paused: true"), reason: split.Paused, text: "is paused in its manifests"},
		"at zero":          {created: replace("replicas: 100", "replicas: 0"), reason: split.Small, text: "at zero"},
		"below its level":  {created: replace("replicas: 100", "replicas: 1"), reason: split.Small, text: "would be created at 1, and its level is 100"},
		"raised":           {sources: []split.Source{source(t, "apps", replace("replicas: 100", "replicas: 1"))}, created: manifest},
		"without a level":  {change: func(_ *workload.ID, e *checkpoint.Entry) { e.Replicas = 0 }, created: replace("replicas: 100", "replicas: 3")},
		"halted":           {change: func(_ *workload.ID, e *checkpoint.Entry) { e.Rollout.Phase = checkpoint.PhaseHalted }},
		"failed": {change: func(_ *workload.ID, e *checkpoint.Entry) {
			e.Rollout.Phase, e.Rollout.Milestone = checkpoint.PhaseFailed, 0
		}},
	} {
		id, e := web, lost()
		if c.change != nil {
			c.change(&id, &e)
		}
		if c.sources == nil {
			c.sources = []split.Source{source(t, "apps", manifest)}
		}
		if c.created == "" {
			c.created = manifest
		}
		s, left := seed(t, id, e, c.created, split.Options{}, c.sources...)
		if left.Reason != c.reason || !strings.Contains(left.Text, c.text) || (s.Pods > 0) != (c.reason == "") || left.Reason != "" && left.ID != id {
			t.Errorf("%s: seed %+v, left %+v", name, s, left)
		}
		if s.Halted != (name == "halted") {
			t.Errorf("%s: halted %v", name, s.Halted)
		}
	}
}

func TestWhichRolloutsAreTaken(t *testing.T) {
	t.Parallel()
	at := func(namespace, name string) workload.ID {
		return workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: name}
	}
	still := lost()
	still.Rollout = checkpoint.Rollout{}
	record := map[workload.ID]checkpoint.Entry{at("shop", "web"): lost(), at("pay", "web"): lost(), at("shop", "api"): lost(), at("shop", "still"): still}
	for name, c := range map[string]struct {
		options split.Options
		want    []string
	}{
		"all":         {split.Options{}, []string{"pay/web", "shop/api", "shop/web"}},
		"a namespace": {split.Options{Namespaces: []string{"pay"}}, []string{"pay/web"}},
		"one":         {split.Options{Workloads: []workload.ID{at("shop", "api")}}, []string{"shop/api"}},
		"one without": {split.Options{Workloads: []workload.ID{at("shop", "still")}}, []string{"shop/still no-rollout"}},
	} {
		_, left, err := split.Find(record, nil, c.options)
		var got []string
		for _, l := range left {
			got = append(got, strings.TrimSuffix(l.ID.Short()+" "+string(l.Reason), " unbuilt"))
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

// What is no object is told by the source that has it.
func TestAManifestThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{`[]`, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":"web"}`,
		`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","spec":[]}`, `{"apiVersion":"flagger.app/v1beta1","kind":"Canary","spec":{"targetRef":1}}`} {
		_, _, err := split.Find(nil, []split.Source{{Name: "apps", Objects: []json.RawMessage{json.RawMessage(broken)}}}, split.Options{})
		if err == nil || !strings.Contains(err.Error(), "read what apps creates") {
			t.Errorf("%s: %v", broken, err)
		}
	}
}
