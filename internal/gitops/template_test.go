package gitops_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestTheImagesAndThePauseOfABuild(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kustomization, spec, want string
		paused                    bool
	}{
		"no template":             {"", "{}", "nothing known", false},
		"no containers":           {"", "{template: {spec: {}}}", "nothing known", false},
		"containers":              {"", "{template: {spec: {containers: [{name: b, image: two}, {name: a, image: one}]}}}", "a=one b=two", false},
		"those that go before":    {"", "{template: {spec: {initContainers: [{name: i, image: zero}], containers: [{name: a, image: one}]}}}", "a=one i=zero", false},
		"one without an image":    {"", "{template: {spec: {containers: [{name: a, image: one}, {name: b}]}}}", "nothing known", false},
		"one that is substituted": {"", "{template: {spec: {initContainers: [{name: i, image: 'zero:${TAG}'}], containers: [{name: a, image: one}]}}}", "nothing known", false},
		"set by the build":        {"images: [{name: one, newName: other, digest: 'sha256:00'}]", "{template: {spec: {containers: [{name: a, image: 'one:1'}]}}}", "a=other@sha256:00", false},
		"what cannot be read":     {"", "{paused: '${PAUSED}', template: {spec: {containers: [{name: a, image: one, resources: {requests: {cpu: '${CPU}'}}}]}}}", "a=one", false},
		"paused":                  {"", "{paused: true, template: {spec: {containers: [{name: a, image: one}]}}}", "a=one", true},
		"not paused":              {"", "{paused: false}", "nothing known", false},
		"paused by the build":     {"patches: [{target: {kind: Deployment}, patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {paused: true}}'}]", "{}", "nothing known", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built, err := render(map[string][]byte{
				"live/kustomization.yaml": []byte("resources: [web.yaml]\n" + c.kustomization),
				"live/web.yaml":           []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: " + c.spec + "\n"),
			}, "live", nil)
			if err != nil || len(built) != 1 {
				t.Fatalf("%v: %+v", err, built)
			}
			got := "nothing known"
			if built[0].Images != nil {
				var all []string
				for _, container := range slices.Sorted(maps.Keys(built[0].Images)) {
					all = append(all, container+"="+built[0].Images[container])
				}
				got = strings.Join(all, " ")
			}
			if got != c.want || built[0].Paused != c.paused {
				t.Errorf("got %q, paused %v, want %q, %v", got, built[0].Paused, c.want, c.paused)
			}
		})
	}
}
