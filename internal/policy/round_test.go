package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// rolls is a workload at its level, with a rollout whose entry is at 10 % and whose pods
// are at 30 %. The next milestone waits for another commit.
func rolls(id workload.ID) (latch.Latch, workload.Sample) {
	entry := checkpoint.Entry{Replicas: 100, Rollout: checkpoint.Rollout{
		Milestone: 10,
		Phase:     checkpoint.PhaseProgressing,
		Returns:   checkpoint.SideFrom,
		From:      checkpoint.Template{Hash: "v1"},
		To:        checkpoint.Template{Hash: "v2"},
	}}
	rollout := workload.Rollout{InFlight: true, Desired: 100, Templates: []workload.Template{
		{Hash: "v2", Desired: 100, Available: 30},
		{Hash: "v1", Desired: 70, Available: 70},
	}}
	scale := workload.Scale{Desired: 90, Ready: 90, Driver: workload.DrivenByHPA}
	return latch.Latch{ID: id, Declared: entry}, workload.Sample{ID: id, Scale: &scale, Rollout: &rollout}
}

// raised is a workload with an urgent raise that is due now, from 10 to 200.
func raised(id workload.ID, from int32) (latch.Latch, workload.Sample) {
	l := latch.Latch{ID: id, Declared: checkpoint.Entry{Replicas: from}, Up: latch.Up{Levels: []int32{200}}}
	scale := workload.Scale{Desired: 200, Ready: 200, Driver: workload.DrivenByHPA}
	return l, workload.Sample{ID: id, Scale: &scale, Rollout: &workload.Rollout{}}
}

// Each limit ignores the decisions that an earlier limit blocked.
func TestLimitsApplyInTheirOrder(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	roll := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "roll"}
	const rides, ordinary = true, int32(170) // 200 over 170 is not urgent
	type site struct {
		observe bool
		spent   bool
		rides   bool
		web     int32 // the entry of a workload with a raise; 0 without one
	}
	for _, c := range []struct {
		name      string
		site      site
		web, roll policy.Reason
	}{
		{"a site that observes commits nothing", site{observe: true, spent: true, rides: rides, web: ordinary}, policy.ReasonObserve, policy.ReasonObserve},
		{"a milestone waits for a commit", site{rides: rides}, "", policy.ReasonRides},
		{"a milestone goes with a raise", site{rides: rides, web: 10}, policy.ReasonNone, policy.ReasonNone},
		{"an urgent raise pays for another", site{spent: true, rides: rides, web: 10}, policy.ReasonNone, policy.ReasonNone},
		{"a milestone waits for the budget with its raise", site{spent: true, rides: rides, web: ordinary}, policy.ReasonBudget, policy.ReasonBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			set := policy.DefaultSet()
			set.Latch = !c.site.observe
			latches := map[workload.ID]latch.Latch{}
			fleet := workload.Fleet{Cluster: "blue", At: noon}
			add := func(l latch.Latch, s workload.Sample) {
				latches[l.ID] = l
				fleet.Samples = append(fleet.Samples, s)
			}
			if c.site.rides {
				add(rolls(roll))
			}
			if c.site.web > 0 {
				add(raised(web, c.site.web))
			}
			head := latch.Head{Cluster: latch.Cluster{UID: "blue"}, At: noon.Add(-time.Minute)}
			if c.site.spent {
				head.Budget = latch.Budget{At: noon}
			}
			decided := policy.Round(policy.Site{State: latch.State{Head: head, Latches: latch.LatchesOf(latches)}, Set: set, Fleet: fleet, Period: time.Minute})
			for _, d := range decided.Decisions {
				want := map[workload.ID]policy.Reason{web: c.web, roll: c.roll}[d.ID]
				if d.ID == roll && d.Reading == policy.ReadingScale {
					continue
				}
				if d.Reason != want || d.Crosses() != (want == policy.ReasonNone) {
					t.Errorf("%s: %s with the reason %q, want %q: %s", d.ID, d.Verdict, d.Reason, want, d.Text)
				}
			}
		})
	}
}

// A round stores both the timer of a workload and its scale for the guard against a mass
// drop, also of a workload that it sees for the first time.
func TestARoundStoresTimersAndScales(t *testing.T) {
	t.Parallel()
	set := policy.DefaultSet()
	set.Latch = true
	scale := workload.Scale{Desired: 90, Ready: 90, Driver: workload.DrivenByHPA}
	fleet := workload.Fleet{Cluster: "blue", At: noon, Samples: []workload.Sample{{ID: web, Scale: &scale, Rollout: &workload.Rollout{}}}}
	for name, latches := range map[string]map[workload.ID]latch.Latch{
		"new":   nil,
		"known": {web: {ID: web, Declared: checkpoint.Entry{Replicas: 20}}},
	} {
		loaded := latch.LatchesOf(latches)
		decided := policy.Round(policy.Site{State: latch.State{Latches: loaded}, Set: set, Fleet: fleet, Period: time.Minute})
		l := decided.Latches.Get(web)
		if len(l.Up.Levels) != 1 || len(l.Recent) != 1 {
			t.Errorf("%s: its latch is %+v", name, l)
		}
		before, known := loaded.Lookup(web)
		if known != (latches != nil) || len(before.Up.Levels)+len(before.Recent) > 0 {
			t.Errorf("%s: Round changed the latches that it was given: %+v", name, before)
		}
	}
}

// A round leaves out the workloads that have no valid entry, with a reason for the level and,
// if a rollout is in flight or in git, for the rollout.
func TestARoundLeavesOut(t *testing.T) {
	t.Parallel()
	long := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: strings.Repeat("x", 260)}
	broken := map[string]error{"shop": errors.New("broken")}
	for _, c := range []struct {
		name    string
		id      workload.ID
		change  func(*latch.Latch, *workload.Sample)
		broken  map[string]error
		scale   policy.Reason
		rollout policy.Reason
	}{
		{"nothing", web, func(*latch.Latch, *workload.Sample) {}, nil, policy.ReasonNone, policy.ReasonRides},
		{"a broken file", web, func(*latch.Latch, *workload.Sample) {}, broken, policy.ReasonBroken, policy.ReasonBroken},
		{"a broken file and no rollout", web, func(l *latch.Latch, s *workload.Sample) {
			l.Declared.Rollout = checkpoint.Rollout{}
			s.Rollout = &workload.Rollout{}
		}, broken, policy.ReasonBroken, ""},
		{"opted out", web, func(l *latch.Latch, _ *workload.Sample) { l.OptedOut = true }, nil, policy.ReasonOptedOut, ""},
		{"a long name", long, func(*latch.Latch, *workload.Sample) {}, nil, policy.ReasonName, ""},
	} {
		l, s := rolls(c.id)
		c.change(&l, &s)
		site := policy.Site{
			State:  latch.State{Head: latch.Head{At: noon.Add(-time.Minute)}, Latches: latch.LatchesOf(map[workload.ID]latch.Latch{c.id: l})},
			Set:    policy.DefaultSet(),
			Fleet:  workload.Fleet{At: noon, Samples: []workload.Sample{s}},
			Period: time.Minute,
			Broken: c.broken,
		}
		site.Set.Latch = true
		reasons := map[policy.Reading]policy.Reason{}
		for _, d := range policy.Round(site).Decisions {
			reasons[d.Reading] = d.Reason
		}
		if reasons[policy.ReadingScale] != c.scale || reasons[policy.ReadingRollout] != c.rollout {
			t.Errorf("%s: level %q, rollout %q; want %q and %q", c.name, reasons[policy.ReadingScale], reasons[policy.ReadingRollout], c.scale, c.rollout)
		}
	}
}
