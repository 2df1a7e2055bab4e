//go:build gitops

package rebuild

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/testenv/load"
)

const (
	// settling is the time limit for changes that take a few periods on an idle machine.
	settling = 6 * time.Minute
	// sooner is the minimum speedup at Kubernetes' own pace: the ratio of the times until
	// a cluster serves its load again.
	sooner = 5
	// covered is the minimum share of the desired pods that are ready, after all of them
	// were ready once.
	covered = 0.95
)

// TestRebuild deletes a cluster and rebuilds it from git, without checkpoints and by each
// method with them. Without -pods it runs the quick form. With -methods, each rebuild has
// the machine to itself.
func TestRebuild(t *testing.T) {
	t.Parallel()
	lowest := math.Inf(1) // of all measured sizes
	for _, f := range forms(t) {
		t.Run(fmt.Sprintf("%d pods", f.pods), func(t *testing.T) {
			k := newKeeper(t, f.files(), 5*time.Minute)
			if !t.Run("the first cluster", func(t *testing.T) { f.firstCluster(t, k) }) {
				return
			}
			runs := &runs{of: map[string]run{}}
			t.Run("rebuilt", func(t *testing.T) {
				beside := func(t *testing.T) {
					if len(methods()) == 0 {
						t.Parallel()
					}
				}
				for _, w := range f.ways() {
					t.Run(w.name, func(t *testing.T) {
						beside(t)
						runs.add(f.rebuild(t, w, k, &runs.creating))
					})
				}
				for _, w := range f.lateWays() {
					for _, braked := range []bool{true, false} {
						t.Run(arm(w, braked), func(t *testing.T) {
							beside(t)
							runs.add(f.rebuildLate(t, w, k, braked, &runs.creating))
						})
					}
				}
			})
			if t.Failed() {
				return
			}
			f.compareLate(t, runs.of)
			if f.late > 0 {
				return
			}
			f.compare(t, runs.of)
			if !f.quick {
				f.print(runs.of)
				lowest = min(lowest, f.lowest(runs.of))
			}
		})
	}
	if !math.IsInf(lowest, 1) {
		fmt.Printf("figure coverage_after_ready_min %.2f\n", lowest)
	}
}

// runs are the runs of one form, by method.
type runs struct {
	// creating is locked while a run creates all workloads at once, because that uses
	// all resources of a small machine.
	creating sync.Mutex
	mu       sync.Mutex
	of       map[string]run
}

func (r *runs) add(one run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[one.way] = one
	if after, ok := one.recovered(); !one.form.quick {
		fmt.Printf("%d pods, %s: serves its load after %s\n%s", one.form.pods, one.way, span(after, ok), one.cpu)
	}
}

// firstCluster grows the workloads before it runs the ticks. Its checkpoint survives
// it.
func (f form) firstCluster(t *testing.T, k *keeper) {
	c := newCluster(t, f, k)
	c.cp.Kubectl(t, f.grown(), "create", "-f", "-")
	must(t, c.wait(t, max(settling, f.deadline), c.atRest))
	s := k.sampler(t, c.cp, nil)
	for range 2 {
		k.tick(t, s)
	}
	same(t, "git", k.declares(t), f.levels())
}

// rebuild rebuilds the cluster by one method, and observes it. Without checkpoints it
// ends when the cluster serves its load. With checkpoints it ends when the autoscalers
// have had time to lower the cluster.
func (f form) rebuild(t *testing.T, w way, k *keeper, creating *sync.Mutex) run {
	if w.name == patient.name {
		f = f.patient()
	}
	c := newCluster(t, f, k)
	if w.prepare != nil {
		w.prepare(c, t)
	}
	if w.without {
		_ = c.rebuild(t, w) // run.recovered reports whether it recovered
		return run{way: w.name, form: f, from: c.from, looks: c.looks(), cpu: c.cpu}
	}
	func() {
		creating.Lock()
		defer creating.Unlock()
		must(t, c.rebuild(t, w))
	}()
	if w.reconcile == nil {
		return run{way: w.name, form: f, from: c.from, looks: c.looks(), cpu: c.cpu}
	}
	c.autoscaled(t)
	c.reconciled(t, w)
	r := run{way: w.name, form: f, from: c.from, looks: c.looks(), cpu: c.cpu}
	r.followed = c.follows(t)
	return r
}

// rebuild creates the workloads from git, and waits until they serve all of the load.
func (c *cluster) rebuild(t *testing.T, w way) error {
	t.Helper()
	c.profile(t, w.name)
	before := c.used()
	c.from = time.Now()
	w.create(c, t, everything)
	err := c.wait(t, c.form.deadline-time.Since(c.from), c.served)
	c.cpu = cpuText(before, c.used())
	return err
}

// looks returns the samples since the first apply.
func (c *cluster) looks() []load.Look {
	all := c.load.Looks()
	first := slices.IndexFunc(all, func(l load.Look) bool { return !l.At.Before(c.from) })
	return all[max(first, 0):]
}

// autoscaled waits until every autoscaler has moved the replicas, which the checkpoint
// rounded up, to its own target, within its tolerance of a tenth.
func (c *cluster) autoscaled(t *testing.T) {
	t.Helper()
	must(t, c.wait(t, c.form.calm+settling, func(l load.Look) string {
		if calm := l.At.Sub(c.from); calm < c.form.start+c.form.calm+2*c.form.sync {
			return fmt.Sprintf("only %s have passed", calm)
		}
		for _, m := range c.form.fleet() {
			s := l.Scales[m.String()]
			if !s.Owned || float64(s.Asked) > 1.12*float64(m.need) {
				return fmt.Sprintf("%s: %+v, need %d", m, s, m.need)
			}
		}
		return ""
	}))
}

// reconciled applies git again: replicas that the autoscalers lowered stay low.
func (c *cluster) reconciled(t *testing.T, w way) {
	t.Helper()
	before := c.load.Last()
	from := time.Now()
	w.reconcile(c, t, everything)
	time.Sleep(2 * c.form.sync)
	after := c.load.Last()
	for _, m := range c.form.fleet() {
		was, is := before.Scales[m.String()].Asked, after.Scales[m.String()].Asked
		if is > was && c.rescaled(t, m).Before(from.Truncate(time.Second)) {
			t.Errorf("%s went from %d to %d when git was applied again, and not by its autoscaler", m, was, is)
		}
	}
}

// follows doubles the load of the smallest workload, and returns how long its
// autoscaler took to follow.
func (c *cluster) follows(t *testing.T) time.Duration {
	t.Helper()
	all := c.form.fleet()
	m := all[len(all)-1]
	c.load.Set(m.String(), 2*m.load())
	from := time.Now()
	must(t, c.wait(t, settling, func(l load.Look) string {
		if s := l.Scales[m.String()]; float64(s.Asked) < 2/1.1*float64(m.need) {
			return fmt.Sprintf("%s: %+v under twice the load of %d pods", m, s, m.need)
		}
		return ""
	}))
	if at := c.rescaled(t, m); at.Before(from.Truncate(time.Second)) {
		t.Errorf("%s has another count, and its autoscaler last scaled it at %s, before the load changed", m, at)
	}
	return time.Since(from)
}

// rescaled returns when a workload's autoscaler last changed its replicas.
// managedFields does not show the first writer of replicas without an owner.
func (c *cluster) rescaled(t *testing.T, m member) time.Time {
	t.Helper()
	text := c.cp.Kubectl(t, "", "get", "hpa", "-n", m.namespace, m.name, "-o", "jsonpath={.status.lastScaleTime}")
	at, err := time.Parse(time.RFC3339, text)
	must(t, err)
	return at
}

// ran returns the methods with checkpoints that the runs contain.
func ran(runs map[string]run) []way {
	return lists.Filter(ways, func(w way) bool { return runs[w.name].way != "" })
}

// compare compares the methods with the cluster without checkpoints.
func (f form) compare(t *testing.T, runs map[string]run) {
	t.Helper()
	if without, ok := runs[absent.name]; ok {
		without.doubles(t)
	}
	for _, w := range ran(runs) {
		r := runs[w.name]
		fast, _ := r.recovered()
		t.Logf("%s: %s; a change of load was followed in %s", w.name, fast.Round(time.Second), r.followed.Round(time.Second))
		for _, other := range []way{absent, patient} {
			o, ok := runs[other.name]
			if !ok {
				continue
			}
			least := f.least()
			if other.name == patient.name {
				least = 1 // pods that never fail are better than reality
			}
			slow, _ := o.recovered()
			if slow.Seconds()/fast.Seconds() < least {
				t.Errorf("%s: serves its load after %s, which is not %g times sooner than %s (%s)", w.name, fast, least, slow, other.name)
			}
		}
		for _, m := range f.fleet() {
			r.hold(t, m)
		}
	}
}

// doubles checks the replica counts of a run without checkpoints.
func (r run) doubles(t *testing.T) {
	t.Helper()
	_, recovered := r.recovered()
	for _, m := range r.form.fleet() {
		counts := r.counts(m)
		t.Logf("%s without a checkpoint: %d", m, counts)
		// From 1 replica, the half that serves the load takes this number of doublings.
		if rounds := doublings((m.need + 1) / 2); recovered && len(counts)-1 < rounds {
			t.Errorf("%s without a checkpoint came to serve its load by %d, want %d doublings", m, counts, rounds)
		}
	}
}

// least returns the required speedup of a method. The quick form runs next to other
// tests on any machine. It is judged by its replica counts, and only has to be faster.
func (f form) least() float64 {
	if f.quick {
		return 1
	}
	return sooner
}

// hold checks the conditions for each workload that came back with a checkpoint.
func (r run) hold(t *testing.T, m member) {
	t.Helper()
	counts := r.counts(m)
	t.Logf("%s: %s: %d", r.way, m, counts)
	if level := r.form.levels()[m.id()]; len(counts) == 0 || counts[0] != level {
		t.Errorf("%s: %s was created at %d, want %d", r.way, m, counts, level)
	}
	if lowest, ok := r.coverage(m); !ok || lowest < covered {
		t.Errorf("%s: %s: %.2f of its need were ready, once all were (%v)", r.way, m, lowest, ok)
	}
	if judged, after, ok := r.owned(m); !ok || judged > 2 {
		t.Errorf("%s: the autoscaler of %s owned its count %s after the first apply, in its look %d (%v)", r.way, m, after, judged, ok)
	}
}

// doublings returns the number of doublings from 1 to n.
func doublings(n int) int {
	times := 0
	for have := 1; have < n; have *= 2 {
		times++
	}
	return times
}
