package tick_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/tick"
)

var errRead = errors.New("503 Service Unavailable")

// unopened is a proposal that the host did not open.
var unopened = scene{"proposal not opened", func(w *world) {
	w.Host, w.Propose = true, true
	w.scale("shop/web", 87)
	w.ticks(1)
	_, _ = w.Tick(func(t *tick.Tick) { t.Proposals = refuser{t.Proposals} })
	w.Now = w.Now.Add(period)
}}

// TestAFailureOfEachRead fails each read of a tick from the repository and from the host of
// proposals in turn. The tick reports the failure. Two calm ticks later the state equals the
// state without a failure.
func TestAFailureOfEachRead(t *testing.T) {
	first := scene{"first tick", func(*world) {}}
	removal := scene{"entries removed", func(w *world) {
		for _, name := range []string{"shop/web", "shop/api", "shop/jobs", "pay/ledger"} {
			w.scale(name, 87)
		}
		w.ticks(3)
		w.Repository.Edit("elsewhere", w.Now, map[string][]byte{"app.yaml": []byte("x")})
		w.Repository.Edit("clean up", w.Now, map[string][]byte{checkpoint.RecordPath(site, "shop"): nil})
		w.Repository.Edit("elsewhere", w.Now, map[string][]byte{"app.yaml": []byte("y")})
	}}
	for _, s := range append(slices.Clone(scenes), first, removal, unopened) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			calm := newWorld(map[string]string{"gitlatch.yaml": latching})
			s.play(calm)
			calm.ticks(3)
			for read := 1; ; read++ {
				w := newWorld(map[string]string{"gitlatch.yaml": latching})
				s.play(w)
				left := read
				report, err := w.Tick(func(t *tick.Tick) {
					t.Repository = failing{t.Repository, &left}
					if t.Proposals != nil {
						t.Proposals = failingHost{t.Proposals, &left}
					}
				})
				if left > 0 { // the tick has fewer reads
					return
				}
				if !errors.Is(err, errRead) && !errors.Is(report.Err(), errRead) {
					t.Errorf("read %d failed, and the tick has error %v and problems %v", read, err, report.Err())
				}
				w.Now = w.Now.Add(period)
				w.ticks(2)
				if got, want := w.outcome(t), calm.outcome(t); got != want {
					t.Errorf("read %d failed:\n%s\nundisturbed:\n%s", read, got, want)
				}
			}
		})
	}
}

// failing is a repository whose read fails if it is the last of left.
type failing struct {
	repo.Repository
	left *int
}

// fails counts a read.
func fails(left *int) error {
	*left--
	if *left == 0 {
		return errRead
	}
	return nil
}

func (r failing) Heads(ctx context.Context, also ...string) (string, []string, error) {
	if err := fails(r.left); err != nil {
		return "", nil, err
	}
	return r.Repository.Heads(ctx, also...)
}

func (r failing) Read(ctx context.Context, id string, known map[string]string, paths ...string) (map[string]repo.Object, error) {
	if err := fails(r.left); err != nil {
		return nil, err
	}
	return r.Repository.Read(ctx, id, known, paths...)
}

func (r failing) History(ctx context.Context, id, until string, limit int) ([]repo.LogEntry, bool, error) {
	if err := fails(r.left); err != nil {
		return nil, false, err
	}
	return r.Repository.History(ctx, id, until, limit)
}

func (r failing) Between(ctx context.Context, base, tip string) (repo.Window, error) {
	if err := fails(r.left); err != nil {
		return repo.Window{}, err
	}
	return r.Repository.Between(ctx, base, tip)
}

// failingHost is a host of proposals like failing.
type failingHost struct {
	repo.Proposals
	left *int
}

func (h failingHost) Find(ctx context.Context, branch string) (*repo.Proposal, error) {
	if err := fails(h.left); err != nil {
		return nil, err
	}
	return h.Proposals.Find(ctx, branch)
}

// A host may delete the branch of a merged proposal and its commit. The changes of the latches
// then count as merged, and not as a user's edit.
func TestAMergedProposalWhoseCommitIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	w.Host, w.Propose = true, true
	w.scale("shop/web", 87)
	w.ticks(2)
	head := w.openProposal().Head
	w.mergeProposal(repomem.Squash)
	report, err := w.Tick(func(t *tick.Tick) { t.Repository = deleted{t.Repository, head} })
	if err != nil || report.Err() != nil {
		t.Fatalf("error %v, problems %v", err, report.Err())
	}
	l := w.latches(t)[id("shop/web")]
	if l.Declared.Replicas != 100 || l.Proposal != nil || !l.GraceUntil.IsZero() {
		t.Errorf("the latch is %+v, notices %v", l, report.Notices)
	}
	w.Now = w.Now.Add(period)
	w.ticks(1)
}

// deleted is a repository without the commit head and its branch.
type deleted struct {
	repo.Repository
	head string
}

func (r deleted) Heads(ctx context.Context, also ...string) (string, []string, error) {
	base, others, err := r.Repository.Heads(ctx, also...)
	for i, head := range others {
		if head == r.head {
			others[i] = ""
		}
	}
	return base, others, err
}

func (r deleted) History(ctx context.Context, id, until string, limit int) ([]repo.LogEntry, bool, error) {
	if id == r.head {
		return nil, false, errRead
	}
	return r.Repository.History(ctx, id, until, limit)
}

// A tick needs the commit of a proposal more than once if a dead tick pushed it, but reads
// it once.
func TestTheCommitOfAProposalIsReadOnce(t *testing.T) {
	t.Parallel()
	seen := false
	for effect := 1; !seen; effect++ {
		w := newWorld(map[string]string{"gitlatch.yaml": latching})
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.ticks(2)
		w.scale("shop/web", 180)
		w.ticks(1)
		w.KillBefore = effect
		if _, err := w.Tick(); err == nil {
			t.Fatal("no death left the commit of the proposal unknown")
		}
		w.KillBefore = 0
		w.Now = w.Now.Add(period)
		reads := map[string]int{}
		if _, err := w.Tick(func(t *tick.Tick) { t.Repository = counting{t.Repository, reads} }); err != nil {
			t.Fatal(err)
		}
		for id, n := range reads {
			seen = true
			if n != 1 {
				t.Errorf("killed before effect %d, the next tick read commit %s %d times, want once", effect, id, n)
			}
		}
	}
}

// counting is a repository that counts the reads of each commit's history.
type counting struct {
	repo.Repository
	reads map[string]int
}

func (r counting) History(ctx context.Context, id, until string, limit int) ([]repo.LogEntry, bool, error) {
	r.reads[id]++
	return r.Repository.History(ctx, id, until, limit)
}
