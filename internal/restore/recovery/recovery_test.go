package recovery_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore/recovery"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// A world is the input of a case, with one workload after the other.
type world struct{ recovery.Case }

// with adds a workload with a level of 50. change may change its sample.
func (w *world) with(name string, change func(*workload.Sample)) *world {
	id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
	w.Tree.Records["shop"].Entries[id] = checkpoint.Entry{Replicas: 50}
	s := workload.Sample{ID: id, Scale: &workload.Scale{Desired: 50, Ready: 50, Driver: workload.DrivenByHPA, Min: 2, Max: 200, Load: 0.1}}
	change(&s)
	if s.ID.Name != "" {
		w.Fleet.Samples = append(w.Fleet.Samples, s)
	}
	return w
}

// in sets the entry of a workload in git.
func (w *world) in(name string, e checkpoint.Entry) *world {
	w.Tree.Records["shop"].Entries[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}] = e
	return w
}

func rebuilt() *world {
	w := &world{recovery.Case{Cluster: "blue", Usual: map[workload.ID]float64{}}}
	w.Tree.Records = map[string]checkpoint.Record{"shop": {Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{}}}
	w.Fleet.Cluster, w.Fleet.At = "green", noon
	return w
}

func plain(*workload.Sample)    {}
func absent(s *workload.Sample) { *s = workload.Sample{} }
func unread(s *workload.Sample) {
	s.Scale, s.Unknown = nil, "horizontalpodautoscalers could not be listed"
}
func alone(s *workload.Sample) { s.Scale.Driver, s.Scale.Load, s.Scale.Min, s.Scale.Max = "", 0, 0, 0 }
func braked(s *workload.Sample) {
	s.Scale.UpOnly, s.Scale.Brake = true, workload.Brake{On: "HPA " + s.ID.Name, Until: noon.Add(4 * time.Hour)}
}
func keda(s *workload.Sample)  { s.Scale.Driver = workload.DrivenByKEDA }
func small(s *workload.Sample) { s.Scale.Desired, s.Scale.Ready = 2, 2 }

// loaded returns a change that sets the highest ratio of a metric to its target.
func loaded(load float64) func(*workload.Sample) {
	return func(s *workload.Sample) { s.Scale.Load = load }
}

func both(changes ...func(*workload.Sample)) func(*workload.Sample) {
	return func(s *workload.Sample) {
		for _, change := range changes {
			change(s)
		}
	}
}

// Each case lists the state of each step, in order, and a part of the texts.
func TestTheStepsOfARecovery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of     *world
		states string // the first letters of the states; "-" if no recovery runs
		text   string
		next   string
	}{
		"nothing is there":             {rebuilt().with("web", absent), "pu?pp", "web (does not exist)", "as soon as the workloads"},
		"it came up small":             {rebuilt().with("web", small), "ppppp", "0 of 1 workload (0 %) is ready at its level. Not yet: shop/web (2 of 50 ready)", "as soon as the workloads"},
		"it came up at its levels":     {rebuilt().with("web", plain), "dpppp", "0 of 1 workload (0 %) has scale-down disabled. Not yet: shop/web", "run gitlatch restore --wait"},
		"half of it is ready":          {rebuilt().with("web", braked).with("api", both(braked, func(s *workload.Sample) { s.Scale.Ready = 20 })), "pdppp", "1 of 2 workloads (50 %) are ready at their level. Not yet: shop/api (20 of 50 ready)", ""},
		"it is braked":                 {rebuilt().with("web", braked), "ddppp", "shop/web (10 %)", "move the traffic"},
		"one of two is braked":         {rebuilt().with("web", braked).with("api", plain), "dpppp", "1 of 2 workloads (50 %) have scale-down disabled. Not yet: shop/api", "run gitlatch restore --wait"},
		"it never scales down":         {rebuilt().with("web", func(s *workload.Sample) { s.Scale.UpOnly = true }), "ddppp", "no restore has set a brake yet", "move the traffic"},
		"half of the target":           {rebuilt().with("web", both(braked, loaded(0.5))), "dddpp", "brakes in the cluster: 1. The first brake ends at 2026-03-02T16:00:00Z", "release"},
		"just below half":              {rebuilt().with("web", both(braked, loaded(0.49))), "ddppp", "shop/web (49 %)", "move the traffic"},
		"an unknown metric":            {rebuilt().with("web", both(braked, loaded(0))), "ddupp", "it is unknown whether 1 workload has a metric at 50 % or more of its target. Unknown: shop/web", "move the traffic"},
		"one low, one unknown":         {rebuilt().with("web", both(braked, loaded(0))).with("api", braked), "ddppp", "it is unknown how many of 2 workloads have a metric at 50 % or more of its target. Not yet: shop/api (10 %). Unknown: shop/web", ""},
		"it is released":               {rebuilt().with("web", loaded(0.9)), "ddddp", "the live cluster is green, but the site's cluster is blue", "run gitlatch adopt"},
		"released long ago":            {rebuilt().with("web", both(small, loaded(0.9))), "pdddp", "Not yet: shop/web (2 of 50 ready)", "if you released the brakes"},
		"released without a metric":    {rebuilt().with("web", loaded(0)), "dpupp", "", "run gitlatch restore --wait"},
		"an unreadable end of a brake": {rebuilt().with("web", both(braked, func(s *workload.Sample) { s.Scale.Brake.Until = time.Time{} })), "ddppp", "The first brake ends at an unknown time", ""},
		"no autoscaler":                {rebuilt().with("web", alone), "ddupp", "no workload with a level has an active autoscaler", "move the traffic"},
		"a minimum at the level":       {rebuilt().with("web", both(braked, func(s *workload.Sample) { s.Scale.Min = 50 })), "ddupp", "no workload can show it", ""},
		"at its maximum":               {rebuilt().with("web", both(braked, func(s *workload.Sample) { s.Scale.Desired, s.Scale.Ready, s.Scale.Max = 40, 40, 40 })), "ddppp", "1 of 1 workload (100 %) is ready at its level", ""},
		"suspended":                    {rebuilt().with("web", braked).with("mail", func(s *workload.Sample) { s.Scale.Desired = 0 }), "ddppp", "1 of 1 workload (100 %) is ready at its level. A restore skips shop/mail", ""},
		"scales are unknown":           {rebuilt().with("web", unread), "uuupp", "it is unknown whether 1 workload is ready at its level. Unknown: shop/web", "as soon as the workloads"},
		"one is missing":               {rebuilt().with("web", both(braked, loaded(1))).with("old", absent), "pudpp", "shop/old (does not exist)", ""},
		"KEDA scales it":               {rebuilt().with("web", both(braked, loaded(1), keda)), "dddpp", "", "release"},
		"KEDA ignores the brake": {rebuilt().with("web", both(braked, loaded(1), keda, func(s *workload.Sample) { s.Scale.UpOnly, s.Scale.Brake.Ignored = false, "keda-hpa-web" })),
			"dpdpp", "Not yet: shop/web (KEDA does not apply the brake of HPA web to its HPA keda-hpa-web)", "run gitlatch restore --wait"},
		"KEDA is paused":                     {rebuilt().with("web", both(keda, loaded(0), func(s *workload.Sample) { s.Scale.Paused = true })).with("api", both(braked, loaded(1))), "dddpp", "1 of 1 workload (100 %) has scale-down disabled", "release"},
		"KEDA is paused at 3 replicas":       {rebuilt().with("web", both(keda, small, func(s *workload.Sample) { s.Scale.Paused, s.Scale.Fixed = true, "paused at 3 replicas" })).with("api", both(braked, loaded(1))), "dddpp", "1 of 1 workload (100 %) is ready at its level. A restore skips shop/web", "release"},
		"its pods are busy with their start": {rebuilt().with("web", loaded(0.9)), "ddddp", "no brake is set, and the traffic seems to be back", "run gitlatch adopt if you released the brakes; otherwise run gitlatch restore --wait --yes"},
		"at the maximum in git":              {rebuilt().with("web", both(braked, loaded(1), func(s *workload.Sample) { s.Scale.Desired, s.Scale.Ready = 40, 40 })).in("web", checkpoint.Entry{Replicas: 50, Max: 40}), "dddpp", "1 of 1 workload (100 %) is ready at its level", "release"},
		"git has no level":                   {rebuilt(), "udupp", "no workload can show it", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, recovery.Of(c.of.Case), c.states, c.text, c.next)
		})
	}
}

// check compares the states, as first letters. "?" matches each state.
func check(t *testing.T, r *recovery.Recovery, states, text, next string) {
	t.Helper()
	if r == nil {
		t.Fatal("no recovery")
	}
	var got strings.Builder
	for i, s := range r.Steps {
		letter := string(s.State[0])
		if i < len(states) && states[i] == '?' {
			letter = "?"
		}
		got.WriteString(letter)
	}
	if got.String() != states {
		t.Errorf("states %s, want %s", &got, states)
	}
	if all := fmt.Sprintf("%+v", r.Steps); !strings.Contains(all, text) {
		t.Errorf("no %q in %s", text, all)
	}
	if !strings.Contains(r.Next, next) {
		t.Errorf("next %q, want %q in it", r.Next, next)
	}
}

// The demand on a workload is back if it needs half of the level at the usual work.
func TestDemandShowsThatTheTrafficIsBack(t *testing.T) {
	t.Parallel()
	for demand, want := range map[float64]string{249: "ddppp", 250: "dddpp"} {
		w := rebuilt().with("web", both(braked, func(s *workload.Sample) { s.Scale.Demand = &demand }))
		w.Usual[w.Fleet.Samples[0].ID] = 0.1 // pods for a request each second
		check(t, recovery.Of(w.Case), want, "", "")
	}
}

// A recovery runs if the cluster changed or if there are brakes. A part that could not be
// read may have either.
func TestARecoveryRuns(t *testing.T) {
	t.Parallel()
	own := func(w *world) *world {
		w.Cluster = "green"
		return w
	}
	if r := recovery.Of(own(rebuilt().with("web", plain)).Case); r != nil {
		t.Errorf("the site's cluster without a brake: %+v", r)
	}
	check(t, recovery.Of(own(rebuilt().with("web", both(braked, loaded(1)))).Case), "dddpd", "the live cluster is the site's cluster", "release")

	w := own(rebuilt().with("web", plain))
	w.Fleet.Unread = []workload.Unread{{Part: "horizontalpodautoscalers", Why: "forbidden"}}
	if r := recovery.Of(w.Case); r == nil || r.Unknown != "could not read horizontalpodautoscalers: forbidden" || r.Steps != nil {
		t.Errorf("the autoscalers could not be read: %+v", r)
	}
	w = rebuilt().with("web", both(braked, loaded(1))).with("api", absent)
	w.Fleet.Cluster = ""
	w.Fleet.Unread = []workload.Unread{{Part: "namespace kube-system"}}
	check(t, recovery.Of(w.Case), "uuupu", "Unknown: shop/api", "as soon as the workloads")

	w = rebuilt().with("web", loaded(1))
	w.Fleet.Unread = []workload.Unread{{Part: "scaledobjects"}}
	check(t, recovery.Of(w.Case), "dddup", "could not read scaledobjects", "release")

	w = rebuilt().with("web", both(braked, loaded(1)))
	w.Tree.Broken = map[string]error{"pay": errors.New("line 3")}
	check(t, recovery.Of(w.Case), "uuupp", "the checkpoint file of namespace pay", "")
}
