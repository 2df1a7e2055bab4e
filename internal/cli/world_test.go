package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

var update = flag.Bool("update", false, "rewrite testdata/reports by what is written; read the diff")

// golden compares a text with a file of testdata/reports.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("../../testdata/reports", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}

// A world is what a person at a terminal has: a cluster, a bare repository, a
// configuration and a state file, all below one folder.
type world struct {
	dir    string
	now    time.Time
	api    *api
	origin *gitserver.Origin
	url    string // by which the cluster reaches the repository
}

const (
	latching  = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\ndefault: {acceptRisk: true}\n"
	configure = `apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {kubeconfig: %q}
state: {bolt: {path: %q}}
repository: {url: %q}
`
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), api: newAPI(t), url: "https://git.example.com/platform/fleet.git"}
	w.origin = gitserver.NewOrigin(t, w.path("site.git"), map[string]string{"gitlatch.yaml": latching, "apps/web.yaml": "kind: Deployment\n"})
	w.kubeconfig(t, w.api.URL, "token: cluster-secret")
	w.configure(t, w.origin.Dir)
	return w
}

// settled is a world in which git declares what runs: ticks were made before.
func settled(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for range 3 {
		if got := w.tick(); got.status != 0 {
			t.Fatalf("tick: %+v", got)
		}
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// kubeconfig makes a server the cluster's, and how to log in to it.
func (w *world) kubeconfig(t *testing.T, server, user string) {
	t.Helper()
	w.write(t, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: blue
clusters: [{name: blue, cluster: {server: %q}}]
users: [{name: blue, user: {%s}}]
contexts: [{name: blue, context: {cluster: blue, user: blue}}]
`, server, user))
}

func (w *world) configure(t *testing.T, repository string) {
	t.Helper()
	w.write(t, "config.yaml", fmt.Sprintf(configure, w.path("kubeconfig"), w.path("state/latch.db"), repository))
}

func (w *world) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(w.path(name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// outcome is what a command came to.
type outcome struct {
	status   int
	out, err string
}

// run runs the command; --config is added where the command works on a site.
func (w *world) run(args ...string) outcome {
	if slices.Contains([]string{"tick", "explain", "render", "adopt", "hold", "init", "doctor", "restore", "diff", "log", "drill"}, args[0]) && !slices.Contains(args, "--repository") {
		args = append(args, "--config", w.path("config.yaml"))
	}
	if slices.Contains([]string{"doctor", "drill"}, args[0]) && w.url != "" {
		args = append(args, "--url", w.url)
	}
	return run(w.now, args...)
}

func run(now time.Time, args ...string) outcome {
	var out, err bytes.Buffer
	status := cli.Run(cli.Env{
		Out: &out, Err: &err, Version: "v1.2.3",
		Getenv: func(string) string { return "" },
		Clock:  func() time.Time { return now },
	}, args)
	return outcome{status, out.String(), err.String()}
}

// tick makes one tick; time then stands a period later.
func (w *world) tick(args ...string) outcome {
	defer func() { w.now = w.now.Add(5 * time.Minute) }()
	return w.run(append([]string{"tick"}, args...)...)
}

// hash is that of every name and byte in the world's folder.
func (w *world) hash(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, entry.Type())
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		sum.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// state is what the state file holds but for the lease, which each tick takes
// and gives back, written out; "" is no file.
func (w *world) state(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(w.path("state/latch.db")); err != nil {
		return ""
	}
	head, latches := w.load(t)
	text, err := json.MarshalIndent([]any{head, latches}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lease takes the site's lease for another.
func (w *world) lease(t *testing.T, owner string, until time.Time) {
	t.Helper()
	store, err := bolt.Open(w.path("state/latch.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Acquire(t.Context(), "prod-eu", owner, w.now, until); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

func (w *world) load(t *testing.T) (latch.Head, []latch.Latch) {
	t.Helper()
	store, err := bolt.Open(w.path("state/latch.db"))
	if err != nil {
		t.Fatal(err)
	}
	head, latches, err := store.Load(t.Context(), "prod-eu")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return head, latches
}

// An api is an API server that holds a few workloads, and can be told to fail.
type api struct {
	*httptest.Server
	uid       string           // of kube-system
	workloads map[string]*pods // by namespace/kind/name
	refuse    map[string]int   // statuses, by the resource or the path that they answer for
	says      string           // what it says besides where it refuses
	// objects are those of other kinds, as YAML by their resource; the kinds that
	// are not among them are not installed.
	objects map[string]string
}

// pods are what a workload asks for and has.
type pods struct {
	desired, ready int32
	least, most    int32 // of its autoscaler; 0 is none
	blind          bool  // its autoscaler has no metrics
	unstated       bool  // nobody owns its count
	rolls          *rolls
	foreign        string // what its conditions and annotations say
}

// rolls is a rollout in flight, from web:v1 to web:v2.
type rolls struct {
	updated int32  // pods of the target, all of them available
	failed  string // by which condition; "" is none
}

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{uid: "1f0c-blue", refuse: map[string]int{}, workloads: map[string]*pods{
		"kube-system/deployment/dns": {desired: 2, ready: 2, least: 2, most: 4},
		"pay/statefulset/ledger":     {desired: 3, ready: 3, least: 2, most: 9},
		"shop/deployment/api":        {desired: 45, ready: 45, least: 2, most: 300},
		"shop/deployment/batch":      {desired: 4, ready: 4},
		"shop/deployment/cart":       {desired: 18, ready: 18, least: 2, most: 60},
		"shop/deployment/web":        {desired: 87, ready: 87, least: 3, most: 500},
	}}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

// ServeHTTP answers in JSON, which is what a proxy that knows no protobuf does.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := path.Base(r.URL.Path)
	answer := map[string]any{}
	status := 0
	switch resource {
	case "kube-system":
		answer = object("Namespace", "v1", map[string]any{"name": "kube-system", "uid": a.uid})
	case "deployments", "statefulsets", "daemonsets":
		answer = map[string]any{"apiVersion": "apps/v1", "kind": map[string]string{
			"deployments": "DeploymentList", "statefulsets": "StatefulSetList", "daemonsets": "DaemonSetList"}[resource], "items": a.items(strings.TrimSuffix(resource, "s"))}
	case "replicasets":
		answer = map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSetList", "items": a.replicaSets()}
	case "horizontalpodautoscalers":
		answer = map[string]any{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscalerList", "items": a.autoscalers()}
	case "version":
		answer = map[string]any{"major": "1", "minor": "37"}
	case "priorityclasses":
		answer = map[string]any{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClassList", "items": []any{}}
	case "scale":
		answer = a.scale(r)
	default:
		text, installed := a.objects[resource]
		if !installed {
			status = http.StatusNotFound
			break
		}
		if err := yaml.Unmarshal([]byte(text), &answer); err != nil {
			status = http.StatusInternalServerError
		}
	}
	if refused := a.refuse[resource]; refused != 0 {
		status = refused
	}
	if status != 0 {
		reason := strings.ReplaceAll(http.StatusText(status), " ", "")
		answer = map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": status, "reason": reason,
			"message": fmt.Sprintf("user \"ci\" gets %d for %s%s", status, resource, a.says)}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(max(status, http.StatusOK))
	_ = json.NewEncoder(w).Encode(answer)
}

// scale gives the scale of a workload, and takes another. Its pods are ready at
// once.
func (a *api) scale(r *http.Request) map[string]any {
	part := strings.Split(r.URL.Path, "/") // /apis/apps/v1/namespaces/shop/deployments/web/scale
	p := a.workloads[part[5]+"/"+strings.TrimSuffix(part[6], "s")+"/"+part[7]]
	if r.Method == http.MethodPut {
		var wanted struct{ Spec struct{ Replicas int32 } }
		_ = json.NewDecoder(r.Body).Decode(&wanted)
		p.desired, p.ready = wanted.Spec.Replicas, wanted.Spec.Replicas
	}
	o := object("Scale", "autoscaling/v1", map[string]any{"namespace": part[5], "name": part[7]})
	o["spec"] = map[string]any{"replicas": p.desired}
	return o
}

func (a *api) items(kind string) []any {
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(a.workloads)) {
		p, id := a.workloads[key], strings.Split(key, "/")
		if id[1] != kind {
			continue
		}
		metadata := map[string]any{"namespace": id[0], "name": id[2], "generation": 1}
		if p.foreign != "" {
			metadata["annotations"] = map[string]any{"gitlatch.dev/policy": p.foreign}
		}
		if p.unstated {
			metadata["managedFields"] = []any{map[string]any{"manager": "flux", "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-03-02T07:00:00Z",
				"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:template": map[string]any{}}}}}
		}
		o := object(map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet"}[kind], "apps/v1", metadata)
		o["spec"] = map[string]any{"replicas": p.desired}
		status := map[string]any{"observedGeneration": 1, "replicas": p.desired, "updatedReplicas": p.desired,
			"readyReplicas": p.ready, "availableReplicas": p.ready, "currentReplicas": p.desired}
		if p.rolls != nil {
			metadata["uid"], status["updatedReplicas"] = key, p.rolls.updated
			o["spec"] = map[string]any{"replicas": p.desired, "selector": map[string]any{"matchLabels": map[string]any{"app": id[2]}}, "template": template("v2")}
			if p.rolls.failed != "" {
				status["conditions"] = []any{map[string]any{"type": "Progressing", "status": "False", "reason": p.rolls.failed, "message": "it timed out" + p.foreign}}
			}
		}
		o["status"] = status
		items = append(items, o)
	}
	return items
}

func template(version string) map[string]any {
	return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "web:" + version}}}}
}

// replicaSets are the two of each Deployment that rolls.
func (a *api) replicaSets() []any {
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(a.workloads)) {
		p, id := a.workloads[key], strings.Split(key, "/")
		if p.rolls == nil {
			continue
		}
		for i, n := range []int32{p.desired - p.rolls.updated, p.rolls.updated} {
			version := fmt.Sprintf("v%d", i+1)
			o := object("ReplicaSet", "apps/v1", map[string]any{"namespace": id[0], "name": id[2] + "-" + version,
				"labels": map[string]any{"pod-template-hash": "5d8f" + version}, "annotations": map[string]any{"deployment.kubernetes.io/revision": fmt.Sprint(i + 1)},
				"creationTimestamp": fmt.Sprintf("2026-03-02T07:0%d:00Z", i),
				"ownerReferences":   []any{map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": id[2], "uid": key, "controller": true}}})
			o["spec"] = map[string]any{"replicas": n, "template": template(version)}
			o["status"] = map[string]any{"replicas": n, "availableReplicas": n}
			items = append(items, o)
		}
	}
	return items
}

func (a *api) autoscalers() []any {
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(a.workloads)) {
		p, id := a.workloads[key], strings.Split(key, "/")
		if p.most == 0 {
			continue
		}
		o := object("HorizontalPodAutoscaler", "autoscaling/v2", map[string]any{"namespace": id[0], "name": id[2]})
		o["spec"] = map[string]any{"minReplicas": p.least, "maxReplicas": p.most, "scaleTargetRef": map[string]any{
			"apiVersion": "apps/v1", "kind": map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet"}[id[1]], "name": id[2]}}
		active := map[string]any{"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound"}
		if p.blind {
			active["status"], active["reason"] = "False", "FailedGetResourceMetric"+p.foreign
		}
		o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "AbleToScale", "status": "True"}, active}}
		items = append(items, o)
	}
	return items
}

func object(kind, version string, metadata map[string]any) map[string]any {
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata}
}
