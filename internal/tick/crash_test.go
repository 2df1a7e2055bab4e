package tick_test

import (
	"errors"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
)

const latching = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"

// scene is a tick that has something to publish, with the events before it.
type scene struct {
	name string
	play func(w *world) // up to the tick that is killed
}

// raises plays up to the tick that raises shop/web from 100 to 200.
func raises(w *world) {
	w.scale("shop/web", 87)
	w.ticks(2)
	w.scale("shop/web", 180)
	w.ticks(1)
}

// merges plays up to the tick after the merge of a proposal of shop/web at 100.
func merges(w *world) {
	w.Host, w.Propose = true, true
	w.scale("shop/web", 87)
	w.ticks(2)
	w.mergeProposal(repomem.MergeCommit)
	w.ticks(1)
}

// proposes plays up to an open proposal that raises shop/web from 100 to 200.
func proposes(w *world) {
	merges(w)
	w.scale("shop/web", 180)
	w.ticks(2)
}

var scenes = []scene{
	{"first checkpoint", func(w *world) {
		w.scale("shop/web", 87)
		w.scale("pay/ledger", 12)
		w.ticks(1)
	}},
	{"raise", raises},
	{"lowering", func(w *world) {
		w.scale("shop/web", 87)
		w.ticks(2)
		w.scale("shop/web", 12)
		w.ticks(26 * 12)
	}},
	{"retirement", func(w *world) {
		w.scale("shop/web", 87)
		w.scale("pay/ledger", 12)
		w.ticks(2)
		delete(w.Fleet, id("pay/ledger"))
		w.ticks(2 * 12)
	}},
	{"edit to adopt beside a raise", func(w *world) {
		w.scale("shop/web", 87)
		w.scale("shop/api", 87)
		w.ticks(2)
		w.scale("shop/web", 180)
		w.ticks(1)
		w.setTo("shop/api", 150)
	}},
	{"rival to lose against", func(w *world) {
		raises(w)
		w.Rival = func() { w.Repository.Edit("elsewhere", w.Now, map[string][]byte{"app.yaml": []byte("x")}) }
	}},
	{"proposal opened", func(w *world) {
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.ticks(1)
	}},
	{"proposal updated", func(w *world) {
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.ticks(2)
		w.scale("shop/web", 180)
		w.scale("pay/ledger", 12)
		w.ticks(1)
	}},
	{"proposal moot", func(w *world) {
		proposes(w)
		w.scale("shop/web", 87)
		w.ticks(26*12 + 1)
	}},
	{"proposal merged beside a crossing", func(w *world) {
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.ticks(2)
		w.scale("pay/ledger", 12)
		w.ticks(1)
		w.mergeProposal(repomem.Squash)
	}},
	{"proposal declined beside a crossing", func(w *world) {
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.scale("shop/api", 87)
		w.ticks(2)
		w.scale("pay/ledger", 87)
		w.ticks(1)
		w.setTo("shop/api", 100) // as proposed
		w.Repository.Decline(w.openProposal().ID)
	}},
	{"text to restore by a proposal", func(w *world) {
		merges(w)
		w.typeTo("shop/web", 150)
	}},
	{"text to join a proposal", func(w *world) {
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.scale("pay/ledger", 12)
		w.ticks(2)
		w.mergeProposal(repomem.MergeCommit)
		w.scale("pay/ledger", 87)
		w.ticks(2)
		w.typeTo("shop/web", 150)
	}},
	{"text merged", func(w *world) {
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.scale("pay/ledger", 12)
		w.ticks(2)
		w.mergeProposal(repomem.MergeCommit)
		w.ticks(1)
		w.typeTo("shop/web", 150)
		w.ticks(1)
		w.scale("pay/ledger", 87)
		w.ticks(1)
		w.mergeProposal(repomem.Squash)
	}},
	{"text declined beside a crossing", func(w *world) {
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.scale("pay/ledger", 12)
		w.ticks(2)
		w.mergeProposal(repomem.MergeCommit)
		w.ticks(1)
		w.typeTo("shop/web", 150)
		w.scale("pay/ledger", 87)
		w.ticks(1)
		w.Repository.Decline(w.openProposal().ID)
	}},
	{"review beside a crossing", func(w *world) {
		w.Host = true
		w.scale("shop/web", 3)
		w.scale("shop/api", 87)
		w.ticks(2)
		w.Repository.Edit("review", w.Now, map[string][]byte{"gitlatch.yaml": []byte(latching + "policies: [{name: default, match: {}, review: true}]\n")})
		w.scale("shop/web", 3000)
		w.scale("shop/api", 180)
		w.ticks(1)
	}},
	{"alert to send", func(w *world) {
		w.scale("shop/web", 3)
		w.ticks(2)
		w.scale("shop/web", 3000)
		w.ticks(1)
	}},
	{"rollout begins", func(w *world) {
		w.scale("shop/web", 87)
		w.ticks(2)
		w.rolls("shop/web", 5, "")
		w.ticks(1)
	}},
	{"milestone advances", func(w *world) {
		w.scale("shop/web", 87)
		w.ticks(2)
		w.rolls("shop/web", 12, "")
		w.ticks(2)
		w.rolls("shop/web", 60, "")
		w.ticks(1)
	}},
	{"rollout fails", func(w *world) {
		w.scale("shop/web", 87)
		w.ticks(2)
		w.rolls("shop/web", 75, "")
		w.ticks(2)
		w.rolls("shop/web", 75, "ProgressDeadlineExceeded")
	}},
	{"rollout ends", func(w *world) {
		w.scale("shop/web", 87)
		w.ticks(2)
		w.rolls("shop/web", 75, "")
		w.ticks(2)
		w.scale("shop/web", 87)
	}},
	{"level and milestone at once", func(w *world) {
		w.scale("shop/web", 87)
		w.ticks(2)
		w.rolls("shop/web", 12, "")
		w.ticks(2)
		w.scale("shop/web", 180)
		w.rolls("shop/web", 12, "")
		w.ticks(1)
		w.rolls("shop/web", 60, "")
		w.ticks(1)
	}},
	{"milestone proposed", func(w *world) {
		w.Host, w.Propose = true, true
		w.scale("shop/web", 87)
		w.ticks(2)
		w.rolls("shop/web", 12, "")
		w.ticks(2)
		w.rolls("shop/web", 60, "")
		w.ticks(1)
	}},
	{"quiet", func(w *world) {
		w.scale("shop/web", 87)
		w.ticks(5)
	}},
}

// TestDeathBeforeEachEffect kills a tick before each of its effects in turn. Two calm
// ticks later the state equals the state without a death. If a tick pushes after a lost
// race, or is refused, the following tick saves the result.
func TestDeathBeforeEachEffect(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			calm := newWorld(map[string]string{"gitlatch.yaml": latching})
			s.play(calm)
			calm.ticks(3)
			for effect := 1; ; effect++ {
				w := newWorld(map[string]string{"gitlatch.yaml": latching})
				s.play(w)
				w.KillBefore = effect
				_, err := w.Tick()
				w.KillBefore = 0
				if err == nil {
					if effect < 5 {
						t.Fatalf("the tick had only %d effects", effect-1)
					}
					return
				}
				if !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				w.Now = w.Now.Add(period)
				w.ticks(2)
				if got, want := w.outcome(t), calm.outcome(t); got != want {
					t.Errorf("killed before effect %d:\n%s\nundisturbed:\n%s", effect, got, want)
				}
			}
		})
	}
}

// TestTwiceIsOnce runs each tick a second time at the same instant. The second run does
// not change git or the latches.
func TestTwiceIsOnce(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(map[string]string{"gitlatch.yaml": latching})
			s.play(w)
			if _, err := w.Tick(); err != nil {
				t.Fatal(err)
			}
			if w.Rival != nil {
				t.Fatal("the rival did not come")
			}
			w.Tick() // adopts the state that a rival left
			once := w.outcome(t)
			if _, err := w.Tick(); err != nil {
				t.Fatal(err)
			}
			if twice := w.outcome(t); once != twice {
				t.Errorf("once:\n%s\ntwice:\n%s", once, twice)
			}
		})
	}
}

// TestDeathAmidASave kills a tick after it saved its latches and before it saved its
// head. Two calm ticks later the state equals the state without a death.
func TestDeathAmidASave(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			calm := newWorld(map[string]string{"gitlatch.yaml": latching})
			s.play(calm)
			calm.ticks(3)
			w := newWorld(map[string]string{"gitlatch.yaml": latching})
			s.play(w)
			w.Half = true
			_, err := w.Tick()
			if w.Half {
				return // it saved no latch
			}
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			w.KillBefore = 0
			w.Now = w.Now.Add(period)
			w.ticks(2)
			if got, want := w.outcome(t), calm.outcome(t); got != want {
				t.Errorf("killed amid the save:\n%s\nundisturbed:\n%s", got, want)
			}
		})
	}
}
