package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
	standeks "github.com/gitlatch/gitlatch/internal/testenv/eks"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/replay"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// The built bootstrap runs as Lambda runs it: it finds its cluster in EKS, logs in with a
// token of its role, samples an API endpoint that replays a trace, and pushes to a git server
// that requires a token. TestOnAWS runs it with a real API server.
func TestTheBootstrapLatchesAReplayedCluster(t *testing.T) {
	t.Parallel()
	pods := func(n int32) traces.State { return traces.State{Desired: n, Ready: n, Updated: n, Revision: 1} }
	endpoint := replay.New(&traces.Trace{
		Length: time.Hour,
		Workloads: []traces.Workload{{
			ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}, Driver: workload.DrivenByHPA, Min: 2, Max: 100, Target: 0.7,
		}},
		Changes: [][]traces.Change{{{At: 0, State: pods(12)}, {At: time.Minute, State: pods(45)}}},
	})
	cluster := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer k8s-aws-v1.") {
			http.Error(w, "no token of EKS", http.StatusUnauthorized)
			return
		}
		endpoint.ServeHTTP(w, r)
	}))
	t.Cleanup(cluster.Close)
	aws := standeks.Start(t)
	aws.Describe("prod-eu-blue", standeks.Cluster{
		Endpoint: cluster.URL, CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cluster.Certificate().Raw}),
	})
	server := gitserver.Start(t)
	server.RequireAuth("x-access-token", "git-secret")
	origin := server.Create(t, "site", map[string]string{
		"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n",
	})
	document := fmt.Sprintf(`apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {eks: arn:aws:eks:%s:123456789012:cluster/prod-eu-blue}
state: {memory: {}}
repository: {url: %q, credential: env:GIT_TOKEN}
`, standeks.Region, server.URL("site"))
	key := aws.Key("arn:aws:sts::123456789012:assumed-role/latch/gitlatch")
	f := runtimeapi.Start(t, runtimeapi.Build(t, "."), append(aws.Environment(key), config.Variable+"="+document, "GIT_TOKEN=git-secret")...)

	invoke := func() (answer report.Document) {
		t.Helper()
		due := time.Now().UTC().Format(time.RFC3339Nano)
		r := f.Invoke(t.Context(), []byte(strings.Replace(scheduled(t), scheduledTime, due, 1)))
		if strings.Contains(r.Logs, "git-secret") || strings.Contains(r.Logs, key.SecretAccessKey) {
			t.Errorf("a secret in %s", r.Logs)
		}
		if r.Error != nil {
			t.Fatalf("%v\n%s", r.Error, r.Logs)
		}
		if err := json.Unmarshal(r.Payload, &answer); err != nil {
			t.Fatalf("payload %s: %v", r.Payload, err)
		}
		return answer
	}
	if one := invoke(); one.Commit != nil {
		t.Fatalf("it committed after one sample: %+v", one.Commit)
	}
	two := invoke()
	if two.Commit == nil || two.Commit.ID != origin.Tip("main") {
		t.Fatalf("after two samples: %+v, tip %s", two.Commit, origin.Tip("main"))
	}
	endpoint.Seek(2 * time.Minute)
	invoke()
	if four := invoke(); four.Commit == nil {
		t.Fatal("it did not commit the raise")
	}
	log := origin.Log(t, "main")
	if want := []string{"latch(prod-eu): shop/web 20 -> 50", "latch(prod-eu): shop/web new -> 20"}; len(log) != 3 || log[0] != want[0] || log[1] != want[1] {
		t.Errorf("log %q, want %q above the first commit", log, want)
	}
	if quiet := invoke(); quiet.Commit != nil {
		t.Errorf("a quiet tick committed %+v", quiet.Commit)
	}
}
