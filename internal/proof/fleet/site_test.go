package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	period = 5 * time.Minute
	// lookTakes is the approximate time of a sample of a cluster, and stateTakes of a
	// request to the state.
	lookTakes  = time.Second
	stateTakes = 10 * time.Millisecond
)

var begin = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

const policyFile = "gitlatch.yaml"

const latching = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies: [{name: default, match: {}, series: 1-2-5}]\n"

// levels lists the levels of the series 1-2-5 in an independent way.
func level(need int32) int32 {
	for decade := int32(1); ; decade *= 10 {
		for _, digit := range []int32{1, 2, 5} {
			if digit*decade >= need {
				return digit * decade
			}
		}
	}
}

// A site is simulated, except for its tick.
type site struct {
	*run
	name, branch string
	needs        map[workload.ID]int32 // the initial desired replicas
	// rises are the times at which a workload's desired replicas tripled.
	rises  map[workload.ID][]time.Duration
	random *rand.Rand
	ticks  int
}

func id(namespace, name string) workload.ID {
	return workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: name}
}

// The workloads of each site. A user edits the entry of the last one, and it never
// rises.
var (
	rising    = []workload.ID{id("pay", "api"), id("shop", "cart"), id("shop", "web")}
	byHand    = id("shop", "zone")
	workloads = append(slices.Clone(rising), byHand)
)

func (s *site) need(of workload.ID, at time.Duration) int32 {
	n := s.needs[of]
	for _, rise := range s.rises[of] {
		if rise <= at {
			n *= 3
		}
	}
	return n
}

const least, most = 2, 20000

// files returns the initial content of the site's directory.
func (s *site) files() map[string][]byte {
	var changes []checkpoint.Change
	for _, w := range workloads {
		changes = append(changes, checkpoint.Change{ID: w, To: checkpoint.Entry{Replicas: level(s.needs[w]), Min: least, Max: most}})
	}
	files, _ := checkpoint.Merge(checkpoint.Tree{}, checkpoint.Site{Name: s.name, Cluster: s.cluster()}, changes)
	return files
}

func (s *site) cluster() string { return "uid-" + s.name }

// state returns the state that the site's ticks saved.
func (s *site) state() (latch.Head, map[workload.ID]latch.Latch) {
	head, latches, err := latch.Load(s.t.Context(), s.store, s.name)
	if err != nil {
		s.t.Fatal(err)
	}
	return head, latches
}

// waits reports whether the level for a workload's present desired replicas has not
// landed.
func (s *site) waits(w workload.ID, latches map[workload.ID]latch.Latch) bool {
	return latches[w].Declared.Replicas != level(s.need(w, s.now))
}

// A process makes one tick, and may die during it.
type process struct {
	*site
	way *way
	latch.Store
}

// tick makes one tick, and stores its report.
func (s *site) tick(turn time.Duration) {
	s.ticks++
	p := &process{site: s, way: &way{host: s.host, branch: s.branch}, Store: s.store}
	p.way.diesAt, p.way.losesReply = s.fate()
	repository, err := gitwire.Open(gitwire.Options{
		URL: s.server.URL("fleet"), Branch: s.branch, Transport: p.way,
		Pause: func(_ context.Context, try int) error {
			s.clock.sleep(jittered(200*time.Millisecond<<(try-1), s.random))
			return nil
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	t := &tick.Tick{
		Site: s.name, Owner: fmt.Sprintf("%s/%d", s.name, s.ticks), Period: period, Lease: period * 9 / 10, Turn: begin.Add(turn),
		Sampler: p, Store: p, Repository: repository, Clock: s.time,
		Wait:       func(_ context.Context, d time.Duration) { s.clock.sleep(jittered(d, s.random)) },
		PolicyFile: policyFile, ParsePolicy: s.parsePolicy,
	}
	from := s.now
	r, _ := t.Run(s.t.Context()) // the next turn repeats a failed tick
	s.note(s, p.way, from, r)
	if err := repository.Close(); err != nil {
		s.t.Error(err)
	}
}

// fate draws the fate of the process: one of 200 dies, and one of 100 processes that push
// loses the reply.
func (s *site) fate() (diesAt int, losesReply bool) {
	if s.random.IntN(200) == 0 {
		diesAt = 1 + s.random.IntN(7)
	}
	return diesAt, s.random.IntN(100) == 0
}

func (r *run) time() time.Time { return begin.Add(r.now) }

func (r *run) parsePolicy(file string, data []byte) (policy.Set, error) {
	if string(data) == latching {
		return r.policy, nil
	}
	return config.ParsePolicy(file, data, period)
}

// Sample samples the fake cluster.
func (p *process) Sample(context.Context, workload.Kinds) (workload.Fleet, error) {
	p.clock.sleep(jittered(lookTakes, p.random))
	f := workload.Fleet{Site: p.name, Cluster: p.cluster(), At: p.time()}
	for _, w := range workloads {
		n := p.need(w, p.now)
		f.Samples = append(f.Samples, workload.Sample{ID: w, Rollout: &workload.Rollout{Desired: n}, Scale: &workload.Scale{
			Desired: n, Ready: n, Driver: workload.DrivenByHPA, Min: least, Max: most,
		}})
	}
	return f, nil
}

func (p *process) Acquire(ctx context.Context, site, owner string, now, until time.Time) (latch.Lease, error) {
	if p.gone() {
		return latch.Lease{}, errDead
	}
	return p.Store.Acquire(ctx, site, owner, now, until)
}

func (p *process) Head(ctx context.Context, site string) (latch.Head, error) {
	if p.gone() {
		return latch.Head{}, errDead
	}
	return p.Store.Head(ctx, site)
}

func (p *process) Latches(ctx context.Context, site string) (map[workload.ID]latch.Latch, error) {
	if p.gone() {
		return nil, errDead
	}
	return p.Store.Latches(ctx, site)
}

func (p *process) Save(ctx context.Context, l latch.Lease, h latch.Head, put []latch.Latch, drop []workload.ID) error {
	if p.gone() {
		return errDead
	}
	return p.Store.Save(ctx, l, h, put, drop)
}

func (p *process) Release(ctx context.Context, l latch.Lease) error {
	if p.gone() {
		return errDead
	}
	return p.Store.Release(ctx, l)
}

// gone waits for the duration of a request to the state, unless the process is dead. It
// reports whether the process is dead.
func (p *process) gone() bool {
	if !p.way.dead {
		p.clock.sleep(stateTakes)
	}
	return p.way.dead
}
