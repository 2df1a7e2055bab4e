package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// rough is an engine by which a demo is tested without the real one: it looks
// over HTTP at what HPAs drive, raises after two looks, lowers after 26 hours
// to the peak of that time, and commits. It has no freezes, budget or state.
type rough struct {
	place    Place
	declared map[workload.ID]int32
	timers   map[workload.ID]timer
}

type timer struct {
	up, sustained, peak int32
	since               time.Time
}

func openRough(_ context.Context, at Place) (Ticker, error) {
	return &rough{place: at, declared: map[workload.ID]int32{}, timers: map[workload.ID]timer{}}, nil
}

func (e *rough) Close() error { return nil }

func (e *rough) Tick(ctx context.Context, at time.Time) (Result, error) {
	var deployments appsv1.DeploymentList
	var scalers autoscalingv2.HorizontalPodAutoscalerList
	if err := e.get("/apis/apps/v1/deployments", &deployments); err != nil {
		return Result{}, err
	}
	if err := e.get("/apis/autoscaling/v2/horizontalpodautoscalers", &scalers); err != nil {
		return Result{}, err
	}
	need := map[workload.ID]int32{}
	for _, d := range deployments.Items {
		ready := max(1, d.Status.ReadyReplicas)
		n := *d.Spec.Replicas
		if 10*ready < 9*n {
			n = ready
		}
		need[workload.ID{Namespace: d.Namespace, Kind: workload.Deployment, Name: d.Name}] = n
	}
	var crossings []string
	for _, h := range scalers.Items {
		id := workload.ID{Namespace: h.Namespace, Kind: workload.Deployment, Name: h.Spec.ScaleTargetRef.Name}
		if n := need[id]; n > 0 {
			level := min(policy.OneTwoFive.Above(float64(n)), h.Spec.MaxReplicas)
			if from := e.declared[id]; e.cross(id, level, at) {
				crossings = append(crossings, fmt.Sprintf("%s %d -> %d", id.Short(), from, e.declared[id]))
			}
		}
	}
	r := Result{Declared: e.declared}
	if len(crossings) > 0 {
		slices.Sort(crossings)
		id, err := e.commit(ctx, at, crossings)
		if err != nil {
			return Result{}, err
		}
		r.Commit = id
	}
	return r, nil
}

func (e *rough) cross(id workload.ID, level int32, at time.Time) bool {
	t, declared := e.timers[id], e.declared[id]
	defer func() { e.timers[id] = t }()
	switch {
	case declared == 0:
		e.declared[id] = level
		return true
	case level == declared:
		t = timer{}
	case level > declared:
		if t.up == 0 || level < t.sustained {
			t.sustained = level
		}
		t = timer{up: t.up + 1, sustained: t.sustained}
		if t.up >= 2 {
			e.declared[id], t = t.sustained, timer{}
			return true
		}
	default:
		if t.since.IsZero() {
			t.since = at
		}
		t.up, t.peak = 0, max(t.peak, level)
		if at.Sub(t.since) >= 26*time.Hour {
			e.declared[id], t = t.peak, timer{}
			return true
		}
	}
	return false
}

func (e *rough) get(path string, into any) error {
	resp, err := http.Get(e.place.API + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

func (e *rough) commit(ctx context.Context, at time.Time, crossings []string) (string, error) {
	var b bytes.Buffer
	message, record := crossings[0]+"\n", ""
	for id, level := range e.declared {
		record += fmt.Sprintf("%s: %d\n", id, level)
	}
	lines := strings.SplitAfter(record, "\n")
	slices.Sort(lines)
	record = strings.Join(lines, "")
	fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter rough <rough@example.com> %d +0000\ndata %d\n%s\n", e.place.Branch, at.Unix(), len(message), message)
	fmt.Fprintf(&b, "from refs/heads/%s^0\nM 100644 inline checkpoints/%s/record\ndata %d\n%s\n", e.place.Branch, e.place.Site, len(record), record)
	if _, err := git(ctx, e.place.Repository, b.Bytes(), "fast-import", "--quiet"); err != nil {
		return "", err
	}
	id, err := git(ctx, e.place.Repository, nil, "rev-parse", e.place.Branch)
	return strings.TrimSpace(id), err
}
