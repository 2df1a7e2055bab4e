package diff_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/diff"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var (
	noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	web  = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
)

// latching returns the policy of a site that latches.
func latching() policy.Set {
	set := policy.DefaultSet()
	set.Latch = true
	return set
}

func running(n int32) workload.Sample {
	return workload.Sample{ID: web, Scale: &workload.Scale{Desired: n, Ready: n, Driver: workload.DrivenByHPA, Min: 2, Max: 5000}, Rollout: &workload.Rollout{Desired: n}}
}

func declares(n int32) checkpoint.Entry { return checkpoint.Entry{Replicas: n, Min: 2, Max: 5000} }

// one returns the case of one workload with an entry in git and samples.
func one(set policy.Set, e checkpoint.Entry, s ...workload.Sample) diff.Case {
	c := diff.Case{Site: "prod", Set: set, Fleet: workload.Fleet{Site: "prod", Cluster: "blue", At: noon, Samples: s}}
	c.Tree.Site.Cluster = "blue"
	c.Tree.Records = map[string]checkpoint.Record{}
	if e != (checkpoint.Entry{}) {
		c.Tree.Records["shop"] = checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{web: e}}
	}
	return c
}

// told returns a row as one line.
func told(r diff.Row) string {
	number := func(e checkpoint.Entry) string {
		switch {
		case e.IsZero():
			return "-"
		case r.Reading == policy.ReadingRollout:
			return fmt.Sprintf("%d %%", e.Rollout.Milestone)
		}
		return fmt.Sprint(e.Replicas)
	}
	text := fmt.Sprintf("%s %s -> %s: %s", r.State, number(r.Declared), number(r.To), r.Text)
	if r.Reason != "" {
		text = strings.Replace(text, ":", " ("+string(r.Reason)+"):", 1)
	}
	if r.Proposed != nil {
		text += "; proposed " + number(*r.Proposed)
	}
	if r.Mismatch != nil {
		text += "; live bounds " + r.Mismatch.String()
	}
	if r.Capped {
		text += "; capped"
	}
	return text
}

func TestScaleAgainstItsLevel(t *testing.T) {
	t.Parallel()
	change := func(s workload.Sample, f func(*workload.Sample)) workload.Sample { f(&s); return s }
	with := func(f func(*policy.Set)) policy.Set { s := latching(); f(&s); return s }
	for _, c := range []struct {
		name    string
		set     policy.Set
		entry   checkpoint.Entry
		sample  workload.Sample
		want    string
		differs bool
	}{
		{"1,874 against 2,000", latching(), declares(2000), running(1874), "in-sync 2000 -> -: the replica count of 1874 is within the thresholds of level 2000", false},
		{"just above the margin", latching(), declares(2000), running(1728), "in-sync 2000 -> -: the replica count of 1728 is within the thresholds of level 2000", false},
		{"at the lower threshold", latching(), declares(2000), running(1727), "waiting 2000 -> 1800 (rides): 1727 is at or below 1727, so the level changes to 1800 after 26h", false},
		{"one too many", latching(), declares(2000), running(2001), "pending 2000 -> 2100: 2001 is above 2000, so the level changes to 2100 after 2 samples in a row", true},
		{"holds are symmetric", with(func(s *policy.Set) { s.Default = policy.Presets()["closest"] }), declares(2000), running(300),
			"pending 2000 -> 200: 300 is at or below 1285, so the level changes to 200 after 2 samples in a row", true},
		{"raised at once", with(func(s *policy.Set) { s.Default.HoldUp = 1 }), declares(20), running(21), "pending 20 -> 30: 21 is above 20, so the level changes to 30 at once", true},
		{"a long hold", with(func(s *policy.Set) { s.Default.HoldUp = 7 }), declares(20), running(21), "pending 20 -> 30: 21 is above 20, so the level changes to 30 after 7 samples in a row", true},
		{"in a rollout three samples are needed", latching(), declares(20), change(running(21), func(s *workload.Sample) { s.Rollout = nil; s.Unknown = "not seen" }),
			"pending 20 -> 30: 21 is above 20, so the level changes to 30 after 3 samples in a row", true},
		{"nothing is declared", latching(), checkpoint.Entry{}, running(21), "pending - -> 30: git has no level: the replica count 21 rounds to level 30", true},
		{"nothing is ready", latching(), checkpoint.Entry{}, change(running(21), func(s *workload.Sample) { s.Scale.Ready = 0 }),
			"pending - -> - (unready): git has no level yet: only 0 of 21 pods are ready", true},
		{"what is ready is declared", latching(), declares(20), change(running(70), func(s *workload.Sample) { s.Scale.Ready = 30 }),
			"pending 20 -> 30: 70 (30 ready) is above 20, so the level changes to 30 after 2 samples in a row", true},
		{"it is not lowered while its autoscaler is blind", latching(), declares(200), change(running(9), func(s *workload.Sample) { s.Scale.Blind = "no metrics" }),
			"frozen 200 -> - (blind): the autoscaler cannot compute a replica count (no metrics)", false},
		{"scaled to zero", latching(), declares(200), running(0), "frozen 200 -> - (suspended): it is scaled to zero, and a level is never 0", false},
		{"its scale is unknown", latching(), declares(200), workload.Sample{ID: web, Unknown: "generation 7 is not observed yet"},
			"unknown 200 -> - (unread): its scale is unknown: generation 7 is not observed yet", false},
		{"other bounds", latching(), checkpoint.Entry{Replicas: 200, Min: 2, Max: 300}, running(150),
			"bounds 200 -> -: the replica count of 150 is within the thresholds of level 200; live bounds 2 to 5000 replicas", true},
		{"capped by git", latching(), checkpoint.Entry{Replicas: 300, Min: 2, Max: 300}, running(900),
			"bounds 300 -> -: 900 live, but the maximum in git is 300; live bounds 2 to 5000 replicas; capped", true},
		{"bounds that are followed", with(func(s *policy.Set) { s.Default.Bounds = policy.ModeLatch }), checkpoint.Entry{Replicas: 200, Min: 2, Max: 300}, running(150),
			"pending 200 -> 200: the minimum and maximum in git change to 2 to 5000 replicas; live bounds 2 to 5000 replicas", true},
		{"only reported", with(func(s *policy.Set) { s.Default.Scale = policy.ModeReport }), declares(20), running(21),
			"pending 20 -> 30 (report): 21 is above 20, so the level changes to 30 after 2 samples in a row; its policy only reports", true},
		{"a surge to review", with(func(s *policy.Set) { s.Default.Review = true }), declares(20), running(900),
			"pending 20 -> 900 (surge): 900 is above 20, so the level changes to 900 after 2 samples in a row; a surge, which a user should review", true},
		{"a site that observes", policy.DefaultSet(), declares(2000), running(1874), "in-sync 2000 -> -: the replica count of 1874 is within the thresholds of level 2000", false},
		{"taken out by its annotation", latching(), declares(20), change(running(90), func(s *workload.Sample) { s.OptOut = true }),
			"not-latched 20 -> - (opted-out): an annotation on the workload opts out", false},
	} {
		r := diff.Compare(one(c.set, c.entry, c.sample))
		if got := told(r.Rows[0]); got != c.want || r.Differs() != c.differs || len(r.Rows) != 1 {
			t.Errorf("%s: differs %v, %d rows\n got %s\nwant %s", c.name, r.Differs(), len(r.Rows), got, c.want)
		}
	}
}

func TestRolloutAgainstItsMilestone(t *testing.T) {
	t.Parallel()
	rolling := func(available int32, failure string) workload.Sample {
		s := running(100)
		s.Rollout = &workload.Rollout{InFlight: true, Desired: 100, Failure: failure, Templates: []workload.Template{
			{Hash: "v2", Desired: available, Available: available}, {Hash: "v1", Desired: 100 - available, Available: 100 - available}}}
		return s
	}
	halted := func(s workload.Sample) workload.Sample { s.Rollout.Halted = "paused"; return s }
	past := func(e checkpoint.Entry) checkpoint.Entry { e.Rollout.Returns = checkpoint.SideTo; return e }
	at := func(milestone int32) checkpoint.Entry {
		e := declares(100)
		e.Rollout = checkpoint.Rollout{Milestone: milestone, Phase: checkpoint.PhaseProgressing, Returns: checkpoint.SideFrom,
			From: checkpoint.Template{Hash: "v1"}, To: checkpoint.Template{Hash: "v2"}}
		return e
	}
	for _, c := range []struct {
		name   string
		entry  checkpoint.Entry
		sample workload.Sample
		want   string
	}{
		{"at its milestone", at(30), rolling(30, ""), "in-sync 30 % -> -: its rollout is at 30 %, progressing: 30 of 100 pods of template v2 are available"},
		{"at the next, which makes no commit", at(10), rolling(30, ""), "waiting 10 % -> 30 % (rides): 30 of 100 pods of template v2 are available; it waits for the site's next commit"},
		{"at the cut, seen once", at(60), rolling(60, ""), "waiting 60 % -> -: its rollout is at 60 %, progressing: 60 of 100 pods of template v2 are available, the first sample at the cut"},
		{"not declared", declares(100), rolling(30, ""), "waiting 0 % -> -: a rollout to v2 has been in progress for less than 1m. gitlatch adds a rollout entry after 15m, or when the rollout fails"},
		{"not declared, and halted", declares(100), halted(rolling(30, "")), "waiting 0 % -> -: a rollout to v2 has been in progress for less than 1m. gitlatch adds a rollout entry after 15m, or when the rollout fails"},
		{"not declared, and failed", declares(100), rolling(30, "deadline"), "pending 0 % -> 0 %: a rollout from v1 to v2: 30 of 100 pods of template v2 are available; the rollout failed: deadline"},
		{"failed, and old already", at(25), rolling(30, "deadline"), "waiting 25 % -> 0 % (rides): the rollout failed: deadline; it waits for the site's next commit"},
		{"failed, past the cut", past(at(60)), rolling(60, "deadline"), "pending 60 % -> 0 %: the rollout failed: deadline"},
		{"over", at(90), running(100), "pending 90 % -> 0 %: the rollout is over"},
	} {
		r := diff.Compare(one(latching(), c.entry, c.sample))
		if len(r.Rows) != 2 || r.Rows[1].Reading != policy.ReadingRollout {
			t.Fatalf("%s: %d rows", c.name, len(r.Rows))
		}
		if got := told(r.Rows[1]); got != c.want || r.Differs() != (r.Rows[1].State == diff.Pending) {
			t.Errorf("%s: differs %v\n got %s\nwant %s", c.name, r.Differs(), got, c.want)
		}
	}
}

func TestWhatIsOnOneSideOnly(t *testing.T) {
	t.Parallel()
	c := one(latching(), declares(20))
	row := func(c diff.Case) string { return told(diff.Compare(c).Rows[0]) }
	if got := row(c); got != "absent 20 -> - (absent): the workload is not in the cluster. After 168h, gitlatch removes the workload's entry from git" {
		t.Error(got)
	}
	worker := workload.ID{Namespace: "shop", Kind: "worker", Name: "web"}
	c.Tree.Records["shop"].Entries[worker] = declares(20)
	if got := told(diff.Compare(c).Rows[1]); got != "unknown 20 -> - (unread): gitlatch does not sample its kind. Add worker to kinds of the policy, or delete the entry" {
		t.Error(got)
	}
	c.Fleet.Kinds = workload.Kinds{"worker": {}}
	c.Set.Kinds = c.Fleet.Kinds
	if got := told(diff.Compare(c).Rows[1]); !strings.HasPrefix(got, "absent 20 -> -") {
		t.Error(got)
	}
	delete(c.Tree.Records["shop"].Entries, worker)
	c.Fleet.Unread = []workload.Unread{{Part: "deployments", Why: "forbidden"}}
	if got := row(c); !strings.HasPrefix(got, "unknown 20 -> - (unread): not in the sample") || diff.Compare(c).Differs() {
		t.Error(got)
	}
	if r := diff.Compare(one(latching(), checkpoint.Entry{})); len(r.Rows) != 0 || r.Differs() {
		t.Errorf("%+v", r.Rows)
	}
}

// If a part of the cluster could not be listed, or the cluster is not the site's, diff
// does not lower a level, like a tick. A raise continues.
func TestWhatStopsATickStopsHere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spoil func(*diff.Case)
		why   policy.Reason
	}{
		{func(c *diff.Case) { c.Fleet.Unread = []workload.Unread{{Part: "scaledobjects", Why: "forbidden"}} }, policy.ReasonPartial},
		{func(c *diff.Case) { c.Fleet.Cluster = "green" }, policy.ReasonOther},
	} {
		low, high := one(latching(), declares(200), running(9)), one(latching(), declares(20), running(90))
		c.spoil(&low)
		c.spoil(&high)
		r := diff.Compare(low)
		if r.Stop.Reason != c.why || r.Rows[0].State != diff.Frozen || r.Rows[0].Reason != c.why {
			t.Errorf("%s: %s", c.why, told(r.Rows[0]))
		}
		if row := diff.Compare(high).Rows[0]; row.State != diff.Pending || row.To.Replicas <= row.Declared.Replicas {
			t.Errorf("%s: %s", c.why, told(row))
		}
	}
}

func TestABrokenRecordIsUnknown(t *testing.T) {
	t.Parallel()
	c := one(latching(), checkpoint.Entry{}, running(9))
	c.Tree.Broken = map[string]error{"shop": fmt.Errorf("no YAML")}
	r := diff.Compare(c)
	if got := told(r.Rows[0]); got != "unknown - -> - (broken-record): the checkpoint file of its namespace is broken" || len(r.Gaps()) != 1 || r.Gaps()[0].Text != "no YAML" {
		t.Error(got)
	}
}

func TestWhatIsProposedStandsBeside(t *testing.T) {
	t.Parallel()
	agent := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "agent"}
	c := one(latching(), declares(20), running(40))
	c.Proposed = map[workload.ID]checkpoint.Entry{web: declares(50), agent: declares(5)}
	r := diff.Compare(c)
	if len(r.Rows) != 2 || r.Rows[0].ID != agent {
		t.Fatalf("%+v", r.Rows)
	}
	if got := told(r.Rows[0]); got != "absent - -> - (absent): proposed, but not in the cluster; proposed 5" {
		t.Error(got)
	}
	if got := told(r.Rows[1]); got != "pending 20 -> 50: 40 is above 20, so the level changes to 50 after 2 samples in a row; proposed 50" {
		t.Error(got)
	}
	// A proposed level does not affect the rollout.
	e := declares(20)
	e.Rollout = checkpoint.Rollout{Milestone: 90, Phase: checkpoint.PhaseProgressing, Returns: checkpoint.SideTo, From: checkpoint.Template{Hash: "a"}, To: checkpoint.Template{Hash: "b"}}
	c = one(latching(), e, running(40))
	c.Proposed = map[workload.ID]checkpoint.Entry{web: declares(50).WithRollout(e.Rollout)}
	if r := diff.Compare(c); r.Rows[0].Proposed == nil || r.Rows[1].Proposed != nil {
		t.Errorf("%+v", r.Rows)
	}
}

// A row is in sync exactly between the thresholds. The pending level of any other row
// equals the result of successive ticks with the same live replicas.
func TestWhatIsPendingIsWhatTicksComeTo(t *testing.T) {
	t.Parallel()
	for name, preset := range policy.Presets() {
		set := latching()
		set.Default = preset
		set.Default.HoldDown = min(set.Default.HoldDown, 2*time.Hour)
		for _, declared := range []int32{2, 7, 100, 2000} {
			for live := int32(1); live < 6000; live += max(1, live/23) {
				s := running(live)
				s.Scale.Target, s.Scale.Ready = 0.75, live-live/17
				row := diff.Compare(one(set, declares(declared), s)).Rows[0]
				raiseAbove, lowerAt := policy.Thresholds(set.Default, declares(declared), *s.Scale)
				if within := live > lowerAt && live <= raiseAbove; (row.State == diff.InSync) != within {
					t.Fatalf("%s: %d against %d, between %d and %d: %s", name, live, declared, lowerAt, raiseAbove, told(row))
				}
				if want := ticks(set, declares(declared), s); level(row.To) != want && row.State != diff.InSync {
					t.Fatalf("%s: %d against %d: %s, and ticks come to %d", name, live, declared, told(row), want)
				}
			}
		}
	}
}

// ticks runs ticks until the level changes, and returns the new level.
func ticks(set policy.Set, e checkpoint.Entry, s workload.Sample) int32 {
	l, look := latch.Latch{ID: s.ID, Declared: e}, policy.Look{Now: noon, Period: set.Guards.Period}
	for range 200 {
		var d policy.Decision
		if l, d = policy.Decide(set.Default, l, s, look); d.Verdict == policy.Cross {
			return d.To.Replicas
		}
		look.Last, look.Now = look.Now, look.Now.Add(look.Period)
	}
	return 0
}

func level(e checkpoint.Entry) int32 {
	return min(e.Replicas, math.MaxInt32)
}
