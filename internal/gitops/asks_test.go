package gitops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/gitops"
)

func TestWhatAPodAsksFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ template, want string }{
		"no template":            {"", "nothing known"},
		"nothing":                {"{spec: {containers: [{name: a}]}}", ""},
		"requests":               {"{spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}, {name: b, resources: {requests: {cpu: 500m}}}]}}", "requests.cpu=1500m"},
		"limits are requested":   {"{spec: {containers: [{name: a, resources: {limits: {memory: 1Gi}}}]}}", "limits.memory=1Gi requests.memory=1Gi"},
		"unless less is":         {"{spec: {containers: [{name: a, resources: {limits: {memory: 1Gi}, requests: {memory: 1Mi}}}]}}", "limits.memory=1Gi requests.memory=1Mi"},
		"what goes before":       {"{spec: {initContainers: [{name: i, resources: {requests: {cpu: 2}}}], containers: [{name: a, resources: {requests: {cpu: 1}}}]}}", "requests.cpu=2"},
		"what stays beside":      {"{spec: {initContainers: [{name: i, restartPolicy: Always, resources: {limits: {cpu: 2}}}], containers: [{name: a, resources: {requests: {cpu: 1}}}]}}", "limits.cpu=2 requests.cpu=3"},
		"a pod as a whole":       {"{spec: {resources: {limits: {cpu: 4}}, containers: [{name: a, resources: {requests: {cpu: 1}}}]}}", "limits.cpu=4 requests.cpu=4"},
		"overhead":               {"{spec: {overhead: {memory: 1Mi}, containers: [{name: a, resources: {requests: {memory: 1Mi}}}]}}", "requests.memory=2Mi"},
		"what a cluster extends": {"{spec: {containers: [{name: a, resources: {limits: {example.com/gpu: 2}}}]}}", "limits.example.com/gpu=2 requests.example.com/gpu=2"},
		"what cannot be read":    {"{spec: {containers: [{name: a, resources: {requests: {cpu: much}}}]}}", "nothing known"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifest := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  selector: {}\n"
			if c.template != "" {
				manifest += "  template: " + c.template + "\n"
			}
			files := map[string][]byte{"live/kustomization.yaml": []byte("resources: [web.yaml]\n"), "live/web.yaml": []byte(manifest)}
			built, err := render(files, "live", nil)
			if err != nil || len(built) != 1 {
				t.Fatalf("%v: %+v", err, built)
			}
			var all []string
			for name, q := range built[0].Asks {
				all = append(all, fmt.Sprintf("%s=%s", name, q.String()))
			}
			slices.Sort(all)
			got := strings.Join(all, " ")
			if built[0].Asks == nil {
				got = "nothing known"
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAQuotaCallsTheRequestsOfSomeByThemAlone(t *testing.T) {
	t.Parallel()
	for name, want := range map[corev1.ResourceName]corev1.ResourceName{
		"cpu": "requests.cpu", "memory": "requests.memory", "ephemeral-storage": "requests.ephemeral-storage", "hugepages-2Mi": "requests.hugepages-2Mi",
		"requests.cpu": "requests.cpu", "limits.memory": "limits.memory", "requests.example.com/gpu": "requests.example.com/gpu", "services": "services",
	} {
		if got := gitops.QuotaName(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
