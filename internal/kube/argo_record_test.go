package kube_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/testenv/argo"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

var withArgo = flag.Bool("argo", false, "take Rollouts through a real Argo Rollouts, and compare with what testdata/manifests recorded of it; with -update record it anew")

// within bounds what a Rollout takes to get where it is wanted.
const within = 3 * time.Minute

// TestArgoRollouts takes a Rollout into each state of argoCases, samples it there
// with the sampler's own rights, and wants what was recorded of it, but for the
// times. Argo Rollouts takes longer to build than everything else that tests run
// on, so that make test has what was recorded, and make record-argo has this.
func TestArgoRollouts(t *testing.T) {
	if !*withArgo {
		t.Skip("the controller does not run: make record-argo runs it; TestManifests reads what was recorded of it")
	}
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
					fleet, err := sampler.Sample(t.Context())
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

// instants are the times of a reading.
var instants = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// compare wants the reading that the file of the case has, or writes the file.
func (c argoCase) compare(t *testing.T, version, objects, read string) {
	t.Helper()
	path := filepath.Join("../../testdata/manifests", "rollout-"+c.name+".txtar")
	if *update {
		recorded := txtar.Archive{
			Comment: fmt.Appendf(nil, "%s\nRecorded of Argo Rollouts %s.\n", c.says, version),
			Files:   []txtar.File{{Name: "objects.yaml", Data: []byte(objects)}, {Name: "want", Data: []byte(read)}},
		}
		if err := os.WriteFile(path, txtar.Format(&recorded), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, want := instants.ReplaceAllString(read, "then"), instants.ReplaceAllString(string(recorded.Files[1].Data), "then")
	if got != want {
		t.Errorf("Argo Rollouts %s is read as:\n%s\nrecorded:\n%s\nobjects:\n%s", version, got, want, objects)
	}
}

// An argoPlay is one Rollout, in a namespace of its own.
type argoPlay struct {
	t                 *testing.T
	cp                *controlplane.ControlPlane
	namespace, health string
	// seen is what is to be recorded where the state lasts for an instant; else
	// it is what is there when all is calm.
	seen []map[string]any
}

// argoSeen is what plays wait for.
type argoSeen struct {
	Metadata struct {
		Generation  int64
		Annotations map[string]string
	}
	Status struct {
		ObservedGeneration, WorkloadObservedGeneration string
		Phase, Message, StableRS, CurrentPodHash       string
		CurrentStepIndex                               int
		Abort                                          bool
		BlueGreen                                      struct{ ActiveSelector string }
	}
}

func (s *argoSeen) observed() bool {
	return s.Status.ObservedGeneration == fmt.Sprint(s.Metadata.Generation)
}

func (p *argoPlay) apply(manifests ...string) {
	p.t.Helper()
	p.cp.Apply(p.t, manifests...)
}

// patch writes the spec of the Rollout, or its status.
func (p *argoPlay) patch(subresource, patch string) {
	p.t.Helper()
	args := []string{"patch", "rollout", "web", "-n", p.namespace, "--type=merge", "-p", patch}
	if subresource != "" {
		args = append(args, "--subresource="+subresource)
	}
	p.cp.Kubectl(p.t, "", args...)
}

const rolloutPath = "/apis/argoproj.io/v1alpha1/namespaces/%s/rollouts"

// until waits for a state of the Rollout.
func (p *argoPlay) until(holds func(*argoSeen) bool) {
	p.t.Helper()
	err := controlplane.Eventually(p.t.Context(), within, func(ctx context.Context) error {
		var seen argoSeen
		if err := p.cp.Read(ctx, fmt.Sprintf(rolloutPath, p.namespace)+"/web", &seen); err != nil {
			return err
		}
		if !seen.observed() || !holds(&seen) {
			return fmt.Errorf("%+v", seen)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// rests waits until a promotion is over.
func (p *argoPlay) rests() {
	p.t.Helper()
	p.until(func(s *argoSeen) bool {
		return s.Status.Phase == "Healthy" && s.Status.StableRS == s.Status.CurrentPodHash
	})
}

// pausedAt waits until the Rollout is paused at a step, from 0.
func (p *argoPlay) pausedAt(step int) {
	p.t.Helper()
	p.until(func(s *argoSeen) bool { return s.Status.Phase == "Paused" && s.Status.CurrentStepIndex == step })
}

// degraded waits until it has failed, and nothing more of it moves.
func (p *argoPlay) degraded() {
	p.t.Helper()
	p.until(func(s *argoSeen) bool { return s.Status.Phase == "Degraded" })
}

// promote ends the pause that the Rollout is at.
func (p *argoPlay) promote() {
	p.t.Helper()
	p.patch("status", `{"status": {"pauseConditions": null}}`)
}

// held returns what there is of the kinds that samples are made of, the Rollout
// first, and a word that changes with any of it.
func (p *argoPlay) held(ctx context.Context) (all []map[string]any, versions string, err error) {
	for _, of := range [][2]string{
		{"argoproj.io/v1alpha1", "Rollout"}, {"apps/v1", "Deployment"}, {"apps/v1", "ReplicaSet"},
		{"autoscaling/v2", "HorizontalPodAutoscaler"},
	} {
		var list struct{ Items []map[string]any }
		path := fmt.Sprintf("/apis/%s/namespaces/%s/%ss", of[0], p.namespace, strings.ToLower(of[1]))
		if err := p.cp.Read(ctx, path, &list); err != nil {
			return nil, "", err
		}
		for _, o := range list.Items {
			o["apiVersion"], o["kind"] = of[0], of[1]
			versions += fmt.Sprint(o["metadata"].(map[string]any)["resourceVersion"], " ")
			all = append(all, trimmed(o))
		}
	}
	return all, versions, nil
}

// settled returns what there is once none of it has changed for two seconds.
func (p *argoPlay) settled() (all []map[string]any) {
	p.t.Helper()
	last, since := "", time.Now()
	err := controlplane.Eventually(p.t.Context(), within, func(ctx context.Context) (err error) {
		var versions string
		if all, versions, err = p.held(ctx); err != nil {
			return err
		}
		if versions != last {
			last, since = versions, time.Now()
		}
		if time.Since(since) < 2*time.Second {
			return fmt.Errorf("something of %s changes", p.namespace)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// instant does something and keeps the first state of the Rollout after it that
// is as wanted, however short, with all else as it was before.
func (p *argoPlay) instant(act func(), holds func(*argoSeen) bool) {
	p.t.Helper()
	before, _, err := p.held(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	if len(before) > 0 && before[0]["kind"] == "Rollout" {
		before = before[1:]
	}
	client, err := rest.HTTPClientFor(p.cp.Config())
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), within)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.cp.Config().Host+fmt.Sprintf(rolloutPath, p.namespace)+"?watch=true", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	act()
	for events := json.NewDecoder(answer.Body); ; {
		var event struct{ Object json.RawMessage }
		var seen argoSeen
		var whole map[string]any
		for _, err := range []error{events.Decode(&event), json.Unmarshal(event.Object, &seen), json.Unmarshal(event.Object, &whole)} {
			if err != nil {
				p.t.Fatalf("watch: %v", err)
			}
		}
		if holds(&seen) {
			p.seen = append([]map[string]any{trimmed(whole)}, before...)
			return
		}
	}
}

// trimmed takes out of an object what is noise in a file: but for who owns the
// count, who owns which field.
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

// Each case is recorded once, and its file is there.
func TestArgoCasesAreRecorded(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, c := range argoCases {
		recorded, err := txtar.ParseFile(filepath.Join("../../testdata/manifests", "rollout-"+c.name+".txtar"))
		if err != nil {
			t.Error(err)
			continue
		}
		if want := c.says + "\nRecorded of Argo Rollouts v"; !strings.HasPrefix(string(recorded.Comment), want) || names[c.name] {
			t.Errorf("rollout-%s.txtar begins with %q, want %q, once", c.name, recorded.Comment, want)
		}
		names[c.name] = true
	}
}
