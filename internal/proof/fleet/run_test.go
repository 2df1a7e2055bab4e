package fleet

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/functions/fleet"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	latchmem "github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A plan is the number of sites that share the repository, and their division.
type plan struct {
	sites int
	// branches is the number of branches. Each site uses one of them.
	branches int
	// spread is the duration in which the ticks of a period start; 0 starts them
	// together.
	spread time.Duration
	// workers is the number of ticks that run at once; 0 means no limit.
	workers int
	// ordinary is the number of periods after the storm in which one of a hundred sites
	// rises.
	ordinary int
	// limit is the number of periods after which the run stops waiting; 0 is a limit that
	// only a fault reaches.
	limit int
}

// Events by the number of the period: the first samples, then a region in which all
// sites rise at once, so every level changes with the second sample.
const (
	regionRises = 1
	storm       = regionRises + 1
)

// A run is the result of a plan.
type run struct {
	*clock
	*host
	plan
	t      testing.TB
	store  *latchmem.Store
	policy policy.Set
	sites  []*site

	looks   []look
	written map[string]string
	edited  map[string]bool   // sites with a checkpoint file that a user edited
	held    map[string]string // the final content of git, by branch and path
	dropped int               // turns that were so late that the next one was due
}

// A look is one tick, as its report describes it.
type look struct {
	site          string
	period        int
	asked, pushed int
	crosses       bool
	commit        string // "" without a commit
	held          bool
	took          time.Duration
}

// play runs a plan to its end.
func (p plan) play(t testing.TB) *run {
	c := newClock()
	set, err := config.ParsePolicy(policyFile, []byte(latching), period)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{clock: c, host: newHost(t, c), plan: p, t: t, store: latchmem.New(), policy: set,
		written: map[string]string{}, edited: map[string]bool{}}
	random := rand.New(rand.NewPCG(1, uint64(p.sites)))
	for i := range p.sites {
		r.sites = append(r.sites, r.site(i, random))
	}
	r.fill()
	r.rise(random)
	c.start(0, r.dispatch)
	c.start(0, func() { r.people(rand.New(rand.NewPCG(2, 2))) })
	c.run()
	return r
}

// branch returns the branch of a site.
func (p plan) branch(i int) string {
	if p.branches == 1 {
		return "main"
	}
	return fmt.Sprintf("checkpoints/%04d", i%p.branches)
}

func (r *run) site(i int, random *rand.Rand) *site {
	s := &site{run: r, name: fmt.Sprintf("site-%04d", i), branch: r.plan.branch(i), needs: map[workload.ID]int32{}, rises: map[workload.ID][]time.Duration{},
		random: rand.New(rand.NewPCG(uint64(i), 3))}
	for _, w := range workloads {
		s.needs[w] = []int32{4, 8, 16, 40, 80}[random.IntN(5)]
	}
	return s
}

// rise draws when workloads start to need more replicas.
func (r *run) rise(random *rand.Rand) {
	for _, s := range r.sites {
		for _, w := range rising {
			s.rises[w] = append(s.rises[w], regionRises*period)
		}
	}
	for n := range r.ordinary {
		for range max(1, len(r.sites)/100) {
			s, w := r.sites[random.IntN(len(r.sites))], rising[random.IntN(len(rising))]
			// One at a time: a rise during another rise counts as one level change.
			if len(s.rises[w]) == 1 {
				s.rises[w] = append(s.rises[w], time.Duration(storm+n)*period)
			}
		}
	}
}

// fill writes the initial content of the repository in one call.
func (r *run) fill() {
	held := map[string]map[string][]byte{}
	for _, s := range r.sites {
		if held[s.branch] == nil {
			held[s.branch] = map[string][]byte{policyFile: []byte(latching)}
		}
		maps.Copy(held[s.branch], s.files())
	}
	var in bytes.Buffer
	for _, branch := range slices.Sorted(maps.Keys(held)) {
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter A Person <person@example.com> %d +0000\ndata 5\nbegin\n", branch, begin.Unix())
		for _, path := range slices.Sorted(maps.Keys(held[branch])) {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(held[branch][path]), held[branch][path])
		}
	}
	r.origin.GitInput(r.t, in.String(), "fast-import", "--quiet")
	r.origin.Git(r.t, "pack-refs", "--all")
}

// dispatch gives each site its turn in each period, until no level change waits.
func (r *run) dispatch() {
	pool := &workers{clock: r.clock, free: r.workers}
	if r.workers == 0 {
		pool.free = 2 * len(r.sites)
	}
	random := rand.New(rand.NewPCG(4, 4))
	for n := 0; n < cmp.Or(r.limit, 50) && (n <= storm+r.ordinary || r.behind() > 0); n++ {
		for _, s := range r.sites {
			due := time.Duration(n) * period
			if r.spread > 0 {
				due += fleet.Delay(s.name, r.spread)
			}
			turn := func() {
				pool.begin()
				defer pool.end()
				if r.now >= due+period {
					r.dropped++
					return
				}
				s.tick(due)
			}
			r.start(due, turn)
			if random.IntN(50) == 0 { // a queue delivers at least once
				r.start(due+time.Duration(random.IntN(3000))*time.Millisecond, turn)
			}
		}
		r.sleep(period)
	}
}

// people commits for users to the same branches during the storm: a new file each time,
// and a level every fifth time.
func (r *run) people(random *rand.Rand) {
	r.sleep(storm * period)
	times := 5 + len(r.sites)/10
	for n := range times {
		s := r.sites[random.IntN(len(r.sites))]
		path, text := fmt.Sprintf("apps/%d.txt", n), "by hand\n"
		record := n%5 == 0 && !r.edited[s.name]
		if record {
			path, r.edited[s.name] = checkpoint.RecordPath(s.name, byHand.Namespace), true
		} else {
			r.written[s.branch+":"+path] = text
		}
		r.act(jittered(requestTakes, random), &deed{branch: s.branch, moves: true, do: func() {
			if record {
				text = edit(r.origin.Show(r.t, s.branch, path))
			}
			r.origin.Push(r.t, s.branch, map[string]string{path: text}, byHandSubject)
		}})
		r.sleep(jittered(period/time.Duration(times), random))
	}
}

// note stores the report of a tick.
func (r *run) note(s *site, w *way, from time.Duration, report tick.Report) {
	l := look{site: s.name, period: int(r.now / period), asked: w.asked, pushed: w.pushed, held: report.NotRun != "", took: r.now - from}
	if report.Commit != nil {
		l.commit = report.Commit.ID
	}
	l.crosses = slices.ContainsFunc(report.Decisions, policy.Decision.Crosses)
	r.looks = append(r.looks, l)
}

// behind returns the number of workloads whose present desired replicas have not
// landed.
func (r *run) behind() (n int) {
	for _, s := range r.sites {
		_, latches := s.state()
		for _, w := range rising {
			if s.waits(w, latches) {
				n++
			}
		}
	}
	return n
}
