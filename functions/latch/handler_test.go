package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// document is a valid configuration for a cluster that does not exist.
const document = `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {kubeconfig: %q}
state: {memory: {}}
repository: {url: %q, credential: env:GIT_TOKEN}
`

const kubeconfigOf = `
apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: %q}}]
users: [{name: test, user: {token: cluster-secret}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
`

// environment returns the environment of a function with a document as its
// configuration.
func environment(document string) func(string) string {
	return func(name string) string {
		return map[string]string{config.Variable: document, "GIT_TOKEN": "git-secret"}[name]
	}
}

func handlerOf(getenv func(string) string, log zerolog.Logger) (*handler, error) {
	c, err := config.FromEnvironment(getenv)
	if err != nil {
		return nil, err
	}
	return newHandler(c, getenv, time.Now, log, io.Discard)
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFunctionThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	kubeconfig := write(t, "kubeconfig", fmt.Sprintf(kubeconfigOf, "https://127.0.0.1:1"))
	good := fmt.Sprintf(document, kubeconfig, "https://git.example.com/site.git")
	for _, c := range []struct {
		name     string
		document string
		token    string
		want     []string
	}{
		{"no configuration", "", "x", []string{"GITLATCH_CONFIG", "kind Config"}},
		{"not YAML", "{", "x", []string{"GITLATCH_CONFIG:1: "}},
		{"all that is wrong, at once", strings.NewReplacer("prod-eu", "Prod EU", "kind: Config", "kind: Config\nperiod: 5").Replace(good), "x",
			[]string{"GITLATCH_CONFIG:4: period: must", "GITLATCH_CONFIG:5: site: must be a DNS label"}},
		{"a misspelt field", good + "perriod: 5m\n", "x", []string{"perriod", "period"}},
		{"a state that would not last", strings.Replace(good, "{memory: {}}", "{bolt: /var/lib/latch.db}", 1), "x",
			[]string{"state.bolt", "a function keeps no files between runs", "state.memory"}},
		{"a kubeconfig that is not there", fmt.Sprintf(document, "/nowhere/kubeconfig", "https://git.example.com/site.git"), "x",
			[]string{"cluster: kubeconfig /nowhere/kubeconfig", "no such file"}},
		{"a context that is not there", strings.Replace(good, "cluster: {", "cluster: {context: green, ", 1), "x",
			[]string{`no context "green"`, "there are: test"}},
		{"a token that is not there", good, "", []string{"repository.credential", "GIT_TOKEN is not set"}},
		{"a repository that is not there", fmt.Sprintf(document, kubeconfig, "/nowhere/site.git"), "x", []string{"/nowhere/site.git", "this path does not exist"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string {
				return map[string]string{config.Variable: c.document, "GIT_TOKEN": c.token}[name]
			}
			_, err := handlerOf(getenv, zerolog.Nop())
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("does not say %q: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "--kubeconfig") {
				t.Errorf("speaks of a flag, which a function has not: %v", err)
			}
		})
	}
}

func TestAnEventIsTakenToTheLetter(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.NotFoundHandler())
	api.Close() // no server answers any longer
	origin := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"app.yaml": "kind: App\n"})
	var log bytes.Buffer
	h, err := handlerOf(environment(fmt.Sprintf(document, write(t, "kubeconfig", fmt.Sprintf(kubeconfigOf, api.URL)), origin.Dir)), zerolog.New(&log))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		payload string
		want    string
	}{
		// Valid events, which fail later because the API server does not answer.
		{`{}`, "reach the API server at " + api.URL},
		{`null`, "reach the API server"},
		{``, "reach the API server"},
		{`{"site": "prod-eu"}`, "reach the API server"},
		{`{"site": "prod-eu", "dryRun": true}`, "reach the API server"},
		// Invalid events.
		{`{"site": "prod-us"}`, `site is "prod-us", and this function is configured for "prod-eu"`},
		{`{"dry_run": true}`, `unknown field "dry_run"; want {"site": "prod-eu", "dryRun": true}`},
		{`{"dryRun": "yes"}`, "dryRun"},
		{`"prod-eu"`, "event: "},
	} {
		log.Reset()
		_, err := h.handle(t.Context(), json.RawMessage(c.payload))
		got := fmt.Sprint(err)
		if !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
			t.Errorf("%s: want words %q, and no secrets: %s", c.payload, c.want, got)
		}
		ticked := strings.Contains(log.String(), `"message":"tick"`)
		if reached := strings.Contains(got, "reach"); ticked != reached {
			t.Errorf("%s: logged %s", c.payload, log.String())
		}
	}
	if log := origin.Log(t, "main"); len(log) != 1 {
		t.Errorf("log %q", log)
	}
}

// scheduledTime is the text that EventBridge Scheduler replaces with the time at which an
// event is due.
const scheduledTime = "<aws.scheduler.scheduled-time>"

// Scheduler delivers an event at least once. A sample that counts twice would halve
// the hold of a raise.
func TestAnEventThatIsDeliveredTwiceIsOneSample(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(emptyCluster))
	t.Cleanup(api.Close)
	origin := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"app.yaml": "kind: App\n"})
	h, err := handlerOf(environment(fmt.Sprintf(document, write(t, "kubeconfig", fmt.Sprintf(kubeconfigOf, api.URL)), origin.Dir)), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	invoke := func(due time.Time) string {
		t.Helper()
		payload := strings.Replace(scheduled(t), scheduledTime, due.UTC().Format(time.RFC3339Nano), 1)
		d, err := h.handle(t.Context(), json.RawMessage(payload))
		if err != nil {
			t.Fatalf("%s: %v", payload, err)
		}
		return d.Held
	}
	due := time.Now()
	if held := invoke(due); held != "" {
		t.Errorf("the first delivery did not tick: %s", held)
	}
	if held := invoke(due); !strings.Contains(held, "turn of "+due.UTC().Format(time.RFC3339)) {
		t.Errorf("the second delivery ticked: held is %q", held)
	}
	if held := invoke(time.Now()); held != "" {
		t.Errorf("the next event did not tick: %s", held)
	}
}

// scheduled returns the input of the schedule in template.yaml for the site prod-eu.
func scheduled(t *testing.T) string {
	t.Helper()
	tick := strings.SplitAfter(read(t, "../../template.yaml"), "Events:\n        Tick:\n")
	_, input, _ := strings.Cut(tick[len(tick)-1], "Input: !Sub '")
	input, _, found := strings.Cut(input, "'")
	if len(tick) != 2 || !found {
		t.Fatal("template.yaml has no input for the event Tick")
	}
	payload := strings.Replace(input, "${Site}", "prod-eu", 1)
	if want := strings.TrimSpace(read(t, "../../testdata/events/scheduler.json")); payload != want {
		t.Errorf("the schedule sends %s, and testdata/events/scheduler.json is %s", payload, want)
	}
	return payload
}

// emptyCluster answers as an API server of a cluster without workloads.
func emptyCluster(w http.ResponseWriter, r *http.Request) {
	answer := `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "1f0c-blue"}}`
	version, kind := "apps/v1", map[string]string{
		"deployments": "DeploymentList", "statefulsets": "StatefulSetList", "daemonsets": "DaemonSetList",
		"replicasets": "ReplicaSetList", "horizontalpodautoscalers": "HorizontalPodAutoscalerList",
	}[path.Base(r.URL.Path)]
	if strings.HasPrefix(kind, "Horizontal") {
		version = "autoscaling/v2"
	}
	if kind != "" {
		answer = fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "items": []}`, version, kind)
	} else if path.Base(r.URL.Path) != "kube-system" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer)
}
