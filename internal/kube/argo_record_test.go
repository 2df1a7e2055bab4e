//go:build argo

package kube_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/testenv/argo"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// TestArgoRollouts brings a Rollout into each state of argoCases, samples it there with
// the sampler's own rights, and compares the sample with the record, except for the
// times. The build of Argo Rollouts takes almost as long as all other builds for tests,
// so make record-argo runs it, and TestManifests reads the record.
func TestArgoRollouts(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 4)
	cp.Kubectl(t, "", "apply", "-k", filepath.Dir(roleFile))
	cp.Metrics(t, func(string) string { return "7m" })
	version := argo.Start(t, cp)
	health := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"value": %s}`, strings.TrimPrefix(r.URL.Path, "/"))
	}))
	t.Cleanup(health.Close)
	sampler := sampler(t, cp.As("gitlatch", "gitlatch:samplers"))
	t.Run("cases", func(t *testing.T) {
		for _, c := range argoCases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				p := &argoPlay{t: t, cp: cp, namespace: c.name, health: health.URL}
				p.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + c.name + "}}")
				c.play(p)
				held := p.seen
				if held == nil {
					held = p.settled()
				}
				e := serve(t, objects(t, documents(t, held))...)
				read := tell(sample(t, e))
				if p.seen == nil {
					fleet, err := sampler.Sample(t.Context(), nil)
					if err != nil {
						t.Fatal(err)
					}
					samples := fleet.Samples[:0:0]
					for _, s := range fleet.Samples {
						if s.ID.Namespace == c.name {
							samples = append(samples, s)
						}
					}
					fleet.Samples = samples
					if live := tell(fleet); live != read {
						t.Fatalf("what is recorded is read otherwise than what ran:\n%s\nlive:\n%s", read, live)
					}
				}
				c.compare(t, version, documents(t, held), read)
			})
		}
	})
}

// instants matches the times in a reading.
var instants = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

func (c argoCase) path() string {
	return filepath.Join("../../testdata/manifests", "rollout-"+c.name+".txtar")
}

func (c argoCase) comment(version string) string {
	return c.says + "\nRecorded of Argo Rollouts " + version + ".\n"
}

// compare fails the test if the reading differs from the file of the case. If update is
// set, it writes the file instead.
func (c argoCase) compare(t *testing.T, version, objects, read string) {
	t.Helper()
	if *update {
		recorded := txtar.Archive{
			Comment: []byte(c.comment(version)),
			Files:   []txtar.File{{Name: "objects.yaml", Data: []byte(objects)}, {Name: "want", Data: []byte(read)}},
		}
		if err := os.WriteFile(c.path(), txtar.Format(&recorded), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded, err := txtar.ParseFile(c.path())
	if err != nil {
		t.Fatal(err)
	}
	got, want := instants.ReplaceAllString(read, "then"), instants.ReplaceAllString(string(recorded.Files[1].Data), "then")
	if got != want {
		t.Errorf("Argo Rollouts %s is read as:\n%s\nrecorded:\n%s\nobjects:\n%s", version, got, want, objects)
	}
}

// trimmed removes fields of an object that are noise in a file, such as the managed
// fields that do not contain the replicas.
func trimmed(o map[string]any) map[string]any {
	metadata := o["metadata"].(map[string]any)
	delete(metadata, "resourceVersion")
	entries, _ := metadata["managedFields"].([]any)
	var own []any
	for _, e := range entries {
		e := e.(map[string]any)
		fields, _ := e["fieldsV1"].(map[string]any)
		spec, _ := fields["f:spec"].(map[string]any)
		e["fieldsV1"] = map[string]any{}
		if count, ok := spec["f:replicas"]; ok {
			e["fieldsV1"] = map[string]any{"f:spec": map[string]any{"f:replicas": count}}
		}
		own = append(own, e)
	}
	delete(metadata, "managedFields")
	if o["kind"] == "Rollout" || o["kind"] == "Deployment" {
		metadata["managedFields"] = own
	}
	return o
}

func documents(t *testing.T, all []map[string]any) string {
	t.Helper()
	var texts [][]byte
	for _, o := range all {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	return string(bytes.Join(texts, []byte("---\n")))
}
