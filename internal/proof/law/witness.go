// Package law watches a story and says where gitlatch broke a promise. A witness
// knows what the product cannot: what truly runs, and who made which commit.
package law

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Violation is a promise that was broken.
type Violation struct {
	Law  string
	What string // what happened, with the numbers
}

// A Witness watches the ticks of a story. Use Watch.
type Witness struct {
	Ticks      int
	Violations []Violation
	// Found says how often ticks found each row of what there may be in git.
	Found map[string]int

	story   *story.Story
	tip     string            // of the base, as last looked at
	agreed  string            // the tip that git and the latches agreed on as the last tick began
	known   map[string]Commit // that were on the base, by id
	entries map[string]map[workload.ID]checkpoint.Entry
	intents map[string]string // by the id of an intent, the commit that names it
	rewound bool              // a person moved the branch since the last look
	failed  bool              // the push of the last tick did not land, as far as it was seen

	// touched are the workloads that a person did something about since git and
	// latches last agreed; all is set where it may be any.
	touched  map[workload.ID]bool
	all      bool
	theirs   map[workload.ID]word           // entries whose last change is a person's
	levels   map[workload.ID]map[int32]bool // that each entry ever had
	unsent   map[string]string              // alerts that were settled and did not arrive, by id
	next     *Seen                          // the tick to come, with what came before it
	acts     int                            // ticks that had the lease and the turn
	proposal *latch.Proposal                // as last noted
	asked    map[workload.ID]int32          // the levels that the proposal is to bring
	amended  bool                           // a person amended what is proposed
	vague    bool                           // what is proposed is no longer known to latches
	blind    map[string]error               // namespaces whose entries neither git nor latches say any more
	proposed int                            // pushes to the proposal's branch that were counted
	owed     int                            // pushes that the budget was not seen to pay for
	open     int                            // ticks that began and did not end
	lost     []string                       // what of a person's the site's commits changed, until none is open
	retired  map[workload.ID]time.Time      // when entries were removed
	removed  map[workload.ID]time.Time      // when a tick took a user's removal of an entry as an edit
	ruled    bool                           // the last policy that the branch had for a tick has mode latch
	ruledBy  string                         // the path of that policy
	truth
}

// A word is what a person made of an entry, and until when it stands.
type word struct {
	replicas int32
	until    time.Time
	before   *word // what it took the place of; nil is none
}

// A Seen is a tick with what was before it and after.
type Seen struct {
	*Witness
	World *story.World
	Told  story.Told
	// Calm is set where no fault befell the tick, nobody acted in its midst, and it
	// came to its end.
	Calm          bool
	Before, After Held
	// New are the commits to the base since the last tick, the oldest first, and Mine
	// those of them that this tick made.
	New, Mine []Commit
	// Asked are the changes that people are asked for since this tick, against what
	// was asked before, or is declared.
	Asked []checkpoint.Change
	// Moved is set where the branch left what it held, and no person moved it.
	Moved bool
	// named are the files that were edited in place before the tick.
	named []string
}

// A Held is what git and the store hold.
type Held struct {
	Tip     string
	Entries map[workload.ID]checkpoint.Entry
	Head    latch.Head
	Latches map[workload.ID]latch.Latch
}

// Watch watches a story from now on.
func Watch(s *story.Story) *Witness {
	w := &Witness{
		Found: map[string]int{}, story: s,
		entries: map[string]map[workload.ID]checkpoint.Entry{}, intents: map[string]string{},
		touched: map[workload.ID]bool{}, theirs: map[workload.ID]word{}, levels: map[workload.ID]map[int32]bool{}, unsent: map[string]string{}, retired: map[workload.ID]time.Time{}, removed: map[workload.ID]time.Time{},
		truth: truth{lives: map[workload.ID]*life{}},
	}
	w.tip = w.head()
	w.known = map[string]Commit{w.tip: {}}
	w.next = &Seen{Witness: w, World: s.World}
	s.Watch, s.Hear = w.watch, w.hear
	return w
}

func (w *Witness) head() string {
	tip, _, err := w.story.Repository.Heads(context.Background())
	if err != nil {
		panic(err) // in memory
	}
	return tip
}

func (w *Witness) watch() func() {
	seen := w.next
	w.open++
	w.next = &Seen{Witness: w, World: w.story.World}
	seen.named = slices.Clone(w.story.InPlace)
	w.agreed = w.holds().Head.Agreed.Tip
	w.look(seen)
	before, acts := len(seen.New), w.acts
	seen.Before = w.holds()
	w.count(seen.Before)
	if seen.Before.Head.At.IsZero() { // what it finds is taken as it is
		w.unlearn(seen.Before.Latches)
	}
	looks := w.begin(seen.Before)
	return func() {
		if w.acts > acts { // others came between
			seen.Before = w.holds()
		}
		seen.Told = w.story.Last
		w.open--
		if w.Ticks++; seen.Told.NotRun == "" {
			w.acts++
		}
		if seen.says(tick.NoticeCut) { // nor could a commit that another tick saw meanwhile
			w.unlearn(seen.Before.Latches)
			w.lost = nil
		}
		w.look(seen)
		for _, c := range seen.New[before:] {
			if c.By == ours && c.When.Equal(seen.Told.At) {
				seen.Mine = append(seen.Mine, c)
			}
		}
		seen.After = w.holds()
		w.ask(seen)
		seen.Calm = !seen.World.Disturbed && seen.Told.Failed == nil && seen.Told.NotRun == "" && !seen.rewritten()
		w.counted(seen)
		w.rule(seen)
		w.learn(seen, looks)
		for _, law := range Laws {
			if what := law.Broken(seen); what != "" {
				w.Violations = append(w.Violations, Violation{law.Name, what})
			}
		}
		w.noteRemoved(seen)
		w.settle(seen)
		w.remember(seen, looks)
	}
}

// rule notes the mode of the policy that counts for a tick: the one on the branch, or the
// last one that a tick saw there. A tick without a state saw none, nor one by a
// configuration that names another path.
func (w *Witness) rule(s *Seen) {
	if s.Before.Head.At.IsZero() || w.ruledBy != s.World.PolicyFile {
		w.ruled = false
	}
	w.ruledBy = s.World.PolicyFile
	text, is := s.World.Repository.Show(s.Before.Tip)[s.World.PolicyFile]
	if set, err := config.ParsePolicy(s.World.PolicyFile, []byte(text), story.Period); is && err == nil {
		w.ruled = set.Latch
	}
}

// rewritten reports whether the tick did not believe the branch.
func (s *Seen) rewritten() bool { return s.says(tick.NoticeRewritten) }

func (s *Seen) says(kind tick.NoticeKind) bool {
	return slices.ContainsFunc(s.Told.Notices, func(n tick.Notice) bool { return n.Kind == kind })
}

// settle forgets what a person did once git and latches agree on it, and that entries
// are unknown once their record was read.
func (w *Witness) settle(s *Seen) {
	for id, t := range w.theirs {
		switch until := s.Told.At.Add(s.Told.Set.Guards.Yield); {
		case t.until.After(until): // the clock went back since
			t.until = until
			w.theirs[id] = t
		case !s.Told.At.Before(t.until):
			delete(w.theirs, id) // by a clock that is ahead, too
		}
	}
	if len(w.blind) > 0 && s.settled() {
		broken := w.unread(s.Before.Tip)
		maps.DeleteFunc(w.blind, func(namespace string, _ error) bool { return broken[namespace] == nil })
	}
	if s.Calm && s.Told.Stop.Reason != policy.ReasonSecond && disagree(s) == "" && !s.decided(policy.ReasonBroken) {
		w.touched, w.all = map[workload.ID]bool{}, false
	}
}

func (w *Witness) holds() Held {
	head, latches, err := w.story.Kept()
	if err != nil {
		panic(err)
	}
	return Held{w.tip, w.at(w.tip), head, latches}
}

// hear notes what a person does other than by a commit to the base.
func (w *Witness) hear(words []string) {
	switch verb := words[0] + " " + append(words, "")[1]; {
	case words[0] == "state":
		w.Found[lostState]++
		w.forget(words[len(words)-1] != "head", words[len(words)-1] != "latches")
	case words[0] == "rewind":
		w.rewound, w.all, w.theirs = true, true, map[workload.ID]word{}
	case words[0] == "hold", verb == "person declines", verb == "person pushes", verb == "person amends", verb == "person breaks", verb == "person repairs":
		w.all, w.amended = true, w.amended || verb == "person amends"
	case words[0] == "adopt":
		w.acknowledge()
		if len(words) > 1 {
			delete(w.theirs, story.ID(words[1]))
			delete(w.removed, story.ID(words[1]))
		}
	}
}

// forget drops what the product can no longer know once its head is lost, or its
// latches. Without a head it takes what git holds: what a person did that no latch
// says yet is not told from that.
func (w *Witness) forget(head, latches bool) {
	if head {
		w.look(w.next)
		w.owed, w.proposal = 0, nil
		w.unsent, w.dropped = map[string]string{}, nil
		w.unlearn(w.holds().Latches)
	}
	if latches {
		w.vague, w.theirs = true, map[workload.ID]word{}
		w.removed = map[workload.ID]time.Time{}
		for id := range w.lives {
			w.lives[id] = &life{}
		}
		w.blind = w.unread(w.head())
	}
}

// unlearn drops what a person did that no latch says yet, where who did it cannot
// be told: nobody is yielded to, nor for longer than before.
func (w *Witness) unlearn(known map[workload.ID]latch.Latch) {
	for id, t := range w.theirs {
		switch l := known[id]; {
		case l.Declared.Replicas != t.replicas || l.GraceUntil.IsZero() && !l.OptedOut:
			delete(w.theirs, id)
		case l.GraceUntil.Before(t.until) && !l.OptedOut:
			t.until = l.GraceUntil
			w.theirs[id] = t
		}
	}
}

func union[K comparable, A, B any](a map[K]A, b map[K]B) map[K]bool {
	keys := map[K]bool{}
	for key := range maps.Keys(a) {
		keys[key] = true
	}
	for key := range maps.Keys(b) {
		keys[key] = true
	}
	return keys
}
