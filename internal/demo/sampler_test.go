package demo

import (
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/replay"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// The demo samples its trace without a cluster. A cluster in the state of the trace gives
// the same samples, except for values that no decision of the demo needs.
func TestTheTraceSamplesAsAClusterDoes(t *testing.T) {
	t.Parallel()
	day, err := traces.Day()
	if err != nil {
		t.Fatal(err)
	}
	endpoint := replay.New(day)
	server := httptest.NewServer(endpoint)
	t.Cleanup(server.Close)
	own := &sampler{trace: day}
	cluster, err := kube.New(&rest.Config{Host: server.URL, QPS: -1}, kube.Options{Site: siteName, Clock: func() time.Time { return day.Start.Add(own.at) }})
	if err != nil {
		t.Fatal(err)
	}
	for own.at = day.WarmUp; own.at < day.Length; own.at += period {
		endpoint.Seek(own.at)
		want, err := cluster.Sample(t.Context(), workload.Kinds(nil))
		if err != nil {
			t.Fatal(err)
		}
		got, err := own.Sample(t.Context(), workload.Kinds(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got.Cluster != want.Cluster || len(got.Samples) != len(want.Samples) {
			t.Fatalf("the demo samples %d workloads of %s and the cluster %d of %s", len(got.Samples), got.Cluster, len(want.Samples), want.Cluster)
		}
		for i, s := range want.Samples {
			s.Labels = nil
			if !reflect.DeepEqual(got.Samples[i], s) {
				ours, _ := json.Marshal(got.Samples[i])
				theirs, _ := json.Marshal(s)
				t.Errorf("at %s the demo samples\n%s\nand the cluster\n%s", own.at, ours, theirs)
			}
		}
	}
}
