package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/archive"
	"github.com/gitlatch/gitlatch/internal/drill/run"
	"github.com/gitlatch/gitlatch/internal/latch"
	latchmem "github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/levels"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// parts are the in-memory parts of a drill. The site has one workload with 87 pods, which
// Flux applies after the levels.
type parts struct {
	now     time.Time
	cluster string // its UID
	store   latch.Store
	*repomem.Repository
	told    []alert.Notice
	deaf    bool
	lacks   bool              // the cluster does not have the levels
	objects map[string]string // in the cluster, by kind
}

func (p *parts) Sample(context.Context, workload.Kinds) (workload.Fleet, error) {
	return workload.Fleet{Site: "prod", Cluster: p.cluster, At: p.now, Samples: []workload.Sample{{
		ID:      workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"},
		Scale:   &workload.Scale{Desired: 87, Ready: 87, Driver: workload.DrivenByHPA, Max: 500},
		Rollout: &workload.Rollout{},
	}}}, nil
}

func (p *parts) List(_ context.Context, _, _, kind string) (all []json.RawMessage, err error) {
	text, ok := p.objects[kind]
	switch {
	case ok:
	case kind == "Kustomization":
		text = levels.Kustomizations
	case kind == "Deployment":
		text = fmt.Sprintf("metadata: %s\nspec: {replicas: 87, template: {spec: {containers: [{name: main}]}}}\n", levels.Metadata("shop", "web"))
	default:
		return nil, nil
	}
	for one := range strings.SplitSeq(text, "\n---\n") {
		data, err := yaml.YAMLToJSON([]byte(one))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}
func (p *parts) Get(context.Context, string) (json.RawMessage, error) {
	return nil, errors.New("not found")
}

// ReadLevels returns levels that a tool has not applied yet. It returns none if the cluster
// lacks them.
func (p *parts) ReadLevels(context.Context) admission.Levels {
	if p.lacks {
		return levels.Levels("prod", nil)
	}
	return levels.Levels("prod", map[string]map[string]string{"shop": {"deployment.web": "100"}})
}

func (p *parts) Send(_ context.Context, n alert.Notice) error {
	if p.deaf {
		return errors.New("topic does not exist")
	}
	p.told = append(p.told, n)
	return nil
}

func newParts(t *testing.T) (*parts, *run.Run) {
	t.Helper()
	p := &parts{cluster: "uid", now: time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC), store: latchmem.New()}
	p.Repository = repomem.New(map[string]string{
		"gitlatch.yaml": latching, admission.Path: string(levels.Policy()),
	})
	c, err := config.Default(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.Site = "prod"
	r := &run.Run{
		Tick:    local.Tick(c, local.Parts{Sampler: p, Store: p.store, Repository: p, Clock: func() time.Time { return p.now }, Owner: "drill"}),
		Objects: p, Branch: "main", Policy: "gitlatch.yaml", MinCoverage: 0.95, LeaseWithin: time.Minute, Alerts: p,
	}
	return p, r
}

func TestADrillTells(t *testing.T) {
	t.Parallel()
	p, r := newParts(t)
	d, err := r.Drill(t.Context())
	if err != nil || len(d.Problems) > 0 {
		t.Fatalf("%v, problems %q", err, d.Problems)
	}
	if len(p.told) != 1 || p.told[0].State != "passed" || p.told[0].Severity != alert.Info || !strings.Contains(p.told[0].Subject, "100 %") {
		t.Errorf("told %+v", p.told)
	}
	p.lacks = true
	p.now, p.deaf = p.now.Add(time.Minute), true
	d, err = r.Drill(t.Context())
	if err != nil {
		t.Error(err)
	}
	if len(d.Problems) != 1 || !strings.Contains(d.Problems[0], "send message drill: topic does not exist") || d.Passed {
		t.Errorf("problems %q, passed %v", d.Problems, d.Passed)
	}
}

func TestADryDrillDoesNothing(t *testing.T) {
	t.Parallel()
	p, r := newParts(t)
	r.Tick.DryRun = true
	d, err := r.Drill(t.Context())
	if err != nil || len(p.told) > 0 || len(p.Repository.Log()) != 1 || len(d.Flush.Levels) != 1 {
		t.Errorf("%v, told %v, flush %+v", err, p.told, d.Flush)
	}
}

// A drill waits for a tick that has the lease, up to its time limit.
func TestADrillWaitsForTheLease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held time.Duration
		ends bool
	}{"a tick that ends": {30 * time.Second, true}, "one that does not": {time.Hour, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, r := newParts(t)
			if _, err := p.store.Acquire(t.Context(), "prod", "a tick", p.now, p.now.Add(c.held)); err != nil {
				t.Fatal(err)
			}
			start := p.now
			r.Tick.Wait = func(_ context.Context, d time.Duration) { p.now = p.now.Add(d) }
			d, err := r.Drill(t.Context())
			if c.ends != (err == nil) || !c.ends && !strings.Contains(err.Error(), "Run the drill again") {
				t.Fatalf("error %v", err)
			}
			if waited := p.now.Sub(start); waited < min(c.held, r.LeaseWithin) || waited > time.Minute+10*time.Second {
				t.Errorf("waited %s", waited)
			}
			if c.ends && *d.Fleet.Coverage != 1 {
				t.Errorf("%+v", d.Fleet)
			}
		})
	}
}

// A change that waits for a merge is not scored.
func TestADrillByPullRequestScoresWhatIsMerged(t *testing.T) {
	t.Parallel()
	p, r := newParts(t)
	r.Tick.Proposals, r.Tick.Propose = p.Repository, true
	for range 2 { // the second proposes nothing new, and still reports the proposal
		d, err := r.Drill(t.Context())
		if err != nil || len(d.Workloads) != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
		w := d.Workloads[0]
		if d.Passed || w.Declared != nil || *w.Proposed != 100 || w.Start.AtLeast != 1 || !hasCause(w, drill.CauseProposed) {
			t.Errorf("%+v", w)
		}
		p.now = p.now.Add(time.Minute)
	}
}

func hasCause(w drill.Workload, name string) bool {
	for _, c := range w.Causes {
		if c.Name == name {
			return true
		}
	}
	return false
}

// forgetful is a repository without a history.
type forgetful struct{ repo.Repository }

func (forgetful) History(context.Context, string, string, int) ([]repo.LogEntry, bool, error) {
	return nil, false, errors.New("the server hung up")
}

func TestADrillScoresWithoutAges(t *testing.T) {
	t.Parallel()
	p, r := newParts(t)
	r.Tick.Repository = forgetful{p.Repository}
	d, err := r.Drill(t.Context())
	if err != nil || !d.Passed || d.Workloads[0].Checkpoint != nil || len(d.Problems) != 1 || !strings.Contains(d.Problems[0], "the age of checkpoints: the server hung up") {
		t.Errorf("%+v, %v", d, err)
	}
}

// A drill sends an alert when its answer changes to "does not fit", and not again.
func TestADrillTellsThatARebuildNoLongerFits(t *testing.T) {
	t.Parallel()
	p, r := newParts(t)
	r.Archive = archive.Folder(t.TempDir())
	pool := "{kind: NodePool, metadata: {name: default}, spec: {limits: {pods: %d}}}"
	node := "{kind: Node, metadata: {name: n1, labels: {karpenter.sh/nodepool: default}}, status: {capacity: {cpu: 4, pods: 10}, allocatable: {cpu: 4, pods: 10}}}"
	for _, c := range []struct {
		pods   int // the limit of the NodePool; web has a level of 100
		dry    bool
		answer room.Answer
		told   []string
	}{
		{50, true, room.DoesNotFit, nil},
		{50, false, room.DoesNotFit, []string{"does-not-fit", "drill"}},
		{50, false, room.DoesNotFit, []string{"drill"}},
		{200, false, room.LikelyFits, []string{"drill"}},
		{99, false, room.DoesNotFit, []string{"does-not-fit", "drill"}},
	} {
		p.objects, p.told, p.now = map[string]string{"NodePool": fmt.Sprintf(pool, c.pods), "Node": node}, nil, p.now.Add(time.Minute)
		r.Tick.DryRun = c.dry
		d, err := r.Drill(t.Context())
		if err != nil || len(d.Problems) > 0 {
			t.Fatalf("%v, problems %q", err, d.Problems)
		}
		if c.dry {
			continue // git has no level yet
		}
		told := lists.Map(p.told, func(n alert.Notice) string { return n.Kind })
		if d.Fit.Answer != c.answer || d.Passed != (c.answer == room.LikelyFits) || !slices.Equal(told, c.told) {
			t.Errorf("%d pods: %+v, passed %v, told %q", c.pods, d.Fit, d.Passed, told)
		}
		limit := fmt.Sprintf("NodePool default: a rebuild needs 100 pods, which exceeds the limit of %d ", c.pods)
		if text := p.told[0].Text; len(told) == 2 && !strings.HasPrefix(text, "[warning] gitlatch prod: a rebuild does not fit, "+limit) {
			t.Errorf("told %s", text)
		}
		if headline := d.Headline(); !d.Passed && !strings.Contains(headline, "but its pods do not fit: "+limit) {
			t.Errorf("headline %s", headline)
		}
	}
}

const latching = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"
