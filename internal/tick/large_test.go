package tick_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// largest is a site of 50,000 workloads in 100 namespaces, with the sizes that a
// fleet has.
func largest() *world {
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	for i := range 50_000 {
		id := workload.ID{Namespace: fmt.Sprintf("team-%d", i%100), Kind: workload.Deployment, Name: fmt.Sprintf("service-%x-%x", i, i*7919)}
		pods := int32(3 + i%97)
		w.Fleet[id] = workload.Sample{ID: id, Rollout: &workload.Rollout{}, Scale: &workload.Scale{
			Desired: pods, Ready: pods, Driver: workload.DrivenByHPA, Min: 1, Max: 500,
		}}
	}
	return w
}

// scaled gives every workload a scale.
func (w *world) scaled(to func(int32) int32) {
	for id, s := range w.Fleet {
		scale := *s.Scale
		scale.Desired = to(scale.Desired)
		scale.Ready = scale.Desired
		s.Scale = &scale
		w.Fleet[id] = s
	}
}

// However many workloads cross at once, what CodeCommit takes of a message is kept,
// and however many are dropping, one item of DynamoDB holds the head.
func TestTheLargestSite(t *testing.T) {
	t.Parallel()
	tables := dynalite.Start(t)
	if testing.Short() {
		t.Skip("50,000 workloads take half a minute")
	}
	w := largest()
	run := func(dropping bool) (message string) {
		t.Helper()
		report, err := w.Tick()
		must(t, err)
		must(t, report.Err())
		if got := report.Stop.Reason == policy.ReasonMassDrop; got != dropping {
			t.Fatalf("the tick stops lowering because of %q", report.Stop.Reason)
		}
		data, err := latch.Encode(w.head(t))
		must(t, err)
		if t.Logf("%s: the head has %d bytes", w.Now.Format(time.TimeOnly), len(data)); len(data) > 64<<10 {
			t.Errorf("the head has %d bytes", len(data))
		}
		w.Now = w.Now.Add(period)
		if report.Commit == nil {
			return ""
		}
		return report.Commit.Message
	}
	run(false)
	message := run(false)
	if len(message) == 0 || len(message) > 256<<10 {
		t.Errorf("the message of 50,000 crossings has %d bytes", len(message))
	}
	if n := len(w.entries(t)); n != 50_000 {
		t.Errorf("git holds %d entries", n)
	}
	w.scaled(func(pods int32) int32 { return pods / 3 })
	for range 2 {
		run(true)
	}
	store := dynamo.Open(dynamo.Options{Table: tables.Table(t, "pk", "sk"), Client: tables.Client()})
	lease, err := store.Acquire(t.Context(), site, "owner", w.Now, w.Now.Add(period))
	must(t, err)
	if _, err := store.Save(t.Context(), lease, w.head(t), nil, nil); err != nil {
		t.Errorf("DynamoDB refuses the head: %v", err)
	}
	w.scaled(func(pods int32) int32 { return pods*3 + 20 })
	run(false)
}

// narrow is a repository that takes a commit of a few files at most.
type narrow struct {
	repo.Repository
	most int
}

func (n narrow) Commit(ctx context.Context, c repo.Commit) (string, error) {
	if len(c.Files) > n.most {
		return "", &repo.RefusedError{Why: "it changes more files than it takes in one commit", TooLarge: true}
	}
	return n.Repository.Commit(ctx, c)
}

// What a host does not take as one commit lands as several, a tick each, and at
// last is refused where a single namespace is too much.
func TestACommitThatIsTooLargeLandsInParts(t *testing.T) {
	t.Parallel()
	for most, want := range map[int][]int{99: {0, 5, 5, 5}, 7: {0, 3, 5, 5}, 3: {0, 1, 2, 3}, 1: {0, 0, 0, 0}} {
		w := newWorld(map[string]string{"gitlatch.yaml": latching})
		for i := range 5 {
			id := workload.ID{Namespace: fmt.Sprintf("team-%d", i), Kind: workload.Deployment, Name: "web"}
			w.Fleet[id] = workload.Sample{ID: id, Rollout: &workload.Rollout{}, Scale: &workload.Scale{Desired: 20, Ready: 20, Driver: workload.DrivenByHPA}}
		}
		for run, entries := range want {
			report, err := w.Tick(func(t *tick.Tick) { t.Repository = narrow{t.Repository, most} })
			must(t, err)
			if refused := report.Err() != nil; refused != (most == 1 && run > 0) {
				t.Errorf("%d files, tick %d: %v", most, run, report.Err())
			}
			if n := len(w.entries(t)); n != entries {
				t.Errorf("%d files, tick %d: git holds %d entries, want %d", most, run, n, entries)
			}
			w.Now = w.Now.Add(period)
		}
	}
}
