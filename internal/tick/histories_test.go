package tick_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var histories = flag.Int("histories", 30, "random histories of a site that are played")

// TestRandomHistories plays random events on a site, including deaths of ticks, and
// then one calm tick. Afterwards, git and the latches agree, no intent remains, and
// every commit by gitlatch changed only gitlatch's files.
func TestRandomHistories(t *testing.T) {
	for seed := range *histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			w := newWorld(map[string]string{"gitlatch.yaml": latching + "policies: [{name: default, match: {}, hold: {down: 30m}}]\n", "app.yaml": "kind: App\n"})
			w.Host, w.Propose = seed%3 > 0, seed%3 > 1
			for range 150 {
				w.happen(r)
			}
			w.KillBefore, w.Rival, w.LostReply, w.Refuse, w.Unread = 0, nil, false, "", nil
			w.Now = w.Now.Add(period)
			w.ticks(2) // the first may have to wait: a tick accepts a rewritten branch at the second sample
			declared := map[workload.ID]checkpoint.Entry{}
			for id, l := range w.latches(t) {
				if l.Declared != (checkpoint.Entry{}) {
					declared[id] = l.Declared
				}
			}
			git := w.entries(t)
			if !maps.Equal(git, declared) {
				t.Errorf("git declares %v\nlatches hold %v", git, declared)
			}
			w.restoresText(t)
			if got := w.Repository.Files()["app.yaml"]; !strings.HasPrefix(got, "kind: App") {
				t.Errorf("app.yaml is now %q", got)
			}
		})
	}
}

// restoresText fails the test unless every checkpoint file has its canonical form, or a
// proposal that restores it is open, once the budget is full.
func (w *world) restoresText(t *testing.T) {
	t.Helper()
	w.Now = w.Now.Add(25 * time.Hour)
	w.ticks(1)
	report, err := w.Tick()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := w.Tree()
	if err != nil {
		t.Fatal(err)
	}
	head, asked := w.head(t), []string{}
	if head.Proposal != nil {
		for _, m := range head.Proposal.Repairs {
			asked = append(asked, m.Namespace)
		}
	}
	if stale := tree.Stale(); !slices.Equal(stale, asked) && report.Err() == nil {
		t.Errorf("the checkpoint files of %v have edited text, and %v are proposed", stale, asked)
	}
	if head.Agreed.Reread && report.Err() == nil {
		t.Error("the site is not at rest")
	}
}

// happen applies one random event to the world.
func (w *world) happen(r *rand.Rand) {
	who := []string{"shop/web", "shop/api", "pay/ledger"}[r.IntN(3)]
	switch r.IntN(24) {
	case 0:
		w.KillBefore = 1 + r.IntN(7)
	case 1:
		w.LostReply = true
	case 2:
		w.Rival = func() { w.setByHand(who, r) }
	case 3:
		w.setByHand(who, r)
	case 4:
		w.Person("opt out", func(e map[workload.ID]checkpoint.Entry) { delete(e, id(who)) }, id(who).Namespace)
	case 5:
		w.Repository.Edit("work", w.Now, map[string][]byte{"app.yaml": fmt.Appendf(nil, "kind: App # %d\n", r.Int())})
	case 6:
		w.Refuse = []string{"", "protected"}[r.IntN(2)]
	case 7:
		w.Unread = [][]workload.Unread{nil, {{Part: "deployments", Why: "forbidden"}}}[r.IntN(2)]
	case 8, 9, 10, 11:
		if _, runs := w.Fleet[id(who)]; !runs {
			w.scale(who, 40)
		}
		w.rolls(who, int32(r.IntN(100)), []string{"", "", "", "ProgressDeadlineExceeded"}[r.IntN(4)])
	default:
		w.scale(who, 1+int32(r.ExpFloat64()*100))
	}
	if w.Host && r.IntN(12) == 0 {
		switch r.IntN(4) {
		case 0:
			w.mergeProposal(repomem.Method(r.IntN(3)))
		case 1:
			if p := w.openProposal(); p != nil {
				w.Repository.Decline(p.ID)
			}
		case 2:
			if w.openProposal() == nil {
				break
			}
			w.Repository.Push("gitlatch/"+site, "theirs", w.Now, map[string][]byte{"theirs.yaml": []byte("x")})
		}
	}
	for range 1 + r.IntN(4) {
		w.Tick()
		w.KillBefore = 0
		w.Now = w.Now.Add(period)
	}
}

func (w *world) setByHand(who string, r *rand.Rand) {
	w.Person("by hand", func(e map[workload.ID]checkpoint.Entry) {
		e[id(who)] = checkpoint.Entry{Replicas: 1 + int32(r.IntN(300))}
	}, id(who).Namespace)
}

// setTo is a user's edit of a checkpoint file alone.
func (w *world) setTo(who string, replicas int32) {
	w.Person("by hand", func(e map[workload.ID]checkpoint.Entry) {
		e[id(who)] = checkpoint.Entry{Replicas: replicas, Min: 1, Max: 20000}
	}, id(who).Namespace)
}

// typeTo is like setTo, and leaves out the quotes of the numbers.
func (w *world) typeTo(who string, replicas int32) {
	w.setTo(who, replicas)
	path := checkpoint.RecordPath(w.Site, id(who).Namespace)
	typed := regexp.MustCompile(`: "(\d+)"`).ReplaceAllString(w.Repository.Files()[path], ": $1")
	w.Repository.Edit("by hand", w.Now, map[string][]byte{path: []byte(typed)})
}

func (w *world) scale(who string, pods int32) {
	w.Fleet[id(who)] = workload.Sample{ID: id(who), Rollout: &workload.Rollout{}, Scale: &workload.Scale{
		Desired: pods, Ready: pods, Driver: workload.DrivenByHPA, Min: 1, Max: 20000,
	}}
}

// rolls makes a workload roll from v1 to v2, with a percentage of its available pods
// from v2. failure is the failed condition, or "".
func (w *world) rolls(who string, percent int32, failure string) {
	s := w.Fleet[id(who)]
	desired := s.Scale.Desired
	updated := (percent*desired + 99) / 100
	s.Rollout = &workload.Rollout{InFlight: true, Desired: desired, Failure: failure, Templates: []workload.Template{
		{Hash: "v2", Desired: updated, Available: updated}, {Hash: "v1", Desired: desired - updated, Available: desired - updated},
	}}
	w.Fleet[id(who)] = s
}

func (w *world) openProposal() *repo.Proposal {
	p, err := w.Repository.Find(context.Background(), "gitlatch/"+site)
	if err != nil || p == nil || p.State != repo.ProposalOpen {
		return nil
	}
	return p
}

func (w *world) mergeProposal(by repomem.Method) {
	if p := w.openProposal(); p != nil {
		_, _ = w.Repository.Merge(p.ID, by, w.Now) // fails on a conflict
	}
}

// ticks runs calm ticks, a period apart.
func (w *world) ticks(n int) {
	for range n {
		if report, err := w.Tick(); err != nil {
			panic(fmt.Sprint(report, err))
		}
		w.Now = w.Now.Add(period)
	}
}

// outcome contains everything that must not depend on whether a tick died: the tree,
// the levels, the commits, and that no work remains.
func (w *world) outcome(t testing.TB) string {
	var b strings.Builder
	files := w.Repository.Files()
	for _, path := range sortedKeys(files) {
		fmt.Fprintf(&b, "%s: %q\n", path, files[path])
	}
	for _, l := range sortedLatches(w.latches(t)) {
		fmt.Fprintf(&b, "%s declared %+v proposed %+v rising %v falling %v opted out %v yields %v\n",
			l.ID, l.Declared, l.Proposed(), len(l.Up.Levels) > 0, l.Down.Running(), l.OptedOut, !l.GraceUntil.IsZero())
	}
	ours := 0
	for _, message := range w.Repository.Log() {
		if strings.Contains(message, "\nGitlatch-Intent: ") {
			ours++
		}
	}
	fmt.Fprintf(&b, "%d commits\n", ours)
	if p := w.openProposal(); p != nil {
		proposed := w.Repository.FilesAt("gitlatch/" + site)
		for _, path := range sortedKeys(proposed) {
			fmt.Fprintf(&b, "proposed %s: %q\n", path, proposed[path])
		}
	}
	fmt.Fprintf(&b, "proposal open: %v\n", w.openProposal() != nil)
	if ours := w.head(t).Proposal; ours != nil {
		fmt.Fprintf(&b, "mends %v\n", ours.Repairs)
	}
	for _, d := range w.head(t).Declined {
		fmt.Fprintf(&b, "declined %v\n", d.Repair)
	}
	alerts := map[string]string{}
	for _, a := range w.Sent {
		alerts[string(a.Kind)+" "+string(a.State)] = a.ID
	}
	fmt.Fprintf(&b, "alerts: %v\n", sortedKeys(alerts))
	return b.String()
}
