package open_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/site"
)

// A drill once chose the cluster by the type of the tick's sampler, which differs if
// demand is configured. It then looked for a kubeconfig in a Lambda.
func TestADrillOfEKSReadsEKSWhateverSamples(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	c, err := config.ParseConfig("config.yaml", []byte(`
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {eks: {name: shop, region: eu-west-1}}
state: {memory: {}}
repository: {url: 'https://git.example.com/site.git'}
demand: [{workload: shop/deployment/web, prometheus: {url: 'https://prometheus.example.com', query: up}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	o := &site.Opener{Config: c, Getenv: func(string) string { return "" }, Clock: time.Now}
	sampler, err := o.Sampler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nowhere, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open.Open(nowhere, o, site.Parts{Sampler: sampler}); err == nil || !strings.Contains(err.Error(), "AWS") {
		t.Errorf("got %v, want what AWS says of the cluster", err)
	}
}
