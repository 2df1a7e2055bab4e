package tick_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/diff"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Some levels are only reported, and the budget of six commits a day is soon used up.
const mixed = `apiVersion: gitlatch.dev/v1alpha1
kind: Policy
mode: latch
policies:
- name: reported
  match: {namespaces: [pay]}
  scale: report
- {name: default, match: {}, hold: {up: 2, down: 1h}}
commitsPerDay: 6
`

// A tick, a diff and a backtest of the same site show the decisions of policy.Round.
func TestTickDiffAndBacktestShowTheDecisionsOfRound(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": mixed})
	w.Guards.RetireAfter = time.Hour
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"shop/web", "shop/api", "shop/jobs", "pay/ledger", "pay/mail"}
	for _, name := range names {
		w.scale(name, 20)
	}
	reasons := map[policy.Reason]int{}
	var looks []workload.Fleet
	var set policy.Set
	for range 200 {
		w.Now = w.Now.Add(period)
		for _, name := range names {
			switch random.IntN(40) {
			case 0:
				delete(w.Fleet, id(name))
			case 1, 2, 3:
				w.scale(name, 1+random.Int32N(400))
			case 4:
				w.scale(name, 1+random.Int32N(400))
				rolling := w.Fleet[id(name)]
				rolling.Rollout = &workload.Rollout{InFlight: true, Desired: 10, Templates: []workload.Template{{Hash: "v2", Available: 4, Desired: 10}, {Hash: "v1", Available: 6}}}
				w.Fleet[id(name)] = rolling
			}
		}
		before := latch.State{Head: w.head(t), Latches: latch.LatchesOf(w.latches(t))}
		report, err := w.Tick()
		if err != nil {
			t.Fatal(err)
		}
		set = report.Set
		fleet := workload.Fleet{Site: site, Cluster: report.Cluster, At: report.At, Samples: report.Samples, Unread: report.Unread, Kinds: report.Kinds}
		looks = append(looks, fleet)
		asked := policy.Site{State: before, Set: set, Fleet: fleet, Period: period}
		want := policy.Round(asked).Decisions
		if !reflect.DeepEqual(report.Decisions, want) {
			t.Fatalf("at %s a tick shows\n%+v\nand Round decides\n%+v", report.At, report.Decisions, want)
		}
		for _, d := range want {
			reasons[d.Reason]++
		}
		compareDiff(t, w, set, fleet)
	}
	for _, reason := range []policy.Reason{policy.ReasonNone, policy.ReasonReport, policy.ReasonBudget, policy.ReasonAbsent, policy.ReasonRollout} {
		if reasons[reason] == 0 {
			t.Errorf("no decision has the reason %q: %v", reason, reasons)
		}
	}
	compareBacktest(t, set, looks)
}

// compareDiff compares the rows of diff with the decisions of Round for the same
// entries, without timers.
func compareDiff(t *testing.T, w *world, set policy.Set, fleet workload.Fleet) {
	t.Helper()
	tree, err := w.Tree()
	if err != nil {
		t.Fatal(err)
	}
	latches := map[workload.ID]latch.Latch{}
	for id, e := range tree.Entries() {
		latches[id] = latch.Latch{ID: id, Declared: e}
	}
	head := latch.Head{Cluster: latch.Cluster{UID: tree.Site.Cluster}}
	want := policy.Round(policy.Site{
		State: latch.State{Head: head, Latches: latch.LatchesOf(latches)}, Set: set, Fleet: fleet, Period: set.Guards.Period, Lasting: true,
	}).Decisions
	rows := diff.Compare(diff.Case{Site: site, Set: set, Fleet: fleet, Tree: tree}).Rows
	if len(rows) != len(want) {
		t.Fatalf("%d rows of diff, and %d decisions", len(rows), len(want))
	}
	for i, d := range want {
		row := rows[i]
		if row.ID != d.ID || row.Reason != d.Reason || row.To != d.To || row.Policy != d.Policy || row.Capped != d.Capped {
			t.Errorf("diff shows %+v, and Round decides %+v", row, d)
		}
		settled := row.State == diff.InSync || row.State == diff.Frozen || row.State == diff.Unlatched
		if settled && row.Text != d.Text {
			t.Errorf("%s: diff shows %q, and Round decides %q", d.ID, row.Text, d.Text)
		}
	}
}

// A level is the level of a workload in git from an instant on, in pods.
type level struct {
	at       time.Time
	id       workload.ID
	replicas int32
}

// compareBacktest compares the levels of a backtest with the levels of a loop over
// Round.
func compareBacktest(t *testing.T, set policy.Set, looks []workload.Fleet) {
	t.Helper()
	set.Guards.Period = period
	set.Rules = nil             // a backtest needs no rule
	set.Guards.DropLeast = 1000 // to a backtest, an absent workload is unknown, and not part of a drop
	past := &backtest.Past{}
	state := latch.State{Latches: latch.LatchesOf(nil)}
	declared := map[workload.ID]int32{}
	last := map[workload.ID]time.Time{}
	var want []level
	for _, fleet := range looks {
		fleet.Samples = slices.Clone(fleet.Samples)
		for i, s := range fleet.Samples {
			fleet.Samples[i].Rollout = &workload.Rollout{}
			fleet.Samples[i].Scale = &workload.Scale{Desired: s.Scale.Desired, Ready: s.Scale.Desired, Driver: workload.DrivenByHPA}
			if err := past.Add(s.ID, "test", backtest.Sample{At: fleet.At, Pods: s.Scale.Desired}); err != nil {
				t.Fatal(err)
			}
		}
		decided := policy.Round(policy.Site{State: state, Set: set, Fleet: fleet, Period: period, Last: func(id workload.ID) time.Time { return last[id] }})
		state = decided.State
		state.Head.At = fleet.At
		crosses := slices.DeleteFunc(slices.Clone(decided.Decisions), func(d policy.Decision) bool { return !d.Crosses() })
		if len(crosses) > 0 {
			state = policy.Settled(set.Guards, state, crosses, fleet.At)
		}
		for _, d := range crosses {
			declared[d.ID] = state.Latches.Get(d.ID).Declared.Replicas
			want = append(want, level{fleet.At, d.ID, declared[d.ID]})
		}
		for _, s := range fleet.Samples {
			last[s.ID] = fleet.At
		}
	}
	var got []level
	shown := map[workload.ID]int32{}
	_, err := backtest.Try(t.Context(), past, backtest.Candidate{Name: "site", Set: set}, func(id workload.ID, at time.Time, _, replicas int32, levelled bool) {
		if levelled && shown[id] != replicas {
			shown[id] = replicas
			got = append(got, level{at, id, replicas})
		}
	})
	if err != nil || !slices.Equal(got, want) || len(want) < 15 {
		t.Errorf("a backtest shows the levels\n%v\nand Round decides\n%v", got, want)
	}
}
