package policy_test

import (
	"math"
	"strings"
	"testing"
	"time"

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
		s, stop := policy.Assess(g, latch.State{Head: latch.Head{Cluster: tt.bound}}, fleet, nil)
		h := s.Head
		if stop.All != tt.all || stop.Reason != tt.reason {
			t.Errorf("%s: %+v", tt.name, stop)
		}
		if (stop.Fix == "") != (stop.Reason == policy.ReasonNone) {
			t.Errorf("%s: %s has the fix %q", tt.name, stop, stop.Fix)
		}
		if h.Cluster != tt.seen {
			t.Errorf("%s: cluster is %+v, want %+v", tt.name, h.Cluster, tt.seen)
		}
		// Each stopped workload shows the text on its line, so it does not list the
		// parts. The report does.
		if tt.unread != nil && tt.reason == policy.ReasonPartial && stop.Text != "a part of the cluster could not be listed" {
			t.Errorf("%s: %s", tt.name, stop.Text)
		}
	}
}

func TestAPersonHoldsTheSite(t *testing.T) {
	t.Parallel()
	g := policy.DefaultGuards()
	s, stop := policy.Assess(g, latch.State{Head: latch.Head{PausedUntil: fleetAt(10).At}}, fleetAt(5), scales(3, 5))
	if !stop.All || stop.Reason != policy.ReasonHold || s.Head.PausedUntil.IsZero() || !strings.Contains(stop.Text, "12:10") || !strings.Contains(stop.Fix, "gitlatch pause --until now") {
		t.Errorf("while it lasts: %+v", stop)
	}
	s, stop = policy.Assess(g, s, fleetAt(10), scales(3, 5))
	if stop.Reason != policy.ReasonNone || !s.Head.PausedUntil.IsZero() {
		t.Errorf("once over: %+v until %s", stop, s.Head.PausedUntil)
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

// A change that waits for the next commit never makes one, and is added to any other
// commit.
func TestWhatRidesMakesNoCommit(t *testing.T) {
	t.Parallel()
	rides := cross("a", 1, 1, false)
	rides.Rides = true
	withheld := cross("b", 1, 2, false)
	withheld.Verdict, withheld.Reason = policy.Pending, policy.ReasonReport
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

	// The budget limits a day to 1.25 times its commits, for any number of requests.
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
