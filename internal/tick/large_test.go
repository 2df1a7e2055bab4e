//go:build aws

package tick_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// largest is a site of 50,000 workloads in 100 namespaces, with realistic sizes.
func largest() *world {
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	for i := range 50_000 {
		id := workload.ID{Namespace: fmt.Sprintf("team-%d", i%100), Kind: workload.Deployment, Name: fmt.Sprintf("service-%x-%x", i, i*7919)}
		pods := int32(3 + i%97)
		w.Fleet[id] = workload.Sample{ID: id, Rollout: &workload.Rollout{}, Scale: &workload.Scale{
			Desired: pods, Ready: pods, Driver: workload.DrivenByHPA, Min: 1, Max: 500,
		}}
	}
	return w
}

// scaled gives every workload a scale.
func (w *world) scaled(to func(int32) int32) {
	for id, s := range w.Fleet {
		scale := *s.Scale
		scale.Desired = to(scale.Desired)
		scale.Ready = scale.Desired
		s.Scale = &scale
		w.Fleet[id] = s
	}
}

// For any number of level changes, the message fits CodeCommit's limit. For any number of
// workloads in a mass drop, the head fits into one item of DynamoDB.
func TestTheLargestSite(t *testing.T) {
	t.Parallel()
	tables := dynalite.Start(t)
	w := largest()
	run := func(dropping bool) (message string) {
		t.Helper()
		report, err := w.Tick()
		must(t, err)
		must(t, report.Err())
		if got := report.Stop.Reason == policy.ReasonMassDrop; got != dropping {
			t.Fatalf("the tick stops lowering because of %q", report.Stop.Reason)
		}
		data, err := latch.Encode(w.head(t))
		must(t, err)
		if t.Logf("%s: the head has %d bytes", w.Now.Format(time.TimeOnly), len(data)); len(data) > 64<<10 {
			t.Errorf("the head has %d bytes", len(data))
		}
		w.Now = w.Now.Add(period)
		if report.Commit == nil {
			return ""
		}
		return report.Commit.Message
	}
	run(false)
	message := run(false)
	if len(message) == 0 || len(message) > 256<<10 {
		t.Errorf("the message of 50,000 crossings has %d bytes", len(message))
	}
	if n := len(w.entries(t)); n != 50_000 {
		t.Errorf("git holds %d entries", n)
	}
	w.scaled(func(pods int32) int32 { return pods / 3 })
	for range 2 {
		run(true)
	}
	store := dynamo.Open(dynamo.Options{Table: tables.Table(t, "pk", "sk"), Client: tables.Client()})
	lease, err := store.Acquire(t.Context(), site, "owner", w.Now, w.Now.Add(period))
	must(t, err)
	if err := store.Save(t.Context(), lease, w.head(t), nil, nil); err != nil {
		t.Errorf("DynamoDB refuses the head: %v", err)
	}
	w.scaled(func(pods int32) int32 { return pods*3 + 20 })
	run(false)
}

// narrow is a repository that accepts only commits of a few files.
type narrow struct {
	repo.Repository
	most int
}

func (n narrow) Commit(ctx context.Context, c repo.Commit) (string, error) {
	if len(c.Files) > n.most {
		return "", &repo.RefusedError{Why: "it changes more files than it takes in one commit", TooLarge: true}
	}
	return n.Repository.Commit(ctx, c)
}

// If a host refuses a commit as too large, gitlatch makes several, one in each tick. In
// the end it reports an error if a single namespace is too large.
func TestACommitThatIsTooLargeLandsInParts(t *testing.T) {
	t.Parallel()
	for most, want := range map[int][]int{99: {0, 5, 5, 5}, 4: {0, 3, 5, 5}, 2: {0, 1, 3, 5}, 1: {0, 0, 0, 0}} {
		w := newWorld(map[string]string{"gitlatch.yaml": latching})
		for i := range 5 {
			id := workload.ID{Namespace: fmt.Sprintf("team-%d", i), Kind: workload.Deployment, Name: "web"}
			w.Fleet[id] = workload.Sample{ID: id, Rollout: &workload.Rollout{}, Scale: &workload.Scale{Desired: 20, Ready: 20, Driver: workload.DrivenByHPA}}
		}
		for run, entries := range want {
			report, err := w.Tick(func(t *tick.Tick) { t.Repository = narrow{t.Repository, most} })
			must(t, err)
			if refused := report.Err() != nil; refused != (most == 1 && run > 0) {
				t.Errorf("%d files, tick %d: %v", most, run, report.Err())
			}
			if n := len(w.entries(t)); n != entries {
				t.Errorf("%d files, tick %d: git holds %d entries, want %d", most, run, n, entries)
			}
			w.Now = w.Now.Add(period)
		}
	}
}

// A formatter changed more checkpoint files than a host accepts in one commit. The restored
// files wait, so a raise still lands.
func TestRestoredFilesDoNotBlockARaise(t *testing.T) {
	t.Parallel()
	w := teams(8)
	w.tickAt(t, 99)
	w.tickAt(t, 99)
	files := map[string][]byte{}
	tip, _, err := w.Repository.Heads(t.Context())
	must(t, err)
	for path, text := range w.Repository.Show(tip) {
		if strings.HasSuffix(path, ".levels.yaml") {
			files[path] = []byte(text + "# formatted\n")
		}
	}
	w.Repository.Edit("formatter", w.Now, files)
	raised := workload.ID{Namespace: "team-003", Kind: workload.Deployment, Name: "web"}
	w.Fleet[raised] = workload.Sample{ID: raised, Rollout: &workload.Rollout{}, Scale: &workload.Scale{Desired: 45, Ready: 45, Driver: workload.DrivenByHPA}}
	for range 3 {
		w.tickAt(t, 4)
	}
	if got := w.entries(t)[raised].Replicas; len(files) != 8 || got != 50 {
		t.Errorf("%d files are formatted, and git has the level %d, want 50", len(files), got)
	}
}

// teams returns a world with n namespaces of one workload each.
func teams(n int) *world {
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	for i := range n {
		w.team(i)
	}
	return w
}

func (w *world) team(i int) {
	id := workload.ID{Namespace: fmt.Sprintf("team-%03d", i), Kind: workload.Deployment, Name: "web"}
	w.Fleet[id] = workload.Sample{ID: id, Rollout: &workload.Rollout{}, Scale: &workload.Scale{Desired: 20, Ready: 20, Driver: workload.DrivenByHPA}}
}

// tickAt runs a tick on a host that accepts at most the given number of files per commit.
func (w *world) tickAt(t *testing.T, most int) tick.Report {
	t.Helper()
	report, err := w.Tick(func(t *tick.Tick) { t.Repository = narrow{t.Repository, most} })
	must(t, err)
	w.Now = w.Now.Add(period)
	return report
}

// proposed counts the changes of the open proposal.
func (w *world) proposed(t *testing.T) int {
	t.Helper()
	if p := w.openProposal(); p == nil {
		return 0
	}
	return len(read.Proposed(latch.LatchesOf(w.latches(t))))
}

// Halving does not count as an attempt that lost a race: of 100 namespaces, one lands.
func TestHalvingIsNoAttempt(t *testing.T) {
	t.Parallel()
	for _, proposes := range []bool{false, true} {
		w := teams(100)
		w.Host, w.Propose = proposes, proposes
		w.tickAt(t, 2)
		report := w.tickAt(t, 2)
		if n := len(w.entries(t)) + w.proposed(t); report.Err() != nil || n != 1 {
			t.Errorf("with proposals %v: %d entries, %v", proposes, n, report.Err())
		}
	}
}

// If a host refuses a complete proposal as too large for one commit, gitlatch proposes
// a part. A part that fits is not changed, and the rest is proposed once the part is
// merged.
func TestAProposalThatIsTooLargeIsMadeInParts(t *testing.T) {
	t.Parallel()
	for most, want := range map[int][]int{99: {0, 5, 5}, 4: {0, 3, 3}, 5: {0, 3, 4}, 2: {0, 1, 1}, 1: {0, 0, 0}} {
		w := teams(5)
		w.Host, w.Propose = true, true
		for run, n := range want {
			report := w.tickAt(t, most)
			if refused := report.Err() != nil; refused != (most == 1 && run > 0) {
				t.Errorf("%d files, tick %d: %v", most, run, report.Err())
			}
			if got := w.proposed(t); got != n {
				t.Errorf("%d files, tick %d: %d changes are proposed, want %d", most, run, got, n)
			}
		}
	}

	w := teams(5)
	w.Host, w.Propose = true, true
	w.tickAt(t, 4)
	w.tickAt(t, 4)
	before := w.head(t)
	w.tickAt(t, 4)
	if after := w.head(t); after.Proposal.Head != before.Proposal.Head || after.Budget.Tokens < before.Budget.Tokens {
		t.Errorf("a part that fits was pushed again: %+v, then %+v", before.Proposal, after.Proposal)
	}
	w.team(5)
	w.team(6)
	w.tickAt(t, 4)
	w.tickAt(t, 4)
	if after := w.head(t); after.Proposal.Head != before.Proposal.Head {
		t.Errorf("new workloads took the place of some that were proposed")
	}
	for _, n := range []int{3, 7} {
		w.mergeProposal(repomem.Squash)
		w.tickAt(t, 4) // saves the merge
		if got := len(w.entries(t)); got != n {
			t.Errorf("git has %d entries, want %d", got, n)
		}
		w.tickAt(t, 4) // proposes the rest
	}
	w.tickAt(t, 4)
	if p := w.openProposal(); p != nil {
		t.Errorf("a proposal is open: %+v", p)
	}
}

// A part of a proposal waits for a user like a complete one.
func TestAPartOfAProposalWaitsForAUser(t *testing.T) {
	t.Parallel()
	w := teams(5)
	w.Host, w.Propose = true, true
	for range int(25*time.Hour/period) + 2 {
		w.tickAt(t, 4)
	}
	open := w.head(t).Open
	if !slices.ContainsFunc(open, func(o alert.Open) bool {
		return o.Kind == alert.Blocked && strings.Contains(o.Text, "has waited for a merge since")
	}) {
		t.Errorf("after a day, %+v", open)
	}
}
