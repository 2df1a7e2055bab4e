package tick_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
)

// A host accepts the branch and refuses the pull request. The next tick opens the pull request
// for the same commit.
func TestAPullRequestThatTheHostRefusesOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	w.Host, w.Propose = true, true
	w.scale("shop/web", 87)
	w.ticks(1)
	report, err := w.Tick(func(t *tick.Tick) { t.Proposals = refuser{t.Proposals} })
	if err != nil || report.Err() == nil || !strings.Contains(report.Err().Error(), "no pull requests today") {
		t.Errorf("error %v, problem %v", err, report.Err())
	}
	const fix = "let the identity of gitlatch open, edit and close pull requests"
	if len(report.Alerts) != 1 || report.Alerts[0].Fix != fix {
		t.Errorf("the alerts are %+v, want one with the remedy %q", report.Alerts, fix)
	}
	head := w.head(t).Proposal
	if head == nil || w.openProposal() != nil {
		t.Fatalf("the state has the proposal %+v, the host %+v", head, w.openProposal())
	}
	w.Now = w.Now.Add(period)
	w.ticks(1)
	open := w.openProposal()
	if open == nil || open.Head != head.Head {
		t.Fatalf("the proposal is %+v, want one with the head %s", open, head.Head)
	}
}

// The template of the policy is also for the commit and the title of a pull request. Merged
// by any method, its changes are gitlatch's.
func TestTheSubjectOfAPullRequest(t *testing.T) {
	t.Parallel()
	for _, method := range []repomem.Method{repomem.MergeCommit, repomem.Squash, repomem.Rebase} {
		w := newWorld(map[string]string{"gitlatch.yaml": latching + "commit: {subject: \"chore(levels): {{.Changes}} in {{.Site}}\"}\n"})
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.ticks(2)
		const want = "chore(levels): shop/web new -> 100 in " + site
		open := w.openProposal()
		log, _, err := w.Repository.History(t.Context(), open.Head, "", 1)
		must(t, err)
		title, _, _ := w.Repository.Words(open.ID)
		if title != want || !strings.HasPrefix(log[0].Message, want+"\n") {
			t.Errorf("the title is %q, and the message of the commit is %q", title, log[0].Message)
		}
		w.mergeProposal(method)
		w.ticks(2)
		if l := w.latches(t)[id("shop/web")]; l.Declared.Replicas != 100 || !l.GraceUntil.IsZero() {
			t.Errorf("merged by %d: the latch is %+v", method, l)
		}
	}
}

// refuser is a host that opens no pull request.
type refuser struct{ repo.Proposals }

func (refuser) Ensure(context.Context, repo.Draft) (repo.Proposal, error) {
	return repo.Proposal{}, &repo.RefusedError{What: "pull request", Why: "no pull requests today: the bot is not allowed to"}
}

// The notice of a declined proposal counts the workloads and the checkpoint files that now
// have an edit grace period.
func TestTheNoticeOfADeclinedProposal(t *testing.T) {
	t.Parallel()
	merged := func(w *world) {
		w.scale("shop/web", 87)
		w.ticks(2)
		w.mergeProposal(repomem.MergeCommit)
		w.ticks(1)
	}
	for want, play := range map[string]func(w *world){
		"edit grace period for its 2 workloads until": func(w *world) {
			w.scale("shop/web", 87)
			w.scale("pay/ledger", 12)
			w.ticks(2)
		},
		"edit grace period for its 1 restored checkpoint file until": func(w *world) {
			merged(w)
			w.typeTo("shop/web", 150)
			w.ticks(1)
		},
		"edit grace period for its 1 workload and 1 restored checkpoint file until": func(w *world) {
			merged(w)
			w.typeTo("shop/web", 150)
			w.scale("pay/ledger", 12)
			w.ticks(2)
		},
	} {
		w := newWorld(map[string]string{"gitlatch.yaml": latching})
		w.Host, w.Propose = true, true
		play(w)
		w.Repository.Decline(w.openProposal().ID)
		report, err := w.Tick()
		declined := slices.IndexFunc(report.Notices, func(n notes.Notice) bool { return n.Kind == notes.Declined })
		if err != nil || declined < 0 || !strings.Contains(report.Notices[declined].Text, want) {
			t.Errorf("want %q, error %v, notices %v", want, err, report.Notices)
		}
	}
}

// A user made the branch of proposals from the base, whose tip is a commit of gitlatch. It
// has no commit of another author, so the next tick proposes.
func TestABranchOfProposalsThatIsAtTheBase(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	w.scale("shop/web", 87)
	w.ticks(3)
	base, _, err := w.Repository.Heads(t.Context())
	must(t, err)
	w.Host, w.Propose = true, true
	w.Repository.Point("gitlatch/"+site, base)
	w.scale("shop/web", 187)
	w.ticks(1)
	report, err := w.Tick()
	must(t, errors.Join(err, report.Err()))
	if open := w.openProposal(); open == nil || open.Head == base {
		t.Errorf("the proposal is %+v", open)
	}
}

// A site's repository moved to a host without pull requests while one was open. gitlatch
// forgets the pull request, and commits its changes.
func TestAHostThatLostItsPullRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	w.Host, w.Propose = true, true
	w.scale("shop/web", 87)
	w.ticks(2)
	if w.openProposal() == nil {
		t.Fatal("no pull request is open")
	}
	w.Host, w.Propose = false, false
	w.ticks(3)
	if e := w.entries(t)[id("shop/web")]; e.Replicas != 100 || w.head(t).Proposal != nil {
		t.Errorf("git has the level %d, and the state has the proposal %+v", e.Replicas, w.head(t).Proposal)
	}
}
