package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func TestASiteThatObservesLacksNothing(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	r := tick.Report{Decided: policy.Decided{Decisions: []policy.Decision{{ID: web, Verdict: policy.Pending, Count: 180}}}}
	if got := missingPods(r); got != 180 {
		t.Errorf("latching: %v pods are lacking, want 180", got)
	}
	if r.Observe = true; missingPods(r) != 0 {
		t.Errorf("observing: %v pods are lacking, want none", missingPods(r))
	}
}

// A site that observes updates no entry in git. Its metrics have their number; a site
// that latches has no such metric.
func TestASiteThatObservesReportsItsEntriesInGit(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	api := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "api"}
	r := tick.Report{Site: "prod", Fleet: workload.Fleet{At: noon}, Observe: true}
	r.Latches = latch.LatchesOf(map[workload.ID]latch.Latch{
		web: {ID: web, Declared: checkpoint.Entry{Replicas: 100}},
		api: {ID: api, Recent: latch.Recent{{}}},
	})
	var g gateway
	if got := g.write(t, r, noon)["gitlatch_observed_entries"]; got != 1 {
		t.Errorf("observing: %v entries, want 1", got)
	}
	r.Observe = false
	if got, is := g.write(t, r, noon)["gitlatch_observed_entries"]; is {
		t.Errorf("latching: %v entries, want no number", got)
	}
}

func TestMetricsAreOneLineOfTheEmbeddedFormat(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	api := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "api"}
	agent := workload.ID{Namespace: "shop", Kind: workload.DaemonSet, Name: "agent"}
	var out bytes.Buffer
	r := tick.Report{
		Site:  "prod",
		Fleet: workload.Fleet{At: noon, Unread: []workload.Unread{{Part: "scaledobjects", Why: "forbidden"}}},
		Notes: notes.Notes{Conditions: []alert.Condition{{Kind: alert.Blocked}, {Kind: alert.Unread}}},
	}
	r.Head.UnpublishedSince = noon.Add(-90 * time.Minute)
	r.Decisions = []policy.Decision{
		{ID: web, Verdict: policy.Cross, Count: 180},
		{ID: api, Verdict: policy.Frozen, Count: 40},
		{ID: agent, Verdict: policy.Skip, Count: 500},
	}
	r.Latches = latch.LatchesOf(map[workload.ID]latch.Latch{
		web: {Declared: checkpoint.Entry{Replicas: 100}},
		api: {Declared: checkpoint.Entry{Replicas: 50}},
	})
	err := WriteMetrics(&out, r, noon)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Errorf("not one line: %q", out.String())
	}
	var line struct {
		Site string `json:"site"`
		AWS  struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
	}
	values := map[string]any{}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &values); err != nil {
		t.Fatal(err)
	}
	if line.Site != "prod" || line.AWS.Timestamp != noon.UnixMilli() || line.AWS.CloudWatchMetrics[0].Namespace != "gitlatch" {
		t.Errorf("envelope: %+v", line)
	}
	got := map[string]float64{}
	for _, m := range line.AWS.CloudWatchMetrics[0].Metrics {
		got[m.Name], _ = values[m.Name].(float64)
	}
	want := map[string]float64{
		"Heartbeat": 1, "Workloads": 3, "LevelChanges": 1, "FrozenWorkloads": 1, "Commits": 0, "PushFailures": 1,
		"UnlistedResources": 1, "MissingPods": 80, "PendingLevelChangeAgeSeconds": 5400,
	}
	if !maps.Equal(got, want) {
		t.Errorf("metrics are %v, want %v", got, want)
	}
	units := []string{"Count", "Seconds"}
	for _, m := range line.AWS.CloudWatchMetrics[0].Metrics {
		if !slices.Contains(units, m.Unit) {
			t.Errorf("%s has unit %q", m.Name, m.Unit)
		}
	}
}
