//go:build gitops

package rebuild

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore"
	restorecluster "github.com/gitlatch/gitlatch/internal/restore/cluster"
	"github.com/gitlatch/gitlatch/internal/testenv/load"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// In a late rebuild, the namespace later appears some time after the namespace early.
const early, later = "shop", "pay"

// arm names a late rebuild.
func arm(w way, braked bool) string {
	if braked {
		return w.name + " braked"
	}
	return w.name + " unbraked"
}

// lateWays returns the methods whose late rebuilds the form measures.
func (f form) lateWays() []way {
	switch {
	case f.late > 0:
		return selected(ways)
	case f.quick:
		return ways[:1]
	}
	return nil
}

// rebuildLate rebuilds the cluster by one method while it has no traffic. If braked is
// true, a restore with --wait starts after the first apply. The traffic comes when the
// autoscalers have had time to lower the cluster.
func (f form) rebuildLate(t *testing.T, w way, k *keeper, braked bool, creating *sync.Mutex) run {
	c := newCluster(t, f, k)
	c.traffic(0)
	if w.prepare != nil {
		w.prepare(c, t)
	}
	create := func(part string) {
		creating.Lock()
		defer creating.Unlock()
		w.create(c, t, part)
	}
	create(early)
	c.from = time.Now()
	restored := make(chan error, 1)
	if braked {
		tree, err := checkpoint.ParseTree(site, k.branch(t))
		must(t, err)
		go func() { restored <- c.restore(t.Context(), tree) }()
	}
	must(t, c.wait(t, f.after+settling, func(load.Look) string {
		if lacks := c.passed(f.after); lacks != "" || !braked {
			return lacks
		}
		return c.lacking(t, "no brake", early, autoscaler.braked)
	}))
	create(later)
	if braked {
		must(t, <-restored)
	}
	if w.tool {
		w.reconcile(c, t, early)
		w.reconcile(c, t, later)
	}
	must(t, c.wait(t, f.late+settling, func(l load.Look) string {
		switch {
		case f.late > 0:
			return c.passed(f.late)
		case braked:
			return c.lacking(t, "nothing to stop", "", autoscaler.stopped)
		}
		return c.lowered(l)
	}))

	c.traffic(1)
	c.from = time.Now()
	_ = c.wait(t, f.deadline, func(l load.Look) string { // run.recovered reports whether it recovered
		if l.At.Sub(c.from) < f.within {
			return "the traffic has just come"
		}
		if f.quick && !braked {
			return "" // only its replicas at the start of the traffic count
		}
		return c.served(l)
	})
	return run{way: arm(w, braked), form: f, from: c.from, looks: c.looks()}
}

// traffic sets the load of every workload to a share of its full load.
func (c *cluster) traffic(share float64) {
	for _, m := range c.form.fleet() {
		c.load.Set(m.String(), share*m.load())
	}
}

// restore runs a restore with --wait.
func (c *cluster) restore(ctx context.Context, tree checkpoint.Tree) error {
	client, err := restorecluster.New(c.cp.Config())
	if err != nil {
		return err
	}
	r := &restore.Restore{
		Site: site, Cluster: client, Clock: time.Now,
		Wait:    func(ctx context.Context, d time.Duration) { _ = backoff.Sleep(ctx, d) },
		Pace:    restore.Pace(),
		Hold:    restore.Hold,
		Every:   min(restore.Every, c.form.sync),
		Recheck: c.form.recheck,
		WaitFor: restore.WaitFor,
	}
	report, err := r.Run(ctx, tree)
	return errors.Join(err, report.Err())
}

// passed returns a text until a time has passed since the first apply.
func (c *cluster) passed(after time.Duration) string {
	if since := time.Since(c.from); since < after {
		return fmt.Sprintf("only %s have passed", since)
	}
	return ""
}

// lowered lists the workloads that their autoscalers have not lowered to the minimum.
func (c *cluster) lowered(l load.Look) string {
	var lacks []string
	for _, m := range c.form.fleet() {
		if n := l.Scales[m.String()].Asked; n != 1 {
			lacks = append(lacks, fmt.Sprintf("%s has %d replicas", m, n))
		}
	}
	return strings.Join(lacks, "; ")
}

// An autoscaler has the fields of an HPA that late rebuilds read.
type autoscaler struct {
	Metadata struct {
		Namespace, Name string
		Annotations     map[string]string
	}
	Status struct {
		Conditions []struct{ Type, Status, Reason string }
	}
}

// braked reports whether a restore braked the autoscaler.
func (a autoscaler) braked() bool { return a.Metadata.Annotations[workload.BrakeAnnotation] != "" }

// stopped reports whether the autoscaler wants to lower its workload and may not.
func (a autoscaler) stopped() bool {
	for _, c := range a.Status.Conditions {
		if c.Type == "ScalingLimited" && c.Status == "True" && c.Reason == "ScaleDownLimit" {
			return true
		}
	}
	return false
}

// lacking lists the workloads of a namespace, or of all with "", whose autoscaler does
// not exist or is not as is requires.
func (c *cluster) lacking(t *testing.T, what, namespace string, is func(autoscaler) bool) string {
	var list struct{ Items []autoscaler }
	if err := c.cp.Read(t.Context(), "/apis/autoscaling/v2/horizontalpodautoscalers", &list); err != nil {
		return err.Error()
	}
	good := map[string]bool{}
	for _, a := range list.Items {
		good[a.Metadata.Namespace+"/"+a.Metadata.Name] = is(a)
	}
	var lacks []string
	for _, m := range c.form.fleet() {
		if (namespace == "" || namespace == m.namespace) && !good[m.String()] {
			lacks = append(lacks, fmt.Sprintf("the autoscaler of %s has %s", m, what))
		}
	}
	return strings.Join(lacks, "; ")
}

// serving returns the share of the fleet's need that is ready, in the last sample within a
// time after the traffic, or else in the first one.
func (r run) serving(within time.Duration) float64 {
	at := r.looks[0]
	for _, l := range r.looks {
		if l.At.Sub(r.from) <= within {
			at = l
		}
	}
	need, ready := 0, 0
	for _, m := range r.form.fleet() {
		need += m.need
		ready += min(m.need, at.States[m.String()].Ready)
	}
	return float64(ready) / float64(need)
}

// shortest is the least time until the load is served that a speedup counts. A braked
// cluster serves it at once.
const shortest = 15 * time.Second

// lateSpeedup returns the ratio of the times from the traffic until all load is
// served, without the brakes and with them.
func lateSpeedup(unbraked, braked run) float64 {
	slow, _ := unbraked.recovered()
	fast, _ := braked.recovered()
	return slow.Seconds() / max(fast, shortest).Seconds()
}

// lateFigures returns the figures of the late rebuilds, a line each. If a cluster did not
// serve its load, a line before them states the time that was waited.
func (f form) lateFigures(runs map[string]run) string {
	var text strings.Builder
	for _, w := range f.lateWays() {
		for _, braked := range []bool{true, false} {
			if after, ok := runs[arm(w, braked)].recovered(); !ok {
				fmt.Fprintf(&text, "%s did not serve its load in the %s that it was given, which count as its time:\n", arm(w, braked), after)
			}
		}
		braked, unbraked := runs[arm(w, true)], runs[arm(w, false)]
		fmt.Fprintf(&text, "figure late_coverage_braked_%s_%d %.2f\n", w.name, f.pods, braked.serving(f.within))
		fmt.Fprintf(&text, "figure late_coverage_unbraked_%s_%d %.2f\n", w.name, f.pods, unbraked.serving(f.within))
		fmt.Fprintf(&text, "figure late_speedup_%s_%d %.1f\n", w.name, f.pods, lateSpeedup(unbraked, braked))
	}
	return text.String()
}

// compareLate compares the late rebuilds with brakes and without. The quick form runs next
// to other tests on any machine, so only its coverage is judged.
func (f form) compareLate(t *testing.T, runs map[string]run) {
	t.Helper()
	for _, w := range f.lateWays() {
		braked, unbraked := runs[arm(w, true)], runs[arm(w, false)]
		with, without := braked.serving(f.within), unbraked.serving(f.within)
		t.Logf("%s, late traffic: %.2f of the need serve with brakes, and %.2f without", w.name, with, without)
		if with < covered || without >= covered {
			t.Errorf("%s: %.2f of the need serve late traffic with brakes, want %g; %.2f without brakes, want less", w.name, with, covered, without)
		}
		if speedup := lateSpeedup(unbraked, braked); !f.quick && speedup < sooner {
			t.Errorf("%s: late traffic is served %.1f times sooner with brakes, want %d", w.name, speedup, sooner)
		}
	}
	if f.late > 0 {
		fmt.Print(f.lateFigures(runs))
	}
}
