package open_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// A drill once chose the cluster by the type of the tick's sampler, which differs if
// demand is configured. It then looked for a kubeconfig in a Lambda.
func TestADrillOfEKSReadsEKSWhateverSamples(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	c, err := config.ParseConfig("config.yaml", []byte(`
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {eks: arn:aws:eks:eu-west-1:123456789012:cluster/shop}
state: {memory: {}}
repository: {url: 'https://git.example.com/site.git'}
demand: [{workload: shop/deployment/web, prometheus: {url: 'https://prometheus.example.com', query: up}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	o := &wiring.Opener{Config: c, Getenv: func(string) string { return "" }, Clock: time.Now}
	sampler, err := o.Sampler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = open.Open(t.Context(), o, local.Parts{Sampler: sampler})
	if err == nil || !strings.Contains(err.Error(), "describe EKS cluster shop in eu-west-1") {
		t.Errorf("got %v, want the error of DescribeCluster", err)
	}
}
