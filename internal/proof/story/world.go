package story

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	latchmem "github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	repomem "github.com/gitlatch/gitlatch/internal/repo/mem"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Period is the time from one tick to the next.
const Period = 5 * time.Minute

// Site is the site of a new world.
const Site = "prod"

// Morning is when a new world begins.
var Morning = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// A World is a cluster, a repository and a state that a test plays with: the
// parts around a tick, all of them working, and a process that can be killed
// before any of its effects. Use NewWorld.
type World struct {
	Site    string
	Now     time.Time
	Cluster string
	Unread  []string
	// Unmeasured is what cannot be measured of demand.
	Unmeasured []string
	Fleet      map[workload.ID]workload.Sample

	Repository *repomem.Repository
	Store      latch.Store
	runs       int

	// Effects counts those of the tick under way; before the one that has the
	// number KillBefore the process is dead. 0 kills nobody.
	Effects, KillBefore int
	// Rival acts between a tick's read and its push, once.
	Rival func()
	// Refuse is what the server says to every push; "" takes them.
	Refuse string
	// OnDisk is a repository without a server, which refuses by itself.
	OnDisk bool
	// LostReply makes the next push land without the tick hearing of it.
	LostReply bool
	// Hold keeps the next push from landing, and the tick from an answer; held is
	// that push.
	Hold     bool
	held     *repo.Commit
	Requests int            // to the repository, in the last tick
	Kinds    workload.Kinds // that the site's Config names
	// Propose lets every crossing be proposed; without Host there is nothing to
	// propose to.
	Propose, Host bool
	// Flush is what the ticks from now on flush.
	Flush policy.Flush

	// InPlace are the files that are edited in place.
	InPlace []string

	// Sent are the alerts that arrived; Deaf is a topic that takes none, Refused the
	// kind that it will never take.
	Sent    []alert.Alert
	Deaf    bool
	Refused alert.Kind
}

// NewWorld returns a world whose repository holds the files.
func NewWorld(files map[string]string) *World {
	return &World{
		Site:       Site,
		Now:        Morning,
		Cluster:    "uid-blue",
		Fleet:      map[workload.ID]workload.Sample{},
		Repository: repomem.New(files),
		Store:      latchmem.New(),
	}
}

// ErrKilled is what a tick ends with that was killed.
var ErrKilled = errors.New("killed")

// Tick runs one tick at the present instant.
func (w *World) Tick(change ...func(*tick.Tick)) (tick.Report, error) {
	w.runs++
	w.Effects, w.Requests = 0, 0
	t := &tick.Tick{
		Site:       w.Site,
		Owner:      fmt.Sprintf("run-%d", w.runs),
		Period:     Period,
		Lease:      Period - time.Minute,
		Sampler:    Sampler{w},
		Store:      mortalStore{w.Store, w},
		Repository: mortalRepository{w.Repository, w},
		Alerts:     topic{w},
		Flush:      w.Flush,
		InPlace:    w.InPlace,
		Clock:      func() time.Time { return w.Now },
		PolicyFile: "gitlatch.yaml",
		ParsePolicy: func(file string, data []byte) (policy.Set, error) {
			if data == nil {
				return config.DefaultPolicy(Period), nil
			}
			return config.ParsePolicy(file, data, Period, w.Kinds)
		},
	}
	if w.Host {
		t.Proposals, t.Propose = mortalProposals{w.Repository, w}, w.Propose
	}
	for _, c := range change {
		c(t)
	}
	return t.Run(context.Background())
}

// effect is called before each effect of a tick.
func (w *World) effect() error {
	w.Effects++
	if w.KillBefore > 0 && w.Effects >= w.KillBefore {
		return ErrKilled
	}
	return nil
}

// land lets the push that was held land.
func (w *World) land() error {
	_, err := w.Repository.Commit(context.Background(), *w.held)
	return err
}

// Tree is what git declares now, as a fresh reader would see it.
func (w *World) Tree() (checkpoint.Tree, error) {
	files := map[string][]byte{}
	for path, text := range w.Repository.Files() {
		files[path] = []byte(text)
	}
	return checkpoint.ParseTree(w.Site, files)
}

// State is what the store holds now.
func (w *World) State() (latch.Head, map[workload.ID]latch.Latch, error) {
	head, all, err := w.Store.Load(context.Background(), w.Site)
	latches := map[workload.ID]latch.Latch{}
	for _, l := range all {
		latches[l.ID] = l
	}
	return head, latches, err
}

// Person edits the entries of one namespace's record, as a person with an
// editor does: the record only, the rest of the files as they were.
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
	data := r.Format()
	if len(r.Entries) == 0 {
		data = nil
	}
	w.Repository.Edit(message, w.Now, map[string][]byte{checkpoint.RecordPath(w.Site, namespace): data})
}

// branch is the one from which the site proposes.
func (w *World) branch() string { return tick.ProposalBranch(w.Site) }
