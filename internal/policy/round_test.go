package policy_test

import (
	"errors"
	"fmt"
	"slices"
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

// A round lists the namespaces of the sample, and leaves out a namespace whose entries all
// belong to absent workloads, unless a guard stops it.
func TestARoundListsTheNamespacesInUse(t *testing.T) {
	t.Parallel()
	id := func(namespace, name string) workload.ID {
		return workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: name}
	}
	sampled := func(ids ...workload.ID) (all []workload.Sample) {
		for _, id := range ids {
			all = append(all, workload.Sample{ID: id, Scale: &workload.Scale{Desired: 9, Ready: 9}, Rollout: &workload.Rollout{}})
		}
		return all
	}
	gone := id("gone", "web")
	malformed := func(s *policy.Site) {
		s.Broken = map[string]error{"gone": errors.New("broken")}
		s.Malformed = map[string]bool{"gone": true}
	}
	// absentFor makes two workloads of a namespace absent for the given times.
	absentFor := func(times ...time.Duration) func(*policy.Site) {
		return func(s *policy.Site) {
			s.Head.At = noon.Add(-time.Minute)
			for i, d := range times {
				one := id("gone", fmt.Sprint("web", i))
				l := latch.Latch{ID: one, Declared: checkpoint.Entry{Replicas: 5}, Missing: latch.Stopwatch{Since: noon.Add(-d)}}
				s.Latches = s.Latches.With(map[workload.ID]latch.Latch{gone: {ID: gone}, one: l})
			}
		}
	}
	for _, c := range []struct {
		name string
		make func(*policy.Site)
		want string
	}{
		{"gone", func(*policy.Site) {}, "gone=false shop=true"},
		{"another workload of it is there", func(s *policy.Site) { s.Fleet.Samples = append(sampled(id("gone", "other")), s.Fleet.Samples...) }, "gone=true shop=true"},
		{"its entry is opted out", func(s *policy.Site) {
			s.Latches = s.Latches.With(map[workload.ID]latch.Latch{gone: {ID: gone, OptedOut: true}})
		}, "shop=true"},
		{"it has no entry", func(s *policy.Site) { s.Latches = s.Latches.With(map[workload.ID]latch.Latch{gone: {ID: gone}}) }, "shop=true"},
		{"its entry is paused", func(s *policy.Site) {
			s.Latches = s.Latches.With(map[workload.ID]latch.Latch{gone: {ID: gone, Declared: checkpoint.Entry{Replicas: 5}, PausedUntil: noon.Add(time.Hour)}})
		}, "gone=false shop=true"},
		{"an entry of a kind that is not sampled", func(s *policy.Site) {
			worker := workload.ID{Namespace: "gone", Kind: "worker", Name: "x"}
			s.Latches = s.Latches.With(map[workload.ID]latch.Latch{worker: {ID: worker, Declared: checkpoint.Entry{Replicas: 5}}})
		}, "shop=true"},
		{"its checkpoint file is broken", func(s *policy.Site) { s.Broken = map[string]error{"gone": errors.New("broken")} }, "shop=true"},
		{"many are absent", func(s *policy.Site) {
			other := id("gone", "other")
			s.Latches = s.Latches.With(map[workload.ID]latch.Latch{other: {ID: other, Declared: checkpoint.Entry{Replicas: 5}}})
		}, "shop=true"},
		{"its checkpoint file is malformed", malformed, "gone=false shop=true"},
		{"malformed, in a partial sample", func(s *policy.Site) {
			malformed(s)
			s.Fleet.Unread = []workload.Unread{{Part: "deployments"}}
		}, "gone=false shop=true"},
		{"malformed, with workloads", func(s *policy.Site) {
			malformed(s)
			s.Fleet.Samples = append(sampled(gone), s.Fleet.Samples...)
		}, "gone=false shop=true"},
		{"many are absent for a day", absentFor(24*time.Hour, 24*time.Hour), "gone=false shop=true"},
		{"many are absent, one of them for less", absentFor(24*time.Hour, 24*time.Hour-time.Second), "shop=true"},
		{"a partial sample", func(s *policy.Site) { s.Fleet.Unread = []workload.Unread{{Part: "deployments"}} }, "shop=true"},
		{"another cluster", func(s *policy.Site) { s.Fleet.Cluster = "green" }, "shop=true"},
		{"a mass drop", func(s *policy.Site) { s.Head.Drop = &latch.Drop{Since: noon, Workloads: 3} }, "shop=true"},
		{"a pause of the site", func(s *policy.Site) { s.Head.PausedUntil = noon.Add(time.Hour) }, "shop=true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			latches := map[workload.ID]latch.Latch{gone: {ID: gone, Declared: checkpoint.Entry{Replicas: 5}}}
			s := policy.Site{Set: policy.DefaultSet(), Period: time.Minute, Fleet: workload.Fleet{Cluster: "blue", At: noon}}
			for _, name := range []string{"a", "b", "c"} {
				one := id("shop", name)
				latches[one] = latch.Latch{ID: one, Declared: checkpoint.Entry{Replicas: 10}}
				s.Fleet.Samples = append(s.Fleet.Samples, sampled(one)...)
			}
			s.Head = latch.Head{Cluster: latch.Cluster{UID: "blue"}, At: noon.Add(-time.Hour)}
			s.Latches = latch.LatchesOf(latches)
			c.make(&s)
			var got []string
			for namespace, list := range policy.Round(s).Listed {
				got = append(got, fmt.Sprintf("%s=%v", namespace, list))
			}
			slices.Sort(got)
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	d := policy.Decided{Listed: map[string]bool{"back": true, "gone": false, "shop": true}}
	if got := d.Unlisted([]string{"back", "old"}); !slices.Equal(got, []string{"gone", "old"}) {
		t.Errorf("unlisted %q", got)
	}
}
