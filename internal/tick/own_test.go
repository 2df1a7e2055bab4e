package tick_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
)

// mishaps are faults of a push by gitlatch, with every outcome.
var mishaps = []func(w *world, r *rand.Rand){
	func(w *world, r *rand.Rand) { w.KillBefore = 4 + r.IntN(4) },
	func(w *world, _ *rand.Rand) { w.LostReply = true },
	func(w *world, _ *rand.Rand) { w.Lands = true },
	func(w *world, _ *rand.Rand) { w.Hold, w.Held = true, nil },
	func(w *world, _ *rand.Rand) {
		w.Rival = func() { w.Repository.Edit("elsewhere", w.Now, map[string][]byte{"app.yaml": []byte(w.Now.String())}) }
	},
	func(w *world, r *rand.Rand) { w.mergeProposal(repomem.Method(r.IntN(3))) },
}

// Ten mishaps in a row, of any kind and without a calm tick in between, leave no edit
// grace period, because no user acted. Nothing is saved before a push.
func TestTenMishapsInARowAreNobodys(t *testing.T) {
	t.Parallel()
	var pushes, before, crossings, saves int
	for seed := range uint64(*histories) {
		r := rand.New(rand.NewPCG(seed, 15))
		subject := []string{"latch({{.Site}}): {{.Changes}}", "chore: update levels"}[seed%2] // the second is the same in all commits
		w := newWorld(map[string]string{"gitlatch.yaml": latching + "commit: {subject: \"" + subject + "\"}\n"})
		w.Host, w.Propose = seed%3 > 0, seed%3 > 1
		names := []string{"shop/web", "shop/api", "pay/ledger"}
		for _, name := range names {
			w.scale(name, 87)
		}
		w.ticks(2)
		w.mergeProposal(repomem.Squash)
		w.ticks(2)
		for range 10 {
			mishaps[r.IntN(len(mishaps))](w, r)
			w.scale(names[r.IntN(3)], 1+int32(r.ExpFloat64()*500))
			for range 1 + r.IntN(3) {
				_, _ = w.Tick()
				w.KillBefore = 0
				w.Now = w.Now.Add(period)
			}
			if w.Held != nil && r.IntN(2) == 0 { // or never
				_, _ = w.Repository.Commit(context.Background(), *w.Held)
				w.Held = nil
			}
		}
		w.Rival, w.LostReply, w.Lands, w.Hold = nil, false, false, false
		w.ticks(2)
		entries := w.entries(t)
		for id, l := range w.latches(t) {
			if !l.GraceUntil.IsZero() || l.OptedOut || l.Declared != entries[id] {
				t.Fatalf("seed %d: git declares %+v of %s, and its latch is %+v", seed, entries[id], id, l)
			}
		}
		pushes, before = pushes+w.Pushes, before+w.SavesBefore
		w.Propose = false
		w.Now = w.Now.Add(48 * time.Hour) // the budget is full
		w.scale("shop/calm", 87)
		for range 2 {
			if report, err := w.Tick(); err == nil && report.Commit != nil {
				crossings, saves = crossings+1, saves+w.Saves
			}
			w.Now = w.Now.Add(period)
		}
	}
	if pushes < 4**histories || crossings < *histories/2 || before > 0 {
		t.Errorf("before %d pushes the state was written %d times", pushes, before)
	}
	fmt.Printf("figure state_writes_per_crossing %.2f\n", float64(saves)/float64(crossings))
}
