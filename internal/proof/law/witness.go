// Package law watches a story and reports where gitlatch broke a promise. A witness
// knows facts that the product cannot know: which workloads run, and who made which
// commit.
package law

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Violation is a broken promise.
type Violation struct {
	Law  string
	What string // the event, with its numbers
}

// A Witness watches the ticks of a story. Use Watch.
type Witness struct {
	Ticks      int
	Violations []Violation
	// Found counts the ticks that found each row of the table of states that git may
	// have.
	Found map[string]int

	story   *story.Story
	tip     string // of the base, at the last check
	agreed  string // the tip that git and the latches agreed on before the last tick; the tip then, if the head was lost
	latched map[workload.ID]latch.Latch
	known   map[string]Commit // commits that were on the base, by id
	entries map[string]map[workload.ID]checkpoint.Entry
	trees   map[string]parsed // by commit
	policy  readable
	intents map[string]string // the commit that names an intent, by the id of the intent
	rewound bool              // a user moved the branch since the last check
	failed  bool              // the push of the last tick did not land, as far as the tick saw

	// touched are the workloads that a user changed since git and the latches last
	// agreed. It is replaced by all if the user may have changed any workload.
	touched  map[workload.ID]bool
	all      bool
	theirs   map[part]word             // parts of entries last changed by a user
	unsent   map[string]string         // alerts that were saved and did not arrive, by id
	next     *Seen                     // the coming tick, with the state before it
	acts     int                       // ticks that had the lease and the turn
	proposal *latch.Proposal           // as of the last note
	asked    map[workload.ID]int32     // the levels in the proposal
	amended  bool                      // the state does not have the proposal: a user amended it, or the head was lost
	blind    map[string]error          // namespaces whose entries are lost in git and in the latches
	proposed int                       // pushes to the proposal's branch that were counted
	owed     int                       // pushes that the budget has not paid for yet
	open     int                       // ticks that started and did not end
	lost     []string                  // levels of users that the site's commits changed, until no tick is open
	undone   []string                  // rollout entries of users that the site's commits changed, until no tick is open
	retired  map[workload.ID]retired   // the entries that were removed
	removed  map[workload.ID]time.Time // until when a second removal of an entry opts out, after the first counted as an edit
	stale    int                       // calm ticks in a row in which a checkpoint file had edited text
	// compared is a commit, and differing a namespace whose checkpoint file has edited text.
	compared, differing string
	latch               bool       // the last policy that the branch had for a saved tick has mode latch
	ruledBy             string     // the path of that policy
	set                 policy.Set // of the last tick that decided
	setFrom             string     // the text of set
	applications        applications
	truth
}

// A part is the scale or the rollout of an entry.
type part struct {
	id      workload.ID
	rollout bool
}

// of returns the value of the part in an entry: the level, or the rollout.
func (p part) of(e checkpoint.Entry) checkpoint.Entry {
	if p.rollout {
		return checkpoint.Entry{Rollout: e.Rollout}
	}
	return checkpoint.Entry{Replicas: e.Replicas}
}

// parts returns both parts of an entry.
func parts(id workload.ID) []part { return []part{{id, false}, {id, true}} }

// A word is a user's edit of a part of an entry, and the end of its edit grace period.
type word struct {
	value  checkpoint.Entry
	until  time.Time
	before *word // the edit that it replaced; nil if it is the first
}

// A Seen is a tick with the states before and after it.
type Seen struct {
	*Witness
	World *story.World
	Told  story.Told
	// Calm is true if the tick had no fault, no other actor acted during it, and it
	// ended and judged every entry.
	Calm          bool
	Before, After Held
	// New are the commits to the base since the last tick, the oldest first. Mine are
	// the commits in New that this tick made.
	New, Mine []Commit
	// Asked are the changes that the site proposes since this tick, compared with the
	// previous proposal, or with git if the site had no proposal.
	Asked []checkpoint.Change
	// Moved is true if the branch no longer contains its earlier commits and no user
	// moved it.
	Moved bool
	// latches is true if the policy that applies to the tick has mode latch.
	latches bool
}

// A Held is the content of git and of the store.
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
		entries: map[string]map[workload.ID]checkpoint.Entry{}, trees: map[string]parsed{}, intents: map[string]string{},
		touched: map[workload.ID]bool{}, theirs: map[part]word{}, unsent: map[string]string{}, retired: map[workload.ID]retired{}, removed: map[workload.ID]time.Time{},
		applications: applications{off: map[string]off{}},
		truth:        truth{lives: map[workload.ID]*life{}},
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
	held := w.holds()
	w.latched = held.Latches
	w.agreed = cmp.Or(held.Head.Agreed.Tip, w.head()) // without a head, a tick accepts the content of git
	w.look(seen)
	before, acts := len(seen.New), w.acts
	seen.Before = w.holds()
	w.count(seen.Before)
	if seen.Before.Head.At.IsZero() { // the tick accepts the state that it finds
		w.unlearn(seen.Before.Latches)
	}
	looks := w.begin(seen.Before)
	return func() {
		if w.acts > acts { // other ticks came in between
			seen.Before = w.holds()
		}
		seen.Told = w.story.Last
		w.readPolicy(seen)
		w.open--
		if w.Ticks++; seen.Told.NotRun == "" {
			w.acts++
		}
		if seen.says(notes.Cut) { // the tick could not attribute the commits, even those that another tick saw
			w.unlearn(seen.Before.Latches)
			w.lost, w.undone = nil, nil
		}
		w.look(seen)
		for _, c := range seen.New[before:] {
			if c.By == ours && c.When.Equal(seen.Told.At) {
				seen.Mine = append(seen.Mine, c)
			}
		}
		seen.After = w.holds()
		w.ask(seen)
		seen.Calm = !seen.World.Disturbed && seen.Told.Failed == nil && seen.Told.NotRun == "" && !seen.rewritten() && !seen.revealed()
		w.counted(seen)
		w.learn(seen, looks)
		for _, law := range Laws {
			if what := law.Broken(seen); what != "" {
				w.Violations = append(w.Violations, Violation{law.Name, what})
			}
		}
		w.noteRemoved(seen)
		w.age(seen)
		w.settle(seen)
		w.remember(seen, looks)
	}
}

// readPolicy notes the policy that the tick applied, and the mode of the policy that
// applies to it: the policy on the branch, or the last policy that a saved tick read there. A
// tick without a state has read none before. The same is true if the configuration names
// another path.
func (w *Witness) readPolicy(s *Seen) {
	if from := string(s.Told.Head.Agreed.PolicySource); s.Told.Set.Default.HoldUp > 0 {
		if from != w.setFrom {
			w.begins(s.Told.Set.Guards)
		}
		w.set, w.setFrom = s.Told.Set, from
	}
	if s.Before.Head.At.IsZero() || w.ruledBy != s.World.PolicyFile {
		w.latch = false
	}
	w.ruledBy = s.World.PolicyFile
	text, is := s.World.Repository.Show(s.Before.Tip)[s.World.PolicyFile]
	if is && text != w.policy.text {
		set, err := config.ParsePolicy(s.World.PolicyFile, []byte(text), story.Period)
		w.policy = readable{text, err == nil, set.Latch}
	}
	s.latches = w.latch
	if is && w.policy.is {
		s.latches = w.policy.latch
	}
	if s.settled() {
		w.latch = s.latches
	}
}

// readable is the last policy that was read on the branch.
type readable struct {
	text      string
	is, latch bool
}

// rewritten reports whether the tick did not accept the branch.
func (s *Seen) rewritten() bool { return s.says(notes.Rewritten) }

// revealed reports whether a commit of the tick made a user's entries readable, because it
// added their kind to site.yaml. The next tick judges them.
func (s *Seen) revealed() bool {
	return slices.ContainsFunc(s.Mine, func(c Commit) bool { return len(s.unread(c.ID)) < len(s.unread(c.Parents[0])) })
}

func (s *Seen) says(kind notes.Kind) bool {
	return slices.ContainsFunc(s.Told.Notices, func(n notes.Notice) bool { return n.Kind == kind })
}

// settle forgets a user's edit once git and the latches agree on it. It forgets that
// entries are unknown once their checkpoint file was read.
func (w *Witness) settle(s *Seen) {
	for of, t := range w.theirs {
		switch until := s.Told.At.Add(s.Told.Set.Guards.Yield); {
		case t.until.After(until): // the clock went back since
			t.until = until
			w.theirs[of] = t
		case !s.Told.At.Before(t.until):
			delete(w.theirs, of) // also if the clock is ahead
		}
	}
	if len(w.blind) > 0 && s.settled() {
		broken := w.unread(s.Before.Tip)
		maps.DeleteFunc(w.blind, func(namespace string, _ error) bool { return broken[namespace] == nil })
	}
	if s.Calm && s.Told.Stop.Reason != policy.ReasonSecond && disagree(s) == "" && len(w.unread(s.Before.Tip)) == 0 {
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

// hear notes the actions of users that are not commits to the base.
func (w *Witness) hear(words []string) {
	switch verb := words[0] + " " + append(words, "")[1]; {
	case words[0] == "state":
		w.Found[lostState]++
		w.forget(words[len(words)-1] != "head", words[len(words)-1] != "latches")
	case words[0] == "rewind":
		w.rewound, w.all, w.theirs = true, true, map[part]word{}
	case words[0] == "hold", verb == "person declines", verb == "person pushes", verb == "person amends", verb == "person breaks", verb == "person repairs":
		w.all, w.amended = true, w.amended || verb == "person amends"
	case words[0] == "adopt":
		w.acknowledge()
		if len(words) > 1 {
			for _, of := range parts(story.ID(words[1])) {
				delete(w.theirs, of)
			}
			delete(w.removed, story.ID(words[1]))
		}
	}
}

// forget drops the facts that the product loses together with its head or its latches.
// A tick without a head accepts the content of git, and cannot distinguish it from user
// edits that no latch records yet.
func (w *Witness) forget(head, latches bool) {
	if head {
		w.look(w.next)
		w.owed, w.proposal, w.latch, w.amended = 0, nil, false, true
		w.unsent, w.dropped = map[string]string{}, nil
		w.applications.last = time.Time{}
		for _, of := range w.lives {
			of.short = 0 // the head has the instant since which level changes wait
		}
		if drop := w.holds().Head.Drop; drop != nil {
			w.forgetDrop(drop.Since)
		}
		w.unlearn(w.holds().Latches)
	}
	if latches {
		w.theirs = map[part]word{}
		w.removed = map[workload.ID]time.Time{}
		for id := range w.lives {
			w.lives[id] = &life{}
		}
		w.blind = w.unread(w.head())
	}
}

// unlearn drops user edits that no latch records yet, because the product cannot know
// who made them: it gives them no edit grace period, and extends no earlier one. An opt-out
// ends if the workload has an entry again.
func (w *Witness) unlearn(known map[workload.ID]latch.Latch) {
	entries := w.at(w.head())
	for of, t := range w.theirs {
		l := known[of.id]
		out := l.OptedOut && entries[of.id].IsZero()
		switch {
		case of.of(l.Declared) != t.value || l.GraceUntil.IsZero() && !out:
			delete(w.theirs, of)
		case l.GraceUntil.Before(t.until) && !out:
			t.until = l.GraceUntil
			w.theirs[of] = t
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
