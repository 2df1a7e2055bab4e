package story

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	latchmem "github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/applied"
	"github.com/gitlatch/gitlatch/internal/testenv/codecommitmem"
	"github.com/gitlatch/gitlatch/internal/testenv/dynamomem"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Period is the time from one tick to the next.
const Period = 5 * time.Minute

// Site is the site of a new world.
const Site = "prod"

// Morning is the start of a new world.
var Morning = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// A World is a cluster, a repository and a state for tests: working parts around a tick,
// and a process that can be killed before any of its effects. Use NewWorld.
type World struct {
	Site    string
	Now     time.Time
	Cluster string
	Unread  []workload.Unread
	// Unmeasured are the sources that cannot measure demand.
	Unmeasured []workload.Unread
	Fleet      map[workload.ID]workload.Sample
	Levels     Levels

	Repository *repomem.Repository
	Store      latch.Store
	kept       *kept                  // nil if unknown
	cloud      *codecommitmem.Service // CodeCommit, beside DynamoDB; nil without the adapters of AWS
	ticking    bool
	pushing    time.Time // the instant of the last push
	runs       int

	// Effects counts the effects of the running tick.
	Effects int
	Faults
	// Unfenced is true after a save by a tick that no longer had the lease.
	Unfenced bool
	fence    int64
	// Pushes counts the pushes of all ticks, Proposed the pushes to the proposal's
	// branch, and SavesBefore the saves ahead of a push in the same tick.
	Pushes, Proposed, SavesBefore int
	// Saves counts the saves of the running tick.
	Saves int
	// Pushed is true if the last tick pushed, whether or not the push landed.
	Pushed bool
	// Settled are the instants that the last tick saved.
	Settled map[time.Time]bool
	// Merged are the commits that merged a proposal for a user.
	Merged map[string]bool
	// policies are the parsed policies, by their text.
	policies map[string]policy.Set
	// Disturbed is true if the last tick had a fault, or if someone else acted during
	// it.
	Disturbed bool
	// Rival acts between a tick's read and its push, once.
	Rival func()
	// OnDisk is true for a repository without a server, which itself refuses pushes.
	OnDisk bool
	// Held is a push that has not landed yet; nil if there is no such push.
	Held     *repo.Commit
	Requests int // to the repository, in the last tick
	// Propose makes the site propose every level change. It needs Host.
	Propose, Host bool
	// Flush makes the following ticks flush.
	Flush bool

	// PolicyFile is the path of the policy, as the configuration names it.
	PolicyFile string
	// Guards replaces the guards of each policy that is not zero here, so that a story of
	// hours has edit grace periods and retirements.
	Guards policy.Guards

	// Sent are the alerts that arrived since the last call that read them. Arrived
	// counts, by id, how often each alert arrived or was permanently refused.
	Sent    []alert.Alert
	Arrived map[string]int
	// Fixes has the fixes of all alerts that arrived, by kind.
	Fixes map[alert.Kind][]string
}

// NewWorld returns a world whose repository has the files.
func NewWorld(files map[string]string) *World {
	return &World{
		Site:       Site,
		PolicyFile: "gitlatch.yaml",
		Now:        Morning,
		Cluster:    "uid-blue",
		Fleet:      map[workload.ID]workload.Sample{},
		Levels:     Levels{Cluster: applied.Cluster{Minor: 37, Lost: map[string]bool{}}},
		Repository: repomem.New(files),
		Store:      latchmem.New(),
		Merged:     map[string]bool{},
		policies:   map[string]policy.Set{},
		Arrived:    map[string]int{},
		Fixes:      map[alert.Kind][]string{},
	}
}

// Tick runs one tick at the present instant.
func (w *World) Tick(change ...func(*tick.Tick)) (tick.Report, error) {
	w.runs++
	w.Effects, w.Requests, w.Saves, w.Disturbed, w.Pushed = 0, 0, 0, false, false
	w.Settled = map[time.Time]bool{}
	w.ticking = true
	defer func() { w.ticking = false }()
	repository, proposals := repo.Repository(w.Repository), repo.Proposals(w.Repository)
	if w.cloud != nil {
		process := w.cloud.Adapter()
		repository, proposals = process, process
	}
	t := &tick.Tick{
		Site:        w.Site,
		Base:        "main",
		Owner:       fmt.Sprintf("run-%d", w.runs),
		Period:      Period,
		Lease:       Period - time.Minute,
		Sampler:     Sampler{w},
		Levels:      Sampler{w},
		Store:       mortalStore{w.Store, w},
		Repository:  mortalRepository{repository, w},
		Alerts:      topic{w},
		Flush:       w.Flush,
		Clock:       func() time.Time { return w.Now },
		PolicyFile:  w.PolicyFile,
		ParsePolicy: w.parsePolicy,
	}
	if w.Host {
		t.Proposals, t.Propose = mortalProposals{proposals, w}, w.Propose
	}
	for _, c := range change {
		c(t)
	}
	return t.Run(context.Background())
}

// parsePolicy parses a policy, and caches the result.
func (w *World) parsePolicy(file string, data []byte) (set policy.Set, err error) {
	defer func() {
		set.NoReview = !w.Host
		set.Guards.Yield = cmp.Or(w.Guards.Yield, set.Guards.Yield)
		set.Guards.RetireAfter = cmp.Or(w.Guards.RetireAfter, set.Guards.RetireAfter)
		set.Guards.RetireShare = cmp.Or(w.Guards.RetireShare, set.Guards.RetireShare)
		set.Guards.DropLeast = cmp.Or(w.Guards.DropLeast, set.Guards.DropLeast)
	}()
	if data == nil {
		return config.DefaultPolicy(Period), nil
	}
	if set, ok := w.policies[string(data)]; ok {
		return set, nil
	}
	if set, err = config.ParsePolicy(file, data, Period); err == nil {
		w.policies[string(data)] = set
	}
	return set, err
}

// newStore returns an empty store.
func (w *World) newStore() latch.Store {
	if w.cloud == nil {
		return latchmem.New()
	}
	table := &dynamomem.Table{Write: func(write func() error) error {
		if !w.ticking { // a user's command
			return write()
		}
		return w.does(write)
	}}
	return dynamo.Open(dynamo.Options{Table: "gitlatch", Client: table, AtOnce: 1})
}

// inCloud gives the world the adapters of CodeCommit and DynamoDB, over services in memory that
// enforce conditions. Each of their writes is an effect.
func (w *World) inCloud() {
	w.cloud = &codecommitmem.Service{Memory: w.Repository, Write: w.does, Now: func() time.Time { return w.pushing }, Read: func() error {
		if w.KillBefore > 0 && w.Effects >= w.KillBefore {
			return ErrKilled
		}
		return nil
	}}
	w.Store = w.newStore()
}

// land lands the waiting push.
func (w *World) land() error {
	if w.Held == nil {
		return errors.New("no push waits")
	}
	_, err := w.Repository.Commit(context.Background(), *w.Held)
	return err
}

// Tree returns the present tree in git, as a fresh reader would see it. It leaves out a
// site.yaml that a story broke.
func (w *World) Tree() (checkpoint.Tree, error) {
	files := map[string][]byte{}
	for path, text := range w.Repository.Files() {
		if path != checkpoint.SitePath(w.Site) || text != broken {
			files[path] = []byte(text)
		}
	}
	return checkpoint.ParseTree(w.Site, files)
}

// State returns the present content of the store.
func (w *World) State() (latch.Head, map[workload.ID]latch.Latch, error) {
	return latch.Load(context.Background(), w.Store, w.Site)
}

// Kept is like State, without decoding the saved values. The caller must not change it.
func (w *World) Kept() (latch.Head, map[workload.ID]latch.Latch, error) {
	if k := w.kept; k != nil && k.store == w.Store {
		return k.head, k.latches, nil
	}
	head, latches, err := w.State()
	w.kept = &kept{w.Store, head, latches}
	return head, latches, err
}

// kept is the last known content of a store.
type kept struct {
	store   latch.Store
	head    latch.Head
	latches map[workload.ID]latch.Latch
}

// saved stores the saved values, so that they need not be decoded.
func (w *World) saved(h latch.Head, put []latch.Latch, drop []workload.ID) error {
	w.Settled[h.At] = true
	if w.kept == nil || w.kept.store != w.Store {
		return nil
	}
	next := &kept{w.Store, h, maps.Clone(w.kept.latches)}
	for _, l := range put {
		l.Rev++
		data, err := latch.Encode(l)
		if err != nil {
			return err
		}
		if next.latches[l.ID], err = latch.Decode[latch.Latch]("kept", data); err != nil {
			return err
		}
	}
	for _, id := range drop {
		delete(next.latches, id)
	}
	w.kept = next
	return nil
}

// Person edits the entries of one namespace's checkpoint file, like a user with an
// editor. It changes no other file.
func (w *World) Person(message string, edit func(map[workload.ID]checkpoint.Entry), namespace string) {
	tree, err := w.Tree()
	if err != nil {
		panic(err)
	}
	r := checkpoint.Record{Namespace: namespace, Entries: maps.Clone(tree.Records[namespace].Entries)}
	if r.Entries == nil {
		r.Entries = map[workload.ID]checkpoint.Entry{}
	}
	edit(r.Entries)
	w.Repository.Edit(message, w.Now, map[string][]byte{checkpoint.RecordPath(w.Site, namespace): r.Format()})
}

// branch returns the name of the site's proposal branch.
func (w *World) branch() string { return ledger.ProposalBranch(w.Site) }
