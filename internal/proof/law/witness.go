// Package law watches a story and says where gitlatch broke a promise. A witness
// knows what the product cannot: what truly runs, and who made which commit.
package law

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/repo"
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
	known   map[string]Commit // that were on the base, by id
	entries map[string]map[workload.ID]checkpoint.Entry
	intents map[string]string // by the id of an intent, the commit that names it
	rewound bool              // a person moved the branch since the last look
	failed  bool              // the push of the last tick did not land, as far as it was seen

	// touched are the workloads that a person did something about since git and
	// latches last agreed; all is set where it may be any.
	touched map[workload.ID]bool
	all     bool
	theirs  map[workload.ID]word // entries whose last change is a person's
	unsent  map[string]string    // alerts that were settled and did not arrive, by id
	next    *Seen                // the tick to come, with what came before it
	truth
}

// A word is what a person made of an entry, and until when it stands.
type word struct {
	replicas int32
	until    time.Time
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
	// Overwrote says what of a person's the site's commits changed.
	Overwrote []string
	// Moved is set where the branch left what it held, and no person moved it.
	Moved bool
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
		touched: map[workload.ID]bool{}, theirs: map[workload.ID]word{}, unsent: map[string]string{},
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
	w.next = &Seen{Witness: w, World: w.story.World}
	w.look(seen)
	before, ticks := len(seen.New), w.Ticks
	seen.Before = w.holds()
	w.count(seen.Before)
	looks := w.begin(seen.Before.Head)
	return func() {
		if w.Ticks > ticks { // others came between
			seen.Before = w.holds()
		}
		w.Ticks++
		seen.Told = w.story.Last
		w.look(seen)
		for _, c := range seen.New[before:] {
			if c.By == ours && c.When.Equal(seen.Told.At) {
				seen.Mine = append(seen.Mine, c)
			}
		}
		seen.After = w.holds()
		seen.Calm = !seen.World.Disturbed && seen.Told.Failed == nil && seen.Told.Held == "" && !seen.rewritten()
		w.counted(seen)
		w.learn(seen, looks)
		for _, law := range Laws {
			if what := law.Broken(seen); what != "" {
				w.Violations = append(w.Violations, Violation{law.Name, what})
			}
		}
		w.settle(seen)
		w.remember(seen, looks)
	}
}

// rewritten reports whether the tick did not believe the branch.
func (s *Seen) rewritten() bool {
	return slices.ContainsFunc(s.Told.Notices, func(n tick.Notice) bool { return n.Kind == tick.NoticeRewritten })
}

// settle forgets what a person did once git and latches agree on it.
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
	if s.Calm && s.Told.Stop.Reason != policy.ReasonSecond && disagree(s) == "" {
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
	case words[0] == "hold", verb == "person declines", verb == "person pushes":
		w.all = true
	case words[0] == "adopt":
		w.acknowledge()
		if len(words) > 1 {
			delete(w.theirs, story.ID(words[1]))
		}
	}
}

// forget drops what the product can no longer know once its head is lost, or its
// latches. Without a head it takes what git holds: what a person did that no latch
// says yet is not told from that.
func (w *Witness) forget(head, latches bool) {
	if head {
		w.look(w.next)
		w.unsent, w.dropped = map[string]string{}, nil
		known := w.holds().Latches
		maps.DeleteFunc(w.theirs, func(id workload.ID, t word) bool {
			l := known[id]
			return l.Declared.Replicas != t.replicas || l.YieldUntil.IsZero() && !l.OptedOut
		})
	}
	if latches {
		w.theirs = map[workload.ID]word{}
		for id := range w.lives {
			w.lives[id] = &life{}
		}
	}
}

// at is what a commit declares.
func (w *Witness) at(id string) map[workload.ID]checkpoint.Entry {
	if entries, ok := w.entries[id]; ok {
		return entries
	}
	files := map[string][]byte{}
	for path, text := range w.story.Repository.Show(id) {
		files[path] = []byte(text)
	}
	tree, err := checkpoint.ParseTree(w.story.Site, files)
	if err != nil {
		tree = checkpoint.Tree{}
	}
	w.entries[id] = tree.Entries()
	return w.entries[id]
}

// An author is who made a commit.
type author string

const (
	ours   author = "gitlatch"
	person author = "a person"
	merge  author = "a person, by merging what was proposed"
	other  author = "another site"
)

// yield is longer than any site's: the first tick afterwards corrects it.
const yield = 1000 * time.Hour

// A Commit is one on the base.
type Commit struct {
	repo.LogEntry
	By      author
	Changes []checkpoint.Change // of the site's entries
	Paths   []string            // that it changed
}

// look takes in the commits since the last look.
func (w *Witness) look(s *Seen) {
	tip := w.head()
	if tip == w.tip {
		return
	}
	log, _, err := w.story.Repository.History(context.Background(), tip, w.tip, 100000)
	if err != nil {
		panic(err)
	}
	byID := map[string]repo.LogEntry{}
	for _, c := range log {
		byID[c.ID] = c
	}
	var since []Commit
	id := tip
	for _, known := w.known[id]; !known; _, known = w.known[id] {
		c := w.commit(byID[id])
		w.known[id] = c
		since, id = append(since, c), c.Parents[0]
	}
	s.Moved = s.Moved || id != w.tip && !w.rewound
	slices.Reverse(since)
	for _, c := range since {
		w.account(s, c)
	}
	s.New, w.tip, w.rewound = append(s.New, since...), tip, false
}

func (w *Witness) commit(c repo.LogEntry) Commit {
	made := Commit{LogEntry: c, By: person}
	switch {
	case c.Author == "gitlatch" && ledger.Ours(w.story.Site, c.Message):
		made.By = ours
	case c.Author == "gitlatch":
		made.By = other
	case w.story.Merged[c.ID]:
		made.By = merge
	}
	was, is := w.at(c.Parents[0]), w.at(c.ID)
	for id := range union(was, is) {
		if was[id] != is[id] {
			made.Changes = append(made.Changes, checkpoint.Change{ID: id, From: was[id], To: is[id]})
		}
	}
	before, after := w.story.Repository.Show(c.Parents[0]), w.story.Repository.Show(c.ID)
	for path := range union(before, after) {
		if old, ok := before[path]; after[path] != old || !ok {
			made.Paths = append(made.Paths, path)
		}
	}
	slices.SortFunc(made.Changes, func(a, b checkpoint.Change) int { return workload.Compare(a.ID, b.ID) })
	slices.Sort(made.Paths)
	return made
}

// account notes whose an entry is after a commit.
func (w *Witness) account(s *Seen, c Commit) {
	if c.By == person && slices.ContainsFunc(c.Paths, func(path string) bool { return slices.Contains(w.story.InPlace, path) }) {
		w.all = true
	}
	for _, change := range c.Changes {
		t, is := w.theirs[change.ID]
		switch {
		case c.By == person:
			w.touched[change.ID] = true
			w.theirs[change.ID] = word{change.To.Replicas, w.story.Now.Add(yield)}
		case c.By == ours && is && change.From.Replicas != change.To.Replicas && c.When.Before(t.until):
			s.Overwrote = append(s.Overwrote, fmt.Sprintf("%s, which a person set to %d, went from %d to %d at %s, before %s",
				change.ID, t.replicas, change.From.Replicas, change.To.Replicas, c.When.Format(time.TimeOnly), t.until.Format(time.TimeOnly)))
		case change.From.Replicas != change.To.Replicas:
			delete(w.theirs, change.ID)
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
