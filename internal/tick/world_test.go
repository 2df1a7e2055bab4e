package tick_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
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

const (
	site   = "prod"
	period = 5 * time.Minute
)

var morning = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// world is a cluster, a repository and a state that a test plays with: the
// parts around a tick, all of them working, and a process that can be killed
// before any of its effects.
type world struct {
	now     time.Time
	cluster string
	unread  []string
	// unmeasured is what cannot be measured of demand.
	unmeasured []string
	fleet      map[workload.ID]workload.Sample

	repository *repomem.Repository
	store      latch.Store
	runs       int

	// effects counts those of the tick under way; before the one that has the
	// number killBefore the process is dead. 0 kills nobody.
	effects, killBefore int
	// rival acts between a tick's read and its push, once.
	rival func()
	// refuse is what the server says to every push; "" takes them.
	refuse string
	// onDisk is a repository without a server, which refuses by itself.
	onDisk bool
	// lostReply makes the next push land without the tick hearing of it.
	lostReply bool
	// lands makes the next push land although the server says that it refused it.
	lands bool
	// halfway has the host close the next proposal, and fail before it is done.
	halfway bool
	// hold keeps the next push from landing, and the tick from an answer; held is
	// that push.
	hold     bool
	held     *repo.Commit
	requests int
	// saves counts those of the tick under way, pushes the pushes of all ticks, and
	// savesBefore the saves that came before a push in the same tick.
	saves, pushes, savesBefore int
	kinds                      workload.Kinds // that the site's Config names
	// propose lets every crossing be proposed; without host there is nothing to
	// propose to.
	propose, host bool
	// flush is what the ticks from now on flush.
	flush policy.Flush

	// inPlace are the files that are edited in place.
	inPlace []string

	// sent are the alerts that arrived; deaf is a topic that takes none, refused the
	// kind that it will never take.
	sent    []alert.Alert
	deaf    bool
	refused alert.Kind
}

func newWorld(files map[string]string) *world {
	return &world{
		now:        morning,
		cluster:    "uid-blue",
		fleet:      map[workload.ID]workload.Sample{},
		repository: repomem.New(files),
		store:      latchmem.New(),
	}
}

var errKilled = errors.New("killed")

// tick runs one tick at the present instant.
func (w *world) tick(change ...func(*tick.Tick)) (tick.Report, error) {
	w.runs++
	w.effects, w.requests, w.saves = 0, 0, 0
	t := &tick.Tick{
		Site:       site,
		Owner:      fmt.Sprintf("run-%d", w.runs),
		Period:     period,
		Lease:      period - time.Minute,
		Sampler:    sampler{w},
		Store:      mortalStore{w.store, w},
		Repository: mortalRepository{w.repository, w},
		Alerts:     topic{w},
		Flush:      w.flush,
		InPlace:    w.inPlace,
		Clock:      func() time.Time { return w.now },
		PolicyFile: "gitlatch.yaml",
		ParsePolicy: func(file string, data []byte) (policy.Set, error) {
			if data == nil {
				return config.DefaultPolicy(period), nil
			}
			return config.ParsePolicy(file, data, period, w.kinds)
		},
	}
	if w.host {
		t.Proposals, t.Propose = mortalProposals{w.repository, w}, w.propose
	}
	for _, c := range change {
		c(t)
	}
	return t.Run(context.Background())
}

// effect is called before each effect of a tick.
func (w *world) effect() error {
	w.effects++
	if w.killBefore > 0 && w.effects >= w.killBefore {
		return errKilled
	}
	return nil
}

type topic struct{ *world }

func (t topic) Send(_ context.Context, a alert.Alert) error {
	if err := t.effect(); err != nil {
		return err
	}
	if t.deaf {
		return errors.New("topic does not exist")
	}
	if a.Kind == t.refused {
		return &alert.RefusedError{Cause: errors.New("message too long")}
	}
	t.sent = append(t.sent, a)
	return nil
}

type sampler struct{ *world }

func (s sampler) Sample(context.Context) (workload.Fleet, error) {
	f := workload.Fleet{Site: site, Cluster: s.cluster, At: s.now, Unread: s.unread, Unmeasured: s.unmeasured, Kinds: s.kinds}
	for _, id := range slices.SortedFunc(maps.Keys(s.fleet), workload.Compare) {
		f.Samples = append(f.Samples, s.fleet[id])
	}
	for _, unread := range s.unread {
		if err := lose(&f, unread); err != nil {
			return workload.Fleet{}, err
		}
	}
	return f, nil
}

// mortalStore and mortalRepository are the working adapters, with every effect
// announced first.
type mortalStore struct {
	latch.Store
	*world
}

func (s mortalStore) Acquire(ctx context.Context, site, owner string, now, until time.Time) (latch.Lease, error) {
	if err := s.effect(); err != nil {
		return latch.Lease{}, err
	}
	return s.Store.Acquire(ctx, site, owner, now, until)
}

func (s mortalStore) Save(ctx context.Context, l latch.Lease, h latch.Head, put []latch.Latch, drop []workload.ID) ([]latch.Latch, error) {
	if err := s.effect(); err != nil {
		return nil, err
	}
	s.saves++
	return s.Store.Save(ctx, l, h, put, drop)
}

func (s mortalStore) Release(ctx context.Context, l latch.Lease) error {
	if err := s.effect(); err != nil {
		return err
	}
	return s.Store.Release(ctx, l)
}

type mortalRepository struct {
	repo.Repository
	*world
}

func (r mortalRepository) Heads(ctx context.Context, also ...string) (string, []string, error) {
	r.requests++
	return r.Repository.Heads(ctx, also...)
}

func (r mortalRepository) Read(ctx context.Context, id string, known map[string]string, paths ...string) (map[string]repo.Object, error) {
	r.requests++
	return r.Repository.Read(ctx, id, known, paths...)
}

func (r mortalRepository) History(ctx context.Context, id, until string, limit int) ([]repo.LogEntry, bool, error) {
	r.requests++
	return r.Repository.History(ctx, id, until, limit)
}

func (r mortalRepository) Between(ctx context.Context, base, tip string) (repo.Window, error) {
	r.requests++
	return r.Repository.Between(ctx, base, tip)
}

func (r mortalRepository) Commit(ctx context.Context, c repo.Commit) (string, error) {
	if err := r.effect(); err != nil {
		return "", err
	}
	r.pushes, r.savesBefore = r.pushes+1, r.savesBefore+r.saves
	if rival := r.rival; rival != nil {
		r.rival = nil
		rival()
	}
	if r.refuse != "" {
		return "", &repo.RefusedError{Why: r.refuse, OnDisk: r.onDisk}
	}
	if r.hold {
		r.hold, r.held = false, &c
		return "", repo.ErrUnknown
	}
	id, err := r.Repository.Commit(ctx, c)
	if err == nil && r.lands {
		r.lands = false
		return "", &repo.RefusedError{Why: "gateway timeout"}
	}
	if err == nil && r.lostReply {
		r.lostReply = false
		return "", repo.ErrUnknown
	}
	return id, err
}

type mortalProposals struct {
	repo.Proposals
	*world
}

func (r mortalProposals) Find(ctx context.Context, branch string) (*repo.Proposal, error) {
	r.requests++
	return r.Proposals.Find(ctx, branch)
}

func (r mortalProposals) Ensure(ctx context.Context, d repo.Draft) (repo.Proposal, error) {
	if err := r.effect(); err != nil {
		return repo.Proposal{}, err
	}
	return r.Proposals.Ensure(ctx, d)
}

func (r mortalProposals) Close(ctx context.Context, p repo.Proposal, why string) error {
	if err := r.effect(); err != nil {
		return err
	}
	if r.halfway {
		r.halfway = false
		r.repository.Decline(p.ID) // the branch is left
		return errors.New("bad gateway")
	}
	return r.Proposals.Close(ctx, p, why)
}

// land lets the push that was held land.
func (w *world) land() error {
	_, err := w.repository.Commit(context.Background(), *w.held)
	return err
}

// entries are what git declares now, as a fresh reader would see it.
func (w *world) entries(t testing.TB) map[workload.ID]checkpoint.Entry {
	t.Helper()
	tree, err := w.tree()
	if err != nil {
		t.Fatal(err)
	}
	return tree.Entries()
}

func (w *world) tree() (checkpoint.Tree, error) {
	files := map[string][]byte{}
	for path, text := range w.repository.Files() {
		files[path] = []byte(text)
	}
	return checkpoint.ParseTree(site, files)
}

// latches are what the state holds now.
func (w *world) latches(t testing.TB) map[workload.ID]latch.Latch {
	t.Helper()
	_, all, err := w.store.Load(context.Background(), site)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[workload.ID]latch.Latch{}
	for _, l := range all {
		byID[l.ID] = l
	}
	return byID
}

func (w *world) head(t testing.TB) latch.Head {
	t.Helper()
	head, _, err := w.store.Load(context.Background(), site)
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// person edits the entries of one namespace's record, as a person with an
// editor does: the record only, the rest of the files as they were.
func (w *world) person(message string, edit func(map[workload.ID]checkpoint.Entry), namespace string) {
	tree, err := w.tree()
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
	w.repository.Edit(message, w.now, map[string][]byte{checkpoint.RecordPath(site, namespace): data})
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func sortedLatches(m map[workload.ID]latch.Latch) []latch.Latch {
	return slices.SortedFunc(maps.Values(m), func(a, b latch.Latch) int { return workload.Compare(a.ID, b.ID) })
}
