package open

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// site.yaml lists the custom kinds of a site, and the policy defines them. An
// unreadable policy is an error only if there are custom kinds, and stops no restore.
func TestTheKindsOfARestoreAreThoseOfThePolicy(t *testing.T) {
	t.Parallel()
	const (
		header = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\n"
		kinds  = header + "kinds: [{apiVersion: example.com/v1, kind: Worker, resource: workers}]\n"
	)
	own := workload.Kinds{"worker": {Group: "example.com", Version: "v1", Kind: "Worker", Replicas: workload.Replicas}}
	for name, c := range map[string]struct {
		record        workload.Kinds
		policy        string
		looked, wrong bool
	}{
		"named":               {own, kinds, true, false},
		"named no longer":     {own, header, false, false},
		"it cannot be read":   {own, "kind: [", false, true},
		"gone":                {own, kinds + "# gone\n", true, true},
		"none":                {nil, kinds, false, false},
		"none and not a word": {nil, "kind: [", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(kubeconfig, []byte(`{"apiVersion": "v1", "kind": "Config", "current-context": "a",
"clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}], "contexts": [{"name": "a", "context": {"cluster": "a"}}]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			origin := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"gitlatch.yaml": c.policy, "checkpoints/prod-eu/site.yaml": string(checkpoint.Site{Name: "prod-eu", Kinds: c.record}.Format())})
			if name == "gone" {
				origin.Push(t, "main", map[string]string{"gitlatch.yaml": gitserver.Removed}, "a bad merge")
			}
			o, err := config.ParseConfig("config", []byte("apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {memory: {}}\ncluster: {kubeconfig: "+kubeconfig+"}\nrepository: {url: "+origin.Dir+"}\n"))
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), &wiring.Opener{Config: o, Getenv: os.Getenv, Clock: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Declared(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := s.Restore()
			if _, looked := r.Kinds["worker"]; looked != c.looked || (r.Policy != nil) != c.wrong || len(s.client.Kinds) != len(r.Kinds) {
				t.Errorf("kinds %v, error %v", r.Kinds, r.Policy)
			}
		})
	}
}
