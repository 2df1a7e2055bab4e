package publish

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The changes in a proposal depend on the workload's latch and on the decision for it;
// "from -> to", and the empty list without changes.
func TestWhatPeopleAreAskedFor(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	at := func(n int32) checkpoint.Entry { return checkpoint.Entry{Replicas: n} }
	quiet := latch.Latch{ID: web, Declared: at(100)}
	proposed, review, retires, yields := quiet.Proposing(at(200), false), quiet.Proposing(at(2000), true), quiet.Proposing(at(0), true), quiet.Proposing(at(200), false)
	yields.GraceUntil = now.Add(time.Hour)
	scaled, paused, optedOut := yields, proposed, proposed
	scaled.GraceScale = true
	paused.PausedUntil = now.Add(time.Second)
	optedOut.OptedOut = true
	ends := proposed
	ends.PausedUntil, ends.GraceUntil = now, now
	decided := func(v policy.Verdict, to int32) []policy.Decision {
		return []policy.Decision{{ID: web, Verdict: v, To: at(to)}}
	}
	for _, c := range []struct {
		says      string
		latch     latch.Latch
		decisions []policy.Decision
		all       bool
		want      string
	}{
		{"a crossing, where all are asked for", quiet, decided(policy.Cross, 200), true, "100 -> 200"},
		{"a crossing, where it is committed", quiet, decided(policy.Cross, 200), false, ""},
		{"a review", quiet, decided(policy.Review, 2000), false, "100 -> 2000"},
		{"proposed before, and quiet", proposed, nil, true, "100 -> 200"},
		{"proposed before, and crossed again", proposed, decided(policy.Cross, 500), true, "100 -> 500"},
		{"a review, which is not asked for less", review, decided(policy.Review, 1000), false, "100 -> 2000"},
		{"a review that is needed no more", review, nil, false, ""},
		{"a retirement that waits", retires, nil, true, "100 -> 0"},
		{"proposed, and a person has the word", yields, decided(policy.Cross, 500), true, ""},
		{"proposed, and an edit grace period of the level alone", scaled, decided(policy.Cross, 500), true, "100 -> 500"},
		{"no decision in an edit grace period of the level alone", scaled, nil, true, ""},
		{"proposed, and paused", paused, decided(policy.Cross, 500), true, ""},
		{"proposed, and opted out", optedOut, decided(policy.Cross, 500), true, ""},
		{"proposed, and a pause ends now", ends, nil, true, "100 -> 200"},
		{"proposed as it is declared", latch.Latch{ID: web, Declared: at(200), Proposal: &latch.Offer{Entry: at(200)}}, nil, true, ""},
	} {
		got := ""
		for _, change := range wanted(latch.LatchesOf(map[workload.ID]latch.Latch{web: c.latch}), c.decisions, c.all, now) {
			got += fmt.Sprintf("%d -> %d", change.From.Replicas, change.To.Replicas)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.says, got, c.want)
		}
	}
	if all := read.Proposed(latch.LatchesOf(map[workload.ID]latch.Latch{web: retires})); !slices.Equal(all, []checkpoint.Change{{ID: web, From: at(100)}}) {
		t.Errorf("a retirement is proposed as %+v", all)
	}
}

// A review that is not asked for less has the bounds of its last decision, unless the decision
// asks for less.
func TestBoundsOfAReviewThatIsNotAskedForLess(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	at := func(n, most int32) checkpoint.Entry { return checkpoint.Entry{Replicas: n, Min: 1, Max: most} }
	review := latch.Latch{ID: web, Declared: at(100, 200)}.Proposing(at(2000, 3000), true)
	for _, c := range []struct{ asked, want checkpoint.Entry }{
		{at(1000, 4000), at(2000, 3000)},
		{at(2000, 4000), at(2000, 4000)},
		{at(5000, 6000), at(5000, 6000)},
	} {
		decisions := []policy.Decision{{ID: web, Verdict: policy.Review, To: c.asked}}
		got := wanted(latch.LatchesOf(map[workload.ID]latch.Latch{web: review}), decisions, false, time.Time{})
		if len(got) != 1 || got[0].To != c.want {
			t.Errorf("asked for %+v: %+v, want %+v", c.asked, got, c.want)
		}
	}
}

// A change can be of the replicas, of the rollout, or of both. The removal of an entry with
// both counts as one of the replicas.
func TestReadingsOfAChange(t *testing.T) {
	t.Parallel()
	rolling := checkpoint.Rollout{Milestone: 50}
	scale, both, rollout := checkpoint.Entry{Replicas: 100}, checkpoint.Entry{Replicas: 200, Rollout: rolling}, checkpoint.Entry{Rollout: rolling}
	for _, c := range []struct {
		says     string
		from, to checkpoint.Entry
		want     []policy.Reading
	}{
		{"replicas", scale, checkpoint.Entry{Replicas: 200}, []policy.Reading{policy.ReadingScale}},
		{"a rollout begins", scale, scale.WithRollout(rolling), []policy.Reading{policy.ReadingRollout}},
		{"a rollout ends", both, both.WithRollout(checkpoint.Rollout{}), []policy.Reading{policy.ReadingRollout}},
		{"replicas and a rollout", scale, both, []policy.Reading{policy.ReadingScale, policy.ReadingRollout}},
		{"an entry without replicas", checkpoint.Entry{}, rollout, []policy.Reading{policy.ReadingRollout}},
		{"its removal", rollout, checkpoint.Entry{}, []policy.Reading{policy.ReadingRollout}},
		{"the removal of both", both, checkpoint.Entry{}, []policy.Reading{policy.ReadingScale}},
	} {
		change := checkpoint.Change{From: c.from, To: c.to}
		got := lists.Map(crossings([]checkpoint.Change{change}, nil), func(d policy.Decision) policy.Reading { return d.Reading })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.says, got, c.want)
		}
	}
}
