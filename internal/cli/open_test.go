package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gitlatch/gitlatch/internal/config"
)

func TestAClusterByFlagsIsInsteadOfTheConfiguredOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	file := func(cluster string) {
		t.Helper()
		text := "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {memory: {}}\nrepository: {url: /srv/site.git}\n" + cluster
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	onEKS := config.Cluster{EKS: config.EKS{Name: "prod"}}
	for _, c := range []struct {
		cluster string
		flags   flags
		want    config.Cluster
	}{
		{"cluster: {eks: prod}", flags{}, onEKS},
		{"cluster: {eks: prod}", flags{kubeconfig: "k"}, config.Cluster{Kubeconfig: "k"}},
		{"cluster: {eks: prod}", flags{context: "c"}, config.Cluster{Context: "c"}},
		{"cluster: {kubeconfig: f, context: g}", flags{context: "c"}, config.Cluster{Kubeconfig: filepath.Join(filepath.Dir(path), "f"), Context: "c"}},
		{"cluster: {kubeconfig: f, context: g}", flags{kubeconfig: "k"}, config.Cluster{Kubeconfig: "k", Context: "g"}},
	} {
		file(c.cluster)
		c.flags.file, c.flags.env.Getenv = path, func(string) string { return "" }
		if got, err := c.flags.config(); err != nil || !reflect.DeepEqual(got.Cluster, c.want) {
			t.Errorf("%s with %+v: %+v, error %v", c.cluster, c.flags, got.Cluster, err)
		}
	}
}
