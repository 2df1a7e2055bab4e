package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var web = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}

// entry parses "100" or "100@25": a level, and the milestone of a rollout; "-" is an
// absent entry.
func entry(t *testing.T, text string) (e checkpoint.Entry) {
	t.Helper()
	if text == "-" {
		return e
	}
	level, milestone, rolls := strings.Cut(text, "@")
	_, err := fmt.Sscan(level, &e.Replicas)
	if rolls {
		_, bad := fmt.Sscan(milestone, &e.Rollout.Milestone)
		err = errors.Join(err, bad)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// held returns the entries of a commit for web; "?" is an unreadable checkpoint file.
func held(t *testing.T, text string) ledger.Holding {
	t.Helper()
	if text == "?" {
		return ledger.Holding{Broken: map[string]error{"shop": errors.New("broken")}}
	}
	h := ledger.Holding{Entries: map[workload.ID]checkpoint.Entry{}}
	if e := entry(t, text); !e.IsZero() {
		h.Entries[web] = e
	}
	return h
}

// Each history lists the entry of web: at the agreed commit, before and after each
// commit of gitlatch, and at the tip.
func TestWhoseAnEntryIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		agreed, ours string
		tip, merged  string
		now, was     string
		byGitlatch   bool
	}{
		{name: "nothing came", agreed: "100", tip: "100", now: "100", was: "100"},
		{name: "a person's edit", agreed: "100", tip: "150", now: "150", was: "100"},
		{name: "a person's first entry", agreed: "-", tip: "150", now: "150", was: "-"},
		{name: "a person's deletion", agreed: "100", tip: "-", now: "-", was: "100"},
		{name: "ours landed", agreed: "100", ours: "100 200", tip: "200", now: "200", was: "200", byGitlatch: true},
		{name: "ours of another entry", agreed: "100", ours: "100 100", tip: "100", now: "100", was: "100"},
		{name: "two of ours", agreed: "100", ours: "100 200, 200 500", tip: "500", now: "500", was: "500", byGitlatch: true},
		{name: "ours, edited after", agreed: "100", ours: "100 200", tip: "150", now: "150", was: "200", byGitlatch: true},
		{name: "ours, reverted to what looks as agreed", agreed: "100", ours: "100 200", tip: "100", now: "100", was: "200", byGitlatch: true},
		{name: "ours after an edit", agreed: "100", ours: "150 200", tip: "200", now: "200", was: "200", byGitlatch: true},
		{name: "an edit between two of ours, of another", agreed: "100", ours: "100 200, 300 300", tip: "300", now: "300", was: "200", byGitlatch: true},
		{name: "ours retired it", agreed: "100", ours: "100 -", tip: "-", now: "-", was: "-", byGitlatch: true},
		{name: "a rollout of ours beside a person's level", agreed: "100", ours: "150 150@25", tip: "150@25", now: "150@25", was: "100@25", byGitlatch: true},
		{name: "a person's rollout beside a level of ours", agreed: "100@25", ours: "100@25 200@25", tip: "200@90", now: "200@90", was: "200@25", byGitlatch: true},
		{name: "a record that was broken in between", agreed: "100", ours: "? ?", tip: "150", now: "150", was: "100"},
		{name: "a record that is broken", agreed: "100", tip: "?", now: "100", was: "100"},
		{name: "ours, broken after", agreed: "100", ours: "100 200", tip: "?", now: "200", was: "200", byGitlatch: true},
		{name: "ours after an edit, broken after an edit", agreed: "100", ours: "150 150, 300 300", tip: "?", now: "300", was: "150"},
		{name: "what was broken when agreed, mended as it was", agreed: "?", tip: "100", now: "100", was: "-"},
		{name: "merged", agreed: "100", merged: "100 200", tip: "200", now: "200", was: "200", byGitlatch: true},
		{name: "merged and edited", agreed: "100", merged: "100 200", tip: "250", now: "250", was: "100"},
		{name: "merged, updated against its base", agreed: "-", merged: "- 5, - 10", tip: "10", now: "10", was: "10", byGitlatch: true},
		{name: "merged, updated on itself", agreed: "-", merged: "- 5, 5 10", tip: "10", now: "10", was: "10", byGitlatch: true},
		{name: "reverted to what was once merged", agreed: "100", ours: "100 200", merged: "50 100", tip: "100", now: "100", was: "200", byGitlatch: true},
		{name: "not merged", agreed: "100", merged: "100 200", tip: "100", now: "100", was: "100"},
		{name: "a merged level beside a person's rollout", agreed: "100@25", merged: "100@25 200@25", tip: "200@90", now: "200@90", was: "200@25", byGitlatch: true},
	} {
		p := ledger.Past{Agreed: held(t, c.agreed), Tip: held(t, c.tip)}
		if c.agreed == "?" {
			p.Agreed = ledger.Holding{}
		}
		for step := range strings.SplitSeq(c.ours, ", ") {
			if before, after, ok := strings.Cut(step, " "); ok {
				p.Steps = append(p.Steps, ledger.Step{Before: held(t, before), After: held(t, after)})
			}
		}
		for change := range strings.SplitSeq(c.merged, ", ") {
			if from, to, ok := strings.Cut(change, " "); ok {
				p.Merged = append(p.Merged, checkpoint.Change{ID: web, From: entry(t, from), To: entry(t, to)})
			}
		}
		got := p.Judge()
		want := ledger.Change{ID: web, Agreed: entry(t, strings.ReplaceAll(c.agreed, "?", "-")), Now: entry(t, c.now), WithoutUser: entry(t, c.was), Ours: c.byGitlatch}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, want)
		}
	}
}

// A second, slow implementation: it lists all changes of a history one by one, and
// reads the list from the end.
func TestTheLastChangeCounts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func() string { return []string{"-", "100", "200", "100@25", "200@25", "100@50"}[r.IntN(6)] }
		type write struct {
			text   string
			person bool
		}
		agreed := pick()
		at, past := agreed, ledger.Past{Agreed: held(t, agreed)}
		var writes []write
		persons := func() {
			if r.IntN(2) == 0 {
				at = pick()
			}
			writes = append(writes, write{at, true})
		}
		for range r.IntN(4) {
			persons()
			step := ledger.Step{Before: held(t, at)}
			at = pick()
			step.After = held(t, at)
			writes = append(writes, write{at, false})
			past.Steps = append(past.Steps, step)
		}
		persons()
		past.Tip = held(t, at)

		var levelWas, rolloutWas checkpoint.Entry
		for i, of := range []func(checkpoint.Entry) checkpoint.Entry{
			func(e checkpoint.Entry) checkpoint.Entry { return e.WithRollout(checkpoint.Rollout{}) },
			func(e checkpoint.Entry) checkpoint.Entry { return checkpoint.Entry{Rollout: e.Rollout} },
		} {
			was := of(entry(t, at))
			for n := len(writes) - 1; n >= 0; n-- {
				before := agreed
				if n > 0 {
					before = writes[n-1].text
				}
				if of(entry(t, before)) != of(entry(t, writes[n].text)) {
					if writes[n].person {
						was = of(entry(t, before))
					}
					break
				}
			}
			if i == 0 {
				levelWas = was
			} else {
				rolloutWas = was
			}
		}
		want := levelWas.WithRollout(rolloutWas.Rollout)
		got := past.Judge()
		if len(got) == 0 && want.IsZero() && at == "-" {
			continue
		}
		if len(got) != 1 || got[0].WithoutUser != want || got[0].Now != entry(t, at) {
			t.Fatalf("seed %d: agreed %s, %v: %+v, want it to have been %+v", seed, agreed, writes, got, want)
		}
	}
}

func TestTrailersAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	by := ledger.Trailers{Site: "prod", Intent: "2-0123456789abcdef", Base: strings.Repeat("1", 40),
		Surges: []ledger.Surge{{ID: web, Need: 3000}}}
	for _, message := range []string{
		"latch(prod): shop/web 3 -> 5000\n\nshop/deployment/web 3 -> 5000: because\n\n" + by.String(),
		"latch: squashed (#12)\n\n* latch(prod): shop/web 3 -> 5000\n\n" + by.String() + "\nCo-authored-by: A <a@example.com>\n",
		strings.ReplaceAll("latch\n\n"+by.String(), "\n", "\r\n"),
	} {
		if got := ledger.ReadTrailers(message); fmt.Sprint(got) != fmt.Sprint(by) {
			t.Errorf("%q is read as %+v, want %+v", message, got, by)
		}
	}
	for message, want := range map[string]string{
		"fix": "", "see Gitlatch-Site: prod": "", "a\n\nGitlatch-Surge: nonsense 5\n": "",
		"doctor\n\nGitlatch-Site: prod\n": "prod",
	} {
		got := ledger.ReadTrailers(message)
		if got.Site != want || got.Pushed("prod") || got.Pushed("") || len(got.Surges) > 0 {
			t.Errorf("%q is read as %+v", message, got)
		}
	}
}

// A commit of gitlatch makes the changes that its message lists. A commit that copies
// the message elsewhere, or to other content, is not gitlatch's.
func TestACopyOfAMessageIsNotOurs(t *testing.T) {
	t.Parallel()
	raise := []checkpoint.Change{{ID: web, From: checkpoint.Entry{Replicas: 100}, To: checkpoint.Entry{Replicas: 200}}}
	more := slices.Clone(raise)
	more[0].To.Replicas = 300
	by := ledger.Trailers{Site: "prod", Intent: ledger.Intent("prod", "a", raise)}
	other := by
	other.Site = "stage"
	for name, c := range map[string]struct {
		by      ledger.Trailers
		base    string
		changes []checkpoint.Change
		want    bool
	}{
		"as pushed":                  {by, "a", raise, true},
		"picked onto another commit": {by, "b", raise, false},
		"with another level":         {by, "a", more, false},
		"with nothing":               {by, "a", nil, false},
		"for another site":           {other, "a", raise, false},
		"with no hash":               {ledger.Trailers{Site: "prod", Intent: "0"}, "a", raise, false},
	} {
		if got := c.by.Verify(c.base, c.changes); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
