package wiring

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube/demand"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A server is one source for all of its queries. A source without a token reports that
// when it is queried. A site without demand queries no server.
func TestDemandIsMeasuredAsConfigured(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization")+" "+r.URL.Query().Get("query"))
		fmt.Fprint(w, `{"status": "success", "data": {"resultType": "scalar", "result": [0, "12"]}}`)
	}))
	t.Cleanup(server.Close)
	const head = "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod\nstate: {memory: {}}\nrepository: {url: /srv/site.git}\n"
	c, err := config.ParseConfig("config", fmt.Appendf(nil, head+`
demand:
- {workload: shop/web, prometheus: {url: %[1]q, query: web, token: env:TOKEN}}
- {workload: shop/api, prometheus: {url: %[1]q, query: api, token: env:TOKEN}}
- {workload: shop/mail, prometheus: {url: "https://prometheus.example.com", query: mail, token: env:NONE}}
- {workload: shop/pay, cloudwatch: {namespace: Shop, metric: users, region: eu-west-1}}
- {workload: shop/ads, cloudwatch: {namespace: Shop, metric: views, region: eu-west-1}}
`, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	o := &Opener{Config: c, Getenv: func(name string) string { return map[string]string{"TOKEN": "hunter2"}[name] }, Clock: time.Now}
	found, names, closed := map[workload.ID]float64{}, []string{}, ""
	for _, s := range o.sources(t.Context()) {
		names = append(names, s.Name())
		if cw, ok := s.(demand.CloudWatch); ok {
			if len(cw.Metrics) != 2 || cw.Client == nil || cw.Region != "eu-west-1" {
				t.Errorf("CloudWatch %+v", cw)
			}
			continue
		}
		measured, err := s.Measure(t.Context(), time.Unix(0, 0))
		if err != nil {
			closed += s.Name() + ": " + err.Error()
		}
		for id, n := range measured {
			found[id] = n
		}
	}
	if len(names) != 3 || len(found) != 2 || strings.Join(asked, ", ") != "Bearer hunter2 api, Bearer hunter2 web" {
		t.Errorf("sources %q, found %v, asked %q", names, found, asked)
	}
	if closed != "Prometheus prometheus.example.com: read demand.prometheus.token: environment variable NONE is not set" {
		t.Errorf("said %s", closed)
	}
	c.Demand = nil
	if s := (&Opener{Config: c}).sources(t.Context()); len(s) != 0 {
		t.Errorf("nothing is configured, and %v are asked", s)
	}
}
