package policy_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestClustersOfASite(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	blue := latch.Cluster{UID: "uid-blue", Seen: noon}
	tests := []struct {
		name    string
		bound   latch.Cluster
		minute  int
		sampled string
		unread  []workload.Unread
		all     bool
		reason  policy.Reason
		seen    latch.Cluster
	}{
		{"the first binds the site", latch.Cluster{}, 0, "uid-blue", nil, false, "", blue},
		{"its own", blue, 5, "uid-blue", nil, false, "", latch.Cluster{UID: "uid-blue", Seen: fleetAt(5).At}},
		{"another, while its own is alive", blue, 15, "uid-green", nil, true, policy.ReasonSecond,
			latch.Cluster{UID: "uid-blue", Seen: noon, Other: "uid-green", OtherSeen: fleetAt(15).At}},
		{"another, once its own has been silent for more than three periods", blue, 16, "uid-green", nil, false, policy.ReasonOther,
			latch.Cluster{UID: "uid-blue", Seen: noon, Other: "uid-green", OtherSeen: fleetAt(16).At}},
		{"another, where its own is only known from git", latch.Cluster{UID: "uid-blue"}, 0, "uid-green", nil, false, policy.ReasonOther,
			latch.Cluster{UID: "uid-blue", Other: "uid-green", OtherSeen: noon}},
		{"one that is unknown", blue, 5, "", nil, false, policy.ReasonPartial, blue},
		{"one that is unknown binds nothing", latch.Cluster{}, 5, "", nil, false, policy.ReasonPartial, latch.Cluster{}},
		{"read in part", blue, 5, "uid-blue", []workload.Unread{{Part: "deployments", Why: "forbidden"}, {Part: "hpas", Why: "timeout"}}, false, policy.ReasonPartial,
			latch.Cluster{UID: "uid-blue", Seen: fleetAt(5).At}},
		{"another, read in part", blue, 30, "uid-green", []workload.Unread{{Part: "deployments", Why: "forbidden"}}, false, policy.ReasonOther,
			latch.Cluster{UID: "uid-blue", Seen: noon, Other: "uid-green", OtherSeen: fleetAt(30).At}},
	}
	for _, tt := range tests {
		fleet := fleetAt(tt.minute)
		fleet.Cluster, fleet.Unread = tt.sampled, tt.unread
		h, stop := policy.Assess(g, latch.Head{Cluster: tt.bound}, fleet, nil)
		if stop.All != tt.all || stop.Reason != tt.reason {
			t.Errorf("%s: %+v", tt.name, stop)
		}
		if h.Cluster != tt.seen {
			t.Errorf("%s: cluster is %+v, want %+v", tt.name, h.Cluster, tt.seen)
		}
		// The text stands in a line for each workload that it stops: the parts are
		// the report's to list.
		if tt.unread != nil && tt.reason == policy.ReasonPartial && stop.Text != "the cluster was read in part" {
			t.Errorf("%s: %s", tt.name, stop.Text)
		}
	}
}

func TestAPersonHoldsTheSite(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	h, stop := policy.Assess(g, latch.Head{HoldUntil: fleetAt(10).At}, fleetAt(5), scales(3, 5))
	if !stop.All || stop.Reason != policy.ReasonHold || h.HoldUntil.IsZero() || !strings.Contains(stop.Text, "12:10") {
		t.Errorf("while it lasts: %+v", stop)
	}
	h, stop = policy.Assess(g, h, fleetAt(10), scales(3, 5))
	if stop.Reason != policy.ReasonNone || !h.HoldUntil.IsZero() {
		t.Errorf("once over: %+v until %s", stop, h.HoldUntil)
	}
}

func TestRetirement(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	g.RetireAfter = time.Hour
	day := func(l latch.Latch, whole []bool, intervals ...time.Duration) (latch.Latch, policy.Decision) {
		look, d := policy.Look{Now: noon, Period: 5 * time.Minute}, policy.Decision{}
		for i, w := range whole {
			l, d = policy.Retire(g, l, look, w)
			look.Last = look.Now
			look.Now = look.Now.Add(intervals[min(i, len(intervals)-1)])
		}
		return l, d
	}
	times := func(n int, whole bool) []bool {
		all := make([]bool, n)
		for i := range all {
			all[i] = whole
		}
		return all
	}
	then := func(parts ...[]bool) (all []bool) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	const period = 5 * time.Minute
	tests := []struct {
		name      string
		declared  int32
		whole     []bool
		intervals []time.Duration
		want      policy.Verdict
	}{
		{"absent for as long", 100, times(13, true), []time.Duration{period}, policy.Cross},
		{"absent for a look less", 100, times(12, true), []time.Duration{period}, policy.Pending},
		{"with nothing declared", 0, times(13, true), []time.Duration{period}, policy.Pending},
		{"never in a sample that counts", 100, times(100, false), []time.Duration{period}, policy.Frozen},
		{"a sample that does not count at the end", 100, then(times(13, true), times(1, false)), []time.Duration{period}, policy.Frozen},
		{"samples that do not count are not counted", 100, then(times(6, true), times(5, false), times(6, true)), []time.Duration{period}, policy.Pending},
		{"and lose nothing", 100, then(times(6, true), times(5, false), times(7, true)), []time.Duration{period}, policy.Cross},
		{"a gap is not counted", 100, times(13, true), []time.Duration{period, period, 12 * time.Hour, period}, policy.Pending},
		{"three periods are no gap", 100, times(5, true), []time.Duration{3 * period}, policy.Cross},
	}
	for _, tt := range tests {
		l, d := day(blank(tt.declared, workload.Scale{}), tt.whole, tt.intervals...)
		if d.Verdict != tt.want {
			t.Errorf("%s: %s %q, want %s", tt.name, d.Verdict, d.Text, tt.want)
		}
		if d.ID != web || l.Declared.Replicas != tt.declared || !d.To.IsZero() {
			t.Errorf("%s: %+v of %+v", tt.name, d, l)
		}
		switch tt.want {
		case policy.Cross:
			if !d.Lowers() || d.Reason != policy.ReasonNone || d.Urgent {
				t.Errorf("%s: %+v", tt.name, d)
			}
		default:
			if d.Reason != policy.ReasonUnread {
				t.Errorf("%s: reason %q", tt.name, d.Reason)
			}
		}
	}
}

// An absence stops the clock of a lowering.
func TestAbsenceLowersNothing(t *testing.T) {
	t.Parallel()
	p, g := policy.Presets()["cope"], policy.DefaultGuards()
	p.HoldDown = 20 * time.Minute
	l, low := blank(100, workload.Scale{}), healthy(workload.Scale{Desired: 10})
	var d policy.Decision
	look := policy.Look{Now: noon, Period: 5 * time.Minute}
	for i, present := range []bool{true, true, true, false, false, false, false, false, true, true} {
		if present {
			l, d = policy.Decide(p, l, low, look)
		} else {
			l, d = policy.Retire(g, l, look, i%2 == 0)
		}
		if crosses := i == 9; d.Crosses() != crosses {
			t.Errorf("look %d: %s %q", i, d.Verdict, d.Text)
		}
		look.Last, look.Now = look.Now, look.Now.Add(5*time.Minute)
	}
}

func cross(name string, from, to int32, urgent bool) policy.Decision {
	d := policy.Decision{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}, Verdict: policy.Cross, Urgent: urgent, Text: "why"}
	if from > 0 {
		d.From = checkpoint.Entry{Replicas: from}
	}
	if to > 0 {
		d.To = checkpoint.Entry{Replicas: to}
	}
	return d
}

func TestWhileTooManyAreAbsentNoneRetires(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		share    float64
		latches  int
		due      int
		absent   int // and not due
		withheld bool
	}{
		{"one may always", 0.1, 2, 1, 0, false},
		{"two of ten", 0.1, 10, 2, 0, true},
		{"one of ten, and another is absent", 0.1, 10, 1, 1, true},
		{"two of twenty", 0.1, 20, 2, 0, false},
		{"one of twenty, and another is absent", 0.1, 20, 1, 1, false},
		{"two of nineteen", 0.1, 19, 2, 0, true},
		{"exactly 29 %", 0.29, 100, 9, 20, false},
		{"more than 29 %", 0.29, 100, 9, 21, true},
		{"exactly 7 %", 0.07, 100, 7, 0, false},
		{"all", 1, 5, 5, 0, false},
	}
	for _, tt := range tests {
		g := policy.DefaultGuards()
		g.RetireShare = tt.share
		blank := cross("nothing declared", 0, 0, false)
		blank.Verdict = policy.Pending
		frozen := cross("nothing looks for it", 10, 0, false)
		frozen.Verdict = policy.Frozen
		absent := []policy.Decision{blank, frozen}
		for i := range tt.due {
			absent = append(absent, cross(fmt.Sprint("due", i), 10, 0, false))
		}
		for i := range tt.absent {
			d := cross(fmt.Sprint("absent", i), 10, 0, false)
			d.Verdict = policy.Pending
			absent = append(absent, d)
		}
		for i, d := range policy.LimitRetirement(g, tt.latches, absent) {
			switch was := absent[i]; {
			case !was.Crosses() && d != was:
				t.Errorf("%s: another's decision changed: %+v", tt.name, d)
			case was.Crosses() && d.Crosses() == tt.withheld:
				t.Errorf("%s: %+v", tt.name, d)
			case was.Crosses() && tt.withheld && (d.Verdict != policy.Pending || d.Reason != policy.ReasonMany || !strings.HasPrefix(d.Text, "why; ")):
				t.Errorf("%s: %+v", tt.name, d)
			}
		}
		if !absent[2].Crosses() {
			t.Errorf("%s: the decisions that were handed in changed", tt.name)
		}
	}
}

// However workloads vanish, no more than their share retires within the time that
// one has to be absent for.
func TestRetirementIsLimitedOverTime(t *testing.T) {
	t.Parallel()
	const workloads, ticks = 200, 24 * 7
	g := policy.DefaultGuards()
	g.Period, g.RetireAfter = time.Hour, 24*time.Hour
	for _, vanish := range []int{1, 3, 18, 20, 21, workloads} { // on each tick
		latches := map[int]latch.Latch{}
		for i := range workloads {
			latches[i] = blank(100, workload.Scale{})
		}
		var retired []int // by tick
		look := policy.Look{Now: noon, Period: g.Period}
		for tick := range ticks {
			var absent []policy.Decision
			var who []int
			for i := range min(workloads, (tick+1)*vanish) {
				if l, there := latches[i]; there {
					l, d := policy.Retire(g, l, look, true)
					latches[i], absent, who = l, append(absent, d), append(who, i)
				}
			}
			all := len(latches)
			retired = append(retired, 0)
			for i, d := range policy.LimitRetirement(g, all, absent) {
				if d.Retires() {
					retired[tick]++
					delete(latches, who[i])
				}
			}
			within := 0
			for _, n := range retired[max(0, len(retired)-24):] {
				within += n
			}
			if within > workloads/10 {
				t.Fatalf("%d vanish each hour: %d of %d retired within %s", vanish, within, workloads, g.RetireAfter)
			}
			look.Last, look.Now = look.Now, look.Now.Add(g.Period)
		}
	}
}

func TestObserveWithholdsAll(t *testing.T) {
	t.Parallel()
	got := policy.Observe([]policy.Decision{cross("a", 1, 2, true), cross("b", 1, 0, false), {Verdict: policy.Frozen, Reason: policy.ReasonBlind}})
	for i, d := range got[:2] {
		if d.Verdict != policy.Pending || d.Reason != policy.ReasonObserve {
			t.Errorf("%d: %+v", i, d)
		}
	}
	if got[0].To.IsZero() || got[2].Verdict != policy.Frozen || got[2].Reason != policy.ReasonBlind {
		t.Errorf("%+v", got)
	}
}

func TestWithoutEvidenceNoLevelIsWritten(t *testing.T) {
	t.Parallel()
	accepted, review := cross("c", 1, 2, true), cross("d", 1, 20, true)
	accepted.AcceptRisk, review.Verdict = true, policy.Review
	in := []policy.Decision{cross("a", 1, 2, true), cross("b", 2, 1, false), accepted, review, cross("e", 1, 0, false),
		{ID: review.ID, Verdict: policy.Frozen, Reason: policy.ReasonBlind}}
	e := checkpoint.Evidence{checkpoint.CoverOne(in[0].ID): "flux"}
	for i, want := range []policy.Verdict{policy.Cross, policy.Pending, policy.Cross, policy.Pending, policy.Cross, policy.Frozen} {
		d := policy.Prove(e, in)[i]
		if d.Verdict != want || (d.Reason == policy.ReasonNoEvidence) != (want == policy.Pending) {
			t.Errorf("%d: %s %s, want %s", i, d.Verdict, d.Reason, want)
		}
	}
	if d := policy.Prove(nil, in)[1]; d.To.IsZero() || !strings.HasPrefix(d.Text, in[1].Text+"; ") || in[1].Reason != policy.ReasonNone {
		t.Errorf("withheld as %+v", d)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards() // 24 a day, one an hour, six at most
	after := func(d time.Duration) time.Time { return noon.Add(d) }
	lower := []policy.Decision{cross("a", 200, 100, false)}
	tests := []struct {
		name      string
		budget    latch.Budget
		at        time.Time
		decisions []policy.Decision
		made      bool
	}{
		{"a new site has a full bucket", latch.Budget{}, noon, lower, true},
		{"a whole token", latch.Budget{Tokens: 1, At: noon}, noon, lower, true},
		{"less than a token", latch.Budget{Tokens: 0.5, At: noon}, after(29 * time.Minute), lower, false},
		{"a token earned", latch.Budget{Tokens: 0.5, At: noon}, after(30 * time.Minute), lower, true},
		{"an hour earns one", latch.Budget{At: noon}, after(time.Hour), lower, true},
		{"a clock that went back earns nothing", latch.Budget{At: noon}, after(-5 * time.Hour), lower, false},
		{"a clock that went back takes nothing", latch.Budget{Tokens: 1, At: noon}, after(-5 * time.Hour), lower, true},
		{"a raise that is not urgent waits", latch.Budget{At: noon}, noon, []policy.Decision{cross("a", 100, 120, false)}, false},
		{"a first level waits", latch.Budget{At: noon}, noon, []policy.Decision{cross("a", 0, 120, false)}, false},
		{"an urgent raise does not", latch.Budget{At: noon}, noon, []policy.Decision{cross("a", 100, 200, true)}, true},
		{"others ride along", latch.Budget{At: noon}, noon, []policy.Decision{cross("a", 200, 100, false), cross("b", 1, 2, true)}, true},
		{"what is urgent and withheld carries none", latch.Budget{At: noon}, noon,
			append(policy.Observe([]policy.Decision{cross("b", 1, 2, true)}), cross("a", 200, 100, false)), false},
	}
	for _, tt := range tests {
		got := policy.Afford(g, tt.budget, tt.at, tt.decisions)
		for i, d := range got {
			if !tt.decisions[i].Crosses() {
				continue
			}
			if d.Crosses() != tt.made {
				t.Errorf("%s: %+v", tt.name, d)
			}
			if !tt.made && (d.Verdict != policy.Pending || d.Reason != policy.ReasonBudget) {
				t.Errorf("%s: withheld as %s %s", tt.name, d.Verdict, d.Reason)
			}
		}
	}
}

// What only rides never makes a commit, and goes with any that is made.
func TestWhatRidesMakesNoCommit(t *testing.T) {
	t.Parallel()
	rides := cross("a", 1, 1, false)
	rides.Rides = true
	withheld := cross("b", 1, 2, false)
	withheld.Verdict, withheld.Reason = policy.Pending, policy.ReasonNoEvidence
	for name, c := range map[string]struct {
		beside []policy.Decision
		goes   bool
	}{
		"alone":                        {nil, false},
		"with another that rides":      {[]policy.Decision{rides}, false},
		"with one that is withheld":    {[]policy.Decision{withheld}, false},
		"with a lowering":              {[]policy.Decision{cross("b", 2, 1, false)}, true},
		"with one that is urgent":      {[]policy.Decision{cross("b", 1, 2, true)}, true},
		"with one for a person":        {[]policy.Decision{{Verdict: policy.Review}}, false},
		"with a lowering that freezes": {[]policy.Decision{{Verdict: policy.Frozen}}, false},
	} {
		got := policy.Ride(append([]policy.Decision{rides}, c.beside...))[0]
		if got.Crosses() != c.goes || !c.goes && (got.Verdict != policy.Pending || got.Reason != policy.ReasonRides) {
			t.Errorf("%s: %s %s", name, got.Verdict, got.Reason)
		}
	}
}

func TestSpendingTheBudget(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	b := policy.Spend(g, latch.Budget{}, noon)
	if b.Tokens != 5 || !b.At.Equal(noon) {
		t.Errorf("of a full bucket: %+v", b)
	}
	b = policy.Spend(g, b, noon.Add(30*time.Minute))
	if math.Abs(b.Tokens-4.5) > 1e-9 {
		t.Errorf("half an hour later: %+v", b)
	}
	b = policy.Spend(g, b, noon.Add(100*time.Hour))
	if b.Tokens != 5 {
		t.Errorf("no more than a quarter of a day is saved up: %+v", b)
	}
	if b = policy.Spend(g, latch.Budget{Tokens: 0.2, At: noon}, noon); b.Tokens != 0 {
		t.Errorf("an urgent raise makes debts: %+v", b)
	}
	g.CommitsPerDay = 1
	if b = policy.Spend(g, latch.Budget{}, noon); b.Tokens != 0 {
		t.Errorf("one commit a day: %+v", b)
	}

	if !policy.Afford(g, latch.Budget{}, noon, []policy.Decision{cross("a", 200, 100, false)})[0].Crosses() {
		t.Error("one commit a day is never made")
	}
	if policy.Afford(g, b, noon.Add(23*time.Hour), []policy.Decision{cross("a", 200, 100, false)})[0].Crosses() {
		t.Error("one commit a day is made twice")
	}

	// However hard it is drawn on, a day sees no more than 1.25 times its budget.
	g, b = policy.DefaultGuards(), latch.Budget{}
	made := 0
	for minute := range 24 * 60 {
		now := noon.Add(time.Duration(minute) * time.Minute)
		if policy.Afford(g, b, now, []policy.Decision{cross("a", 200, 100, false)})[0].Crosses() {
			b = policy.Spend(g, b, now)
			made++
		}
	}
	if made < 24 || made > 30 {
		t.Errorf("%d commits in a day", made)
	}
}
