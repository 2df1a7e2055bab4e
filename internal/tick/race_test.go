package tick_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
)

// A tick whose push loses the race six times in a row waits longer before each attempt, and
// ends with a problem. The next tick publishes the levels.
func TestAPushThatLosesEveryRace(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	raises(w)
	lost := 0
	var rival func()
	rival = func() {
		lost++
		w.Repository.Edit("work", w.Now, map[string][]byte{"app.yaml": []byte(strings.Repeat("x", lost))})
		w.Rival = rival
	}
	w.Rival = rival
	var waits []time.Duration
	w.Now = w.Now.Add(period)
	report, err := w.Tick(func(t *tick.Tick) {
		t.Wait = func(_ context.Context, d time.Duration) { waits = append(waits, d) }
	})
	w.Rival = nil
	if err != nil || report.Commit != nil || report.Err() == nil || !strings.Contains(report.Err().Error(), "publish: the branch moved 6 times in a row") {
		t.Errorf("commit %+v, error %v, problem %v", report.Commit, err, report.Err())
	}
	const unit = 200 * time.Millisecond
	if want := []time.Duration{unit, 2 * unit, 3 * unit, 4 * unit, 5 * unit}; lost != 6 || !slices.Equal(waits, want) {
		t.Errorf("it lost %d races and waited %v, want %v", lost, waits, want)
	}
	w.ticks(1)
	if e := w.entries(t)[id("shop/web")]; e.Replicas != 200 {
		t.Errorf("the next tick left git at %d", e.Replicas)
	}
}

// A user pushes to the branch of the proposal after a tick read it. The tick
// leaves the branch and the proposal, and the next tick reports that the user took it over.
func TestAUserPushesToAProposalDuringATick(t *testing.T) {
	t.Parallel()
	branch := "gitlatch/" + site
	for _, c := range []struct {
		name  string
		pods  int32 // at the tick that the user disturbs
		races func(w *world, push func()) func(*tick.Tick)
		kinds []notes.Kind
	}{
		{"before its push", 900, func(w *world, push func()) func(*tick.Tick) {
			w.Rival = push
			return func(*tick.Tick) {}
		}, []notes.Kind{notes.Moved}},
		{"before its closing", 80, func(_ *world, push func()) func(*tick.Tick) {
			return func(t *tick.Tick) { t.Proposals = closer{t.Proposals, push} }
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies: [{name: default, match: {}, hold: {down: 5m}}]\n"})
			proposes(w)
			if w.openProposal() == nil {
				t.Fatal("it proposes nothing")
			}
			w.scale("shop/web", c.pods)
			disturb := c.races(w, func() { w.Repository.Push(branch, "taken over", w.Now, map[string][]byte{"mine.yaml": []byte("mine")}) })
			var report tick.Report
			for range 4 {
				w.Now = w.Now.Add(period)
				var err error
				report, err = w.Tick(disturb)
				if err != nil {
					t.Fatal(err)
				}
				if w.Repository.FilesAt(branch)["mine.yaml"] != "" {
					break
				}
			}
			var kinds []notes.Kind
			for _, n := range report.Notices {
				kinds = append(kinds, n.Kind)
			}
			if open := w.openProposal(); open == nil || w.Repository.FilesAt(branch)["mine.yaml"] != "mine" || !slices.Equal(kinds, c.kinds) {
				t.Errorf("the proposal is %+v, the branch has %v, notices %v", open, sortedKeys(w.Repository.FilesAt(branch)), report.Notices)
			}
			w.Now = w.Now.Add(period)
			report, err := w.Tick()
			if err != nil || !slices.ContainsFunc(report.Notices, func(n notes.Notice) bool { return n.Kind == notes.Declined }) {
				t.Errorf("the next tick: notices %v, error %v", report.Notices, err)
			}
		})
	}
}

// closer is a host on which something happens before the first closing of a proposal.
type closer struct {
	repo.Proposals
	before func()
}

func (c closer) Close(ctx context.Context, closing repo.Proposal, why string) error {
	c.before()
	return c.Proposals.Close(ctx, closing, why)
}
