//go:build argo

package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// within is the time limit for a Rollout to reach a wanted state.
const within = 3 * time.Minute

// An argoPlay is one Rollout in a separate namespace.
type argoPlay struct {
	t                 *testing.T
	cp                *controlplane.ControlPlane
	namespace, health string
	// seen are the objects to record if a state lasts only for an instant; nil records
	// the settled objects.
	seen []map[string]any
}

// argoSeen has the fields that plays wait for.
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

// degraded waits until the Rollout has failed and no longer changes.
func (p *argoPlay) degraded() {
	p.t.Helper()
	p.until(func(s *argoSeen) bool { return s.Status.Phase == "Degraded" })
}

// promote ends the current pause of the Rollout.
func (p *argoPlay) promote() {
	p.t.Helper()
	p.patch("status", `{"status": {"pauseConditions": null}}`)
}

// held returns the objects of the kinds that a sample needs, the Rollout first, and a
// text that changes with any of them.
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

// settled returns the objects once they have not changed for two seconds.
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

// instant runs act and records the first state of the Rollout that holds accepts, however
// short, if the other objects have not changed.
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
