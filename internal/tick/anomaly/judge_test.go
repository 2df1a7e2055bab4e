package anomaly_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/anomaly"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const period = 5 * time.Minute

var (
	noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	web  = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
)

// A site is judged one sample after another, with the memory of its latches.
type site struct {
	latches map[workload.ID]latch.Latch
	open    []alert.Open
	look    anomaly.Look
}

func newSite() *site {
	return &site{latches: map[workload.ID]latch.Latch{}, look: anomaly.Look{Period: period, Set: policy.DefaultSet(), Whole: true}}
}

// judge judges one sample of each workload, and returns the open conditions and the alerts.
func (s *site) judge(now time.Time, samples ...workload.Sample) ([]alert.Condition, []alert.Alert) {
	l := s.look
	l.Now, l.Samples, l.Latches, l.Open = now, samples, latch.LatchesOf(s.latches), s.open
	for _, one := range samples {
		p, d, latched := l.Set.Choose(one)
		if latched {
			_, d = policy.Decide(p, s.latches[one.ID], one, policy.Look{Now: now, Period: period})
		}
		l.Decisions = append(l.Decisions, d)
	}
	conditions, changed := anomaly.Judge(l)
	for id, w := range changed {
		one := s.latches[id]
		one.ID, one.Watch = id, w
		s.latches[id] = one
	}
	open, alerts := alert.Advance("prod", s.open, conditions, now, 24*time.Hour)
	s.open, s.look.Last = open, now
	return conditions, alerts
}

// remember notes the scales of a sample, like the guard against mass drops.
func (s *site) remember(now time.Time, samples ...workload.Sample) {
	for _, one := range samples {
		if one.Scale != nil {
			of := s.latches[one.ID]
			of.ID, of.Recent = one.ID, of.Recent.Next(one.Scale.Desired, s.look.Last, now, 30*time.Minute)
			s.latches[one.ID] = of
		}
	}
}

func (s *site) declare(id workload.ID, e checkpoint.Entry) {
	one := s.latches[id]
	one.ID, one.Declared = id, e
	s.latches[id] = one
}

func drawn(r *rand.Rand, id workload.ID) workload.Sample {
	s := workload.Sample{ID: id}
	if r.IntN(12) > 0 {
		demand := []float64{0, 1, 100, 5000}[r.IntN(4)]
		s.Scale = &workload.Scale{
			Desired: []int32{0, 3, 20, 90, 200}[r.IntN(5)], Driver: []workload.Driver{workload.DrivenByHPA, workload.DrivenByKEDA, workload.DrivenByScale}[r.IntN(3)],
			Min: int32(r.IntN(3)), Max: 200, Load: []float64{0, 0.3, 1, 1.5}[r.IntN(4)], Hand: []string{"", "kubectl"}[r.IntN(2)],
			Brake: []workload.Brake{{}, {On: "HPA web"}, {On: "HPA web", Until: noon.Add(24 * time.Hour)}}[r.IntN(3)],
		}
		s.Scale.Ready = s.Scale.Desired * int32(r.IntN(3)) / 2
		if r.IntN(2) > 0 {
			s.Scale.Demand = &demand
		}
	}
	if r.IntN(12) > 0 {
		s.Rollout = &workload.Rollout{Desired: 20}
		if r.IntN(3) == 0 {
			s.Rollout.InFlight = true
			s.Rollout.Templates = []workload.Template{{Hash: "v2", Available: int32(r.IntN(20))}, {Hash: "v1"}}
			s.Rollout.Failure = []string{"", "", "ProgressDeadlineExceeded"}[r.IntN(3)]
		}
	}
	return s
}

// Random histories. A second sample at the same instant changes nothing and reports the
// same. A condition is raised, continues and is resolved, in this order. An unknown
// value does not raise or resolve a condition. The memory stays small.
func TestLaws(t *testing.T) {
	t.Parallel()
	seen := map[alert.Kind]bool{}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		s, now := newSite(), noon
		s.declare(web, checkpoint.Entry{Replicas: 100, Min: 1, Max: 100})
		on := map[string]bool{}
		var one workload.Sample
		for look := range 400 {
			if look == 0 || r.IntN(8) == 0 {
				one = drawn(r, web)
			}
			s.look.Whole = r.IntN(10) > 0
			s.remember(now, one)
			before := maps.Clone(on)
			conditions, said := s.judge(now, one)
			remembered := s.latches[web]
			for _, a := range said {
				seen[a.Kind] = true
				switch key := string(a.Kind) + a.Subject; {
				case a.State == alert.Raised && !on[key]:
					on[key] = true
				case a.State == alert.Resolved && on[key]:
					delete(on, key)
				case a.State == alert.Lasting && on[key]:
				default:
					t.Fatalf("seed %d, look %d: %s", seed, look, a.Headline())
				}
			}
			if one.Scale == nil && one.Rollout == nil && !maps.Equal(on, before) {
				t.Fatalf("seed %d, look %d: nothing is known, and %v became %v", seed, look, before, on)
			}
			again, saidAgain := s.judge(now, one)
			if len(saidAgain) > 0 || !reflect.DeepEqual(kindsOf(again), kindsOf(conditions)) || !s.latches[web].Equal(remembered) {
				t.Fatalf("seed %d, look %d: again says %v after %v, and remembers\n%+v\nafter\n%+v", seed, look, saidAgain, conditions, s.latches[web].Watch, remembered.Watch)
			}
			if w := remembered.Watch; len(w.Episodes) > 7 {
				t.Fatalf("seed %d: remembers %+v", seed, w)
			}
			for _, c := range conditions {
				if c.Text == "" || c.Fix == "" || strings.Contains(c.Text+c.Effect, "%!") {
					t.Fatalf("seed %d: %+v", seed, c)
				}
			}
			if now = now.Add(period); r.IntN(60) == 0 {
				now = now.Add(time.Duration(r.IntN(48)) * time.Hour)
			}
		}
	}
	for _, kind := range alert.Kinds() {
		if kind.Anomaly() && kind != alert.Surge && !seen[kind] { // the commit reports a surge
			t.Errorf("no history raises %s: the laws were not held to it", kind)
		}
	}
}

func kindsOf(all []alert.Condition) (kinds []alert.Kind) {
	for _, c := range all {
		kinds = append(kinds, c.Kind)
	}
	return kinds
}

// Time between samples that are more than three periods apart does not count.
func TestAGapIsNotObserved(t *testing.T) {
	t.Parallel()
	s := newSite()
	s.declare(web, checkpoint.Entry{Replicas: 200, Min: 1, Max: 200})
	zero := workload.Sample{ID: web, Scale: &workload.Scale{Min: 1, Max: 200, Driver: workload.DrivenByHPA}, Rollout: &workload.Rollout{}}
	s.judge(noon, zero)
	if c, _ := s.judge(noon.Add(2*time.Hour), zero); len(c) > 0 {
		t.Errorf("after a gap: %+v", c)
	}
	for i := range 3 {
		if c, _ := s.judge(noon.Add(2*time.Hour+time.Duration(i+1)*period), zero); (len(c) > 0) != (i == 2) {
			t.Errorf("sample %d: %+v", i, c)
		}
	}
	for gap, observed := range map[time.Duration]bool{3 * period: true, 3*period + time.Second: false} {
		s := newSite()
		s.declare(web, checkpoint.Entry{Replicas: 200, Min: 1, Max: 200})
		s.judge(noon, zero)
		if c, _ := s.judge(noon.Add(gap), zero); (len(c) > 0) != observed {
			t.Errorf("%s between two samples: %+v", gap, c)
		}
	}
}

// From the eleventh workload on, the workloads with a condition of one kind share one
// condition until it is over.
func TestManyOfAKindAreOne(t *testing.T) {
	t.Parallel()
	s := newSite()
	now := noon
	unknown := false
	step := func(written int) (said []string) {
		var all []workload.Sample
		for i := range 40 {
			one := workload.Sample{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("web-%02d", i)}, Rollout: &workload.Rollout{Desired: 10},
				Scale: &workload.Scale{Desired: 10, Ready: 10, Min: 1, Max: 200, Driver: workload.DrivenByHPA}}
			if i < written {
				one.Scale.Hand = "kubectl"
			}
			if unknown {
				one.Scale, one.Rollout, one.Unknown = nil, nil, "generation 7 is not observed yet"
			}
			all = append(all, one)
		}
		for range 2 { // the second sample ends the hold
			_, alerts := s.judge(now, all...)
			now = now.Add(period)
			for _, a := range alerts {
				said = append(said, string(a.State))
			}
		}
		return said
	}
	if said := step(10); len(said) != 10 || len(s.open) != 10 {
		t.Errorf("ten: %q, open %d", said, len(s.open))
	}
	if said := step(30); !slices.Equal(said, []string{"raised"}) || len(s.open) != 11 {
		t.Errorf("thirty: %q, open %d", said, len(s.open))
	}
	if text := s.open[0].Text; !strings.HasPrefix(text, "20 workloads: shop/deployment/web-10, ") || !strings.Contains(text, "and 15 more") {
		t.Errorf("says %q", text)
	}
	fix := s.open[0].Fix
	unknown = true
	if said := step(30); len(said) != 0 || len(s.open) != 11 {
		t.Errorf("unknown: %q, open %d", said, len(s.open))
	}
	if shared := s.open[0]; !strings.HasSuffix(shared.Text, "For the first one: it started at 2026-03-02T12:10:00Z, and this tick could not check it") || shared.Fix != fix {
		t.Errorf("unknown: says %q, fix %q, and before %q", shared.Text, shared.Fix, fix)
	}
	unknown = false
	if said := step(11); len(said) != 0 || len(s.open) != 11 {
		t.Errorf("eleven: %q, open %d", said, len(s.open))
	}
	if said := step(0); len(said) != 11 || len(s.open) != 0 {
		t.Errorf("none: %q", said)
	}
}

// A workload that gitlatch leaves out has no conditions. The same is true for a removed
// workload, once a complete sample shows that.
func TestWhoIsJudged(t *testing.T) {
	t.Parallel()
	capped := func() workload.Sample {
		return workload.Sample{ID: web, Rollout: &workload.Rollout{}, Scale: &workload.Scale{
			Desired: 300, Ready: 300, Min: 1, Max: 400, Driver: workload.DrivenByHPA, Brake: workload.Brake{On: "HPA web"},
		}}
	}
	ignore := policy.Presets()["cope"]
	ignore.Scale, ignore.Rollout = policy.ModeIgnore, policy.ModeIgnore
	report := policy.Presets()["cope"]
	report.Scale = policy.ModeReport
	for name, c := range map[string]struct {
		change func(*workload.Sample)
		policy policy.Policy
		want   []alert.Kind
	}{
		"a latched one":             {func(*workload.Sample) {}, policy.Presets()["cope"], []alert.Kind{alert.BrakeLeft, alert.Capped}},
		"one that is reported":      {func(*workload.Sample) {}, report, []alert.Kind{alert.BrakeLeft, alert.Capped}},
		"one that is ignored":       {func(*workload.Sample) {}, ignore, nil},
		"one that opted out":        {func(s *workload.Sample) { s.OptOut = true }, policy.Presets()["cope"], nil},
		"one without an autoscaler": {func(s *workload.Sample) { s.Scale.Driver = "" }, policy.Presets()["cope"], nil},
		"one that is being deleted": {func(s *workload.Sample) { s.Terminating = true }, policy.Presets()["cope"], nil},
	} {
		s := newSite()
		s.declare(web, checkpoint.Entry{Replicas: 200, Min: 1, Max: 200})
		s.look.Set.Default = c.policy
		one := capped()
		c.change(&one)
		now := noon
		judge := func(samples ...workload.Sample) []alert.Condition {
			conditions, _ := s.judge(now, samples...)
			now = now.Add(period)
			return conditions
		}
		var got []alert.Condition
		for range 13 { // an hour
			got = judge(one)
		}
		if !slices.Equal(kindsOf(got), c.want) {
			t.Errorf("%s: %v, want %v", name, kindsOf(got), c.want)
		}
		said := map[alert.Kind]alert.Condition{}
		for _, g := range got {
			said[g.Kind] = g
		}
		unread := one
		unread.Scale, unread.Rollout, unread.Unknown = nil, nil, "generation 7 is not observed yet"
		got = judge(unread)
		if !slices.Equal(kindsOf(got), c.want) {
			t.Errorf("%s, unknown: %v", name, kindsOf(got))
		}
		for _, g := range got {
			if g.Effect != "a rebuild starts the workload with 200 pods, its level in git. The level does not change: its scale is unknown: generation 7 is not observed yet" {
				t.Errorf("%s, unknown: does %q", name, g.Effect)
			}
			if was := said[g.Kind]; g.Text != was.Text || g.Fix != was.Fix {
				t.Errorf("%s, unknown: says %q, fix %q, and before %q, fix %q", name, g.Text, g.Fix, was.Text, was.Fix)
			}
		}
		s.look.Whole = false
		if got := judge(); !slices.Equal(kindsOf(got), c.want) {
			t.Errorf("%s, not seen in a part of the cluster: %v", name, kindsOf(got))
		}
		s.look.Whole = true
		if got := judge(); len(got) > 0 || !s.latches[web].Watch.Equal(latch.Watch{}) {
			t.Errorf("%s, gone: %v, remembers %+v", name, kindsOf(got), s.latches[web].Watch)
		}
	}
}
