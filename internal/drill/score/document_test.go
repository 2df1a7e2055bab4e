package score_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/score"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/publish"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestADocumentHoldsWhatIsAsked(t *testing.T) {
	t.Parallel()
	l := looked()
	small := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "small"}
	batch := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "batch"}
	l.Tick.Samples = append(l.Tick.Samples, workload.Sample{ID: small, Scale: &workload.Scale{Desired: 13, Ready: 13}, Rollout: &workload.Rollout{}})
	l.Doctor.Workloads = append(l.Doctor.Workloads, doctor.Workload{ID: small, Live: new(int32(13)), Level: 13, Start: at(3)})
	from, to := checkpoint.Entry{Replicas: 100}, checkpoint.Entry{Replicas: 200}
	l.Tick.Commit = &publish.Commit{ID: "def", Message: "latch(prod): shop/web 100 -> 200\n\nbody", Changes: []policy.Decision{{ID: web, From: from, To: to, Text: "a drill"}}}
	l.Tick.Decisions = append(l.Tick.Decisions,
		policy.Decision{ID: batch, Verdict: policy.Skip, Reason: policy.ReasonUndriven, Text: "it has no autoscaler"},
		policy.Decision{ID: small, Verdict: policy.Pending, Reason: policy.ReasonBudget, Text: "nothing is left", To: to})
	l.Tick.Problems, l.Doctor.Unread = []error{errors.New("a problem")}, []workload.Unread{{Part: "applications", Why: "forbidden"}}
	decides(&l, policy.Frozen, policy.ReasonUnready, "only 180 of 187")
	l.Tick.Latches = latch.LatchesOf(map[workload.ID]latch.Latch{web: {ID: web, Freeze: latch.Freeze{Reason: "unready", Since: now.Add(-time.Hour)}}})

	d := score.Document(l)
	if d.Workloads[0].Name != "small" || d.Fleet.Need != 200 || d.Fleet.Covered != 190 || *d.Fleet.Coverage != 0.95 || d.Fleet.Low != 1 || d.Fleet.Full != 1 || d.Fleet.Ready != 193 {
		t.Errorf("fleet %+v", d.Fleet)
	}
	if d.Passed || len(d.Unread) != 1 || len(d.Problems) != 1 {
		t.Errorf("passed %v, unread %q, problems %q", d.Passed, d.Unread, d.Problems)
	}
	if l.Doctor.Unread = nil; !score.Document(l).Passed {
		t.Error("95 % of what was all read does not pass at 0.95")
	}
	one := d.Workloads[1]
	if f := one.Frozen; f == nil || f.Reason != "unready" || !f.Since.Equal(now.Add(-time.Hour)) || d.Fleet.Frozen != 1 {
		t.Errorf("frozen %+v", f)
	}
	if c := one.Checkpoint; c == nil || c.AgeSeconds != 48*3600 || c.Commit != "abc" {
		t.Errorf("checkpoint %+v", c)
	}
	if one.With.Seconds != 30 || one.Without.Rounds != 6 || one.Without.From != 3 || !d.Workloads[0].With.Never || d.Fleet.StuckWith != 1 || d.Fleet.With != 30 {
		t.Errorf("with %+v, without %+v, fleet %+v", one.With, one.Without, d.Fleet)
	}
	if f := d.Flush; f.Subject != "latch(prod): shop/web 100 -> 200" || len(f.Levels) != 1 || *f.Levels[0].From != 100 || len(f.Withheld) != 1 || f.Withheld[0].Reason != "budget" {
		t.Errorf("flush %+v", f)
	}
	if want := []drill.LeftOut{{Reason: "undriven", Text: "it has no autoscaler", Workloads: 1}}; fmt.Sprint(d.LeftOut) != fmt.Sprint(want) {
		t.Errorf("left out %+v", d.LeftOut)
	}
}

// A rollout has the returned version, with or without a policy that applies it: the
// version in the entry, or the manifests' version without an entry.
func TestARolloutSaysWhichVersionReturns(t *testing.T) {
	t.Parallel()
	v1, v2 := checkpoint.Template{Hash: "1", Images: "app=web:v1"}, checkpoint.Template{Hash: "2", Images: "app=web:v2"}
	record := func(milestone int32, phase checkpoint.Phase, side checkpoint.Side) checkpoint.Rollout {
		return checkpoint.Rollout{Milestone: milestone, Phase: phase, From: v1, To: v2, Returns: side, ImagesOnly: true}
	}
	for name, c := range map[string]struct {
		declared         checkpoint.Rollout
		itself           bool
		returns, version string
	}{
		"lost at 10 % of a bad v2":  {record(10, checkpoint.PhaseHalted, checkpoint.SideFrom), true, "from", "app=web:v1"},
		"with no policy for it":     {record(10, checkpoint.PhaseHalted, checkpoint.SideFrom), false, "from", "app=web:v1"},
		"lost at 90 % of a good v2": {record(90, checkpoint.PhaseProgressing, checkpoint.SideTo), true, "to", "app=web:v2"},
		"failed at 75 %":            {record(0, checkpoint.PhaseFailed, checkpoint.SideFrom), true, "from", "app=web:v1"},
		"too young for a record":    {checkpoint.Rollout{}, true, "manifests", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := looked()
			l.Tick.Samples[0].Rollout = &workload.Rollout{InFlight: true, Desired: 187, Templates: []workload.Template{{Hash: "2", Available: 18}, {Hash: "1"}}}
			w := &l.Doctor.Workloads[0]
			w.Rollout, w.Returns = c.declared, "the template of a side"
			if c.itself {
				w.Returned = doctor.Shows("the policy replaces the images")
			}
			r := score.Document(l).Workloads[0].Rollout
			if r == nil || r.Returns != c.returns || r.Version != c.version || r.ByItself != c.itself || *r.Available != 18 || r.Target != "2" {
				t.Fatalf("%+v", r)
			}
			if declared := c.declared != (checkpoint.Rollout{}); declared != (r.Milestone != nil) || declared && *r.Milestone != c.declared.Milestone {
				t.Errorf("milestone %v", r.Milestone)
			}
		})
	}
	if r := score.Document(looked()).Workloads[0].Rollout; r != nil {
		t.Errorf("none is in flight: %+v", r)
	}
}

// A reader of a document need not distinguish an empty list from a missing one.
func TestNoListIsNull(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]score.Look{"of a site with nothing": {Tick: tick.Report{Site: "prod", Set: policy.DefaultSet()}}, "of one workload": looked()} {
		d := score.Document(l)
		text, err := json.Marshal(d.Since(&drill.Document{}))
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]any
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"workloads", "leftOut", "findings", "links", "unread", "problems", "notices", "flush.levels", "flush.proposed", "flush.withheld", "last.changes", "model.constants"} {
			at := any(tree)
			for _, key := range strings.Split(list, ".") {
				at = at.(map[string]any)[key]
			}
			if _, ok := at.([]any); !ok {
				t.Errorf("%s: %s is %v", name, list, at)
			}
		}
		for _, w := range d.Workloads {
			if w.Causes == nil {
				t.Errorf("%s: causes are null", name)
			}
		}
	}
}

// The workload with the most missing pods is first, even if another has a lower coverage.
func TestMostMissingPodsAreFirst(t *testing.T) {
	t.Parallel()
	l := looked() // web is covered
	for _, w := range []struct {
		name        string
		live, start int32
	}{{"low", 10, 1}, {"large", 1000, 600}, {"half", 20, 11}} {
		id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: w.name}
		l.Tick.Samples = append(l.Tick.Samples, workload.Sample{ID: id, Scale: &workload.Scale{Desired: w.live, Ready: w.live}, Rollout: &workload.Rollout{}})
		l.Tick.Decisions = append(l.Tick.Decisions, policy.Decision{ID: id, Verdict: policy.Quiet, Policy: "default"})
		l.Doctor.Workloads = append(l.Doctor.Workloads, doctor.Workload{ID: id, Live: new(int32(w.live)), Level: w.start, Start: at(w.start)})
	}
	var got []string
	for _, w := range score.Document(l).Workloads {
		got = append(got, w.Name)
	}
	if want := "large low half web"; strings.Join(got, " ") != want {
		t.Errorf("the order is %q, want %q", got, want)
	}
}
