//go:build gitops

package rebuild

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/load"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// TestARebuiltOrIdleClusterNeverLowersACheckpoint ticks a site every minute. In the
// meantime its cluster is cloned, dies, comes back with one replica of each workload, and
// is read in part. Only the clock is simulated. The subtests are one story and run in
// order.
func TestARebuiltOrIdleClusterNeverLowersACheckpoint(t *testing.T) {
	t.Parallel()
	f := quickForm()
	f.start, f.every = time.Second, 500*time.Millisecond // the test does not depend on the speed of the growth
	s := &story{keeper: newKeeper(t, f.files(), time.Minute), form: f, faults: &faults{}}
	s.onDisk(t)
	s.clone = s.sampler(t, idleCluster(t, f), s.faults.wrap)
	for _, chapter := range []struct {
		name string
		tell func(*testing.T)
	}{
		{"beside a live cluster its idle clone is only read", s.beside},
		{"once it is alone, the clone lowers nothing for 30 hours", s.alone},
		{"nor does the rebuilt cluster, adopted while it grows", s.rebuilt},
		{"nor a clone that is the site's own by now, and is read in part", s.inPart},
	} {
		if !t.Run(chapter.name, chapter.tell) {
			return
		}
	}
}

// A story is the story of a site whose cluster changes.
type story struct {
	*keeper
	form  form
	clone tick.Sampler
	// faults are the faults of samples of the clone.
	faults *faults
	tip    string // of the branch, at the last check of its levels
}

// idleCluster starts a cluster with one replica of each workload and no load, so that the
// autoscalers keep one replica.
func idleCluster(t *testing.T, f form) *controlplane.ControlPlane {
	t.Helper()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 1)
	cp.Metrics(t, func(string) string { return "1m" })
	c := &cluster{form: f, cp: cp, git: checkOut(t, bytesOf(f.files()))}
	c.applyApps(t, everything)
	return cp
}

// holds runs a tick, and checks that it lowers no level in git.
func (s *story) holds(t *testing.T, of tick.Sampler) tick.Report {
	t.Helper()
	report := s.tick(t, of)
	tip, _, err := s.parts.Repository.Heads(t.Context())
	must(t, err)
	if tip == s.tip {
		return report
	}
	s.tip = tip
	declares := s.declares(t)
	for id, level := range s.form.levels() {
		if declares[id] < level {
			t.Fatalf("at %s %s is declared at %d, and was at %d", s.now, id, declares[id], level)
		}
	}
	return report
}

// beside is a cluster at full scale and its clone, which tick in turn.
func (s *story) beside(t *testing.T) {
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 1)
	cp.Kubectl(t, s.form.grown(), "create", "-f", "-")
	for _, m := range s.form.fleet() {
		cp.Kubectl(t, "", "rollout", "status", "-n", m.namespace, "deployment/"+m.name, "--timeout=180s")
	}
	own := s.sampler(t, cp, nil)
	for range 2 {
		s.tick(t, own)
	}
	same(t, "git", s.declares(t), s.form.levels())
	for range 10 {
		s.holds(t, own)
		report := s.holds(t, s.clone)
		if !slices.ContainsFunc(report.Conditions, func(c alert.Condition) bool { return c.Kind == alert.SecondCluster }) {
			t.Fatalf("nobody is told of the second cluster: %+v", report.Conditions)
		}
	}
}

// alone lets the clone tick for longer than the latches remember a peak.
func (s *story) alone(t *testing.T) {
	stopped := 0
	for end := s.now.Add(30 * time.Hour); s.now.Before(end); {
		report := s.holds(t, s.clone)
		stopped += count(report, policy.ReasonOther)
	}
	if stopped < 4*1700 {
		t.Errorf("%d lowerings were stopped for the cluster is another, want one of each workload nearly always", stopped)
	}
}

// rebuilt grows from one replica of each workload under the full load. Most of its
// ticks read only a part.
func (s *story) rebuilt(t *testing.T) {
	c := newCluster(t, s.form, s.keeper)
	c.applyApps(t, everything)
	faults := &faults{}
	sampler := s.sampler(t, c.cp, faults.wrap)
	first := s.runs
	partial, adopted, after := 0, false, 0
	for begun := time.Now(); after < 10; {
		if time.Since(begun) > s.form.deadline {
			t.Fatalf("after %s the cluster has not grown back: %s", s.form.deadline, c.lacks(c.load.Last()))
		}
		fault := faults.next()
		report := s.holds(t, sampler)
		if got := len(report.Unread) > 0; got != (fault != whole) {
			t.Fatalf("with fault %q the tick did not read %q", fault, report.Unread)
		}
		if n := known(report); n > fault.leaves() {
			t.Fatalf("with fault %q the scale of %d workloads is known", fault, n)
		}
		if fault != whole {
			partial++
		}
		if last := c.load.Last(); !adopted && last.Scales["shop/web"].Asked >= 4 {
			adopted = true
			t.Logf("adopted at %d of web's %d pods, %d ticks after the rebuild", last.Scales["shop/web"].Asked, s.form.fleet()[0].need, s.runs-first)
			s.adopt(t, sampler, faults)
		} else if adopted && c.lacks(last) == "" {
			after++
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Logf("%d ticks of %d read in part", partial, s.runs-first)
	faults.fault = whole
	for end := s.now.Add(30 * time.Hour); s.now.Before(end); {
		s.holds(t, sampler)
	}
	same(t, "git", s.declares(t), s.form.levels())
}

// impatient is a policy that lowers every idle level within an hour.
const impatient = `apiVersion: gitlatch.dev/v1alpha1
kind: Policy
mode: latch
policies: [{name: default, match: {}, series: 1-2-5, hold: {down: 30m}}]
`

// inPart reads the idle clone with one fault after the other, each for longer than its
// levels need to be lowered. The end of the test checks that: a full read for the same
// time lowers them.
func (s *story) inPart(t *testing.T) {
	s.origin.Push(t, "main", map[string]string{"gitlatch.yaml": impatient}, "let levels fall within an hour")
	s.retires = true
	s.adopt(t, s.clone, s.faults)
	for _, fault := range inTurn {
		if fault == whole {
			continue
		}
		s.faults.fault = fault
		unlike := ""
		for end := s.now.Add(70 * time.Minute); s.now.Before(end); {
			report := s.holds(t, s.clone)
			if n := known(report); report.Stop.Reason != policy.ReasonPartial || n != fault.leaves() {
				unlike = fmt.Sprintf("%d scales are known, and lowering is stopped by %+v", n, report.Stop)
			}
		}
		if unlike != "" {
			t.Errorf("with fault %q %s", fault, unlike)
		}
		s.faults.fault = whole
		for range 2 { // missed samples do not count afterwards either
			s.holds(t, s.clone)
		}
	}
	for end := s.now.Add(70 * time.Minute); s.now.Before(end); {
		s.tick(t, s.clone)
	}
	idle := map[workload.ID]int32{}
	for id := range s.form.levels() {
		idle[id] = 1
	}
	same(t, "git, once the idle cluster is read whole,", s.declares(t), idle)
}

// known returns the number of workloads whose scale a sample read.
func known(r tick.Report) (n int) {
	for _, sample := range r.Samples {
		if sample.Scale != nil {
			n++
		}
	}
	return n
}

// lacks lists the workloads with fewer ready pods than their autoscaler allows. It
// accepts 11 for 12, because that is within its tolerance of 10 %.
func (c *cluster) lacks(l load.Look) string {
	var lacks string
	for _, m := range c.form.fleet() {
		if s := l.States[m.String()]; 10*m.need > 11*s.Ready {
			lacks += fmt.Sprintf("%s has %d of %d ready; ", m, s.Ready, m.need)
		}
	}
	return lacks
}

// adopt accepts the cluster as the site's own, as gitlatch adopt does.
func (s *story) adopt(t *testing.T, of tick.Sampler, faults *faults) {
	t.Helper()
	faults.fault = whole
	fleet, err := of.Sample(t.Context(), nil)
	must(t, err)
	must(t, tick.Amend(t.Context(), s.parts.Store, s.config.Site, "a person", s.now, local.Lease(s.config),
		tick.Amendment{Cluster: fleet.Cluster, Acknowledge: true}))
	if n := count(s.holds(t, of), policy.ReasonOther); n > 0 {
		t.Errorf("after it was adopted the cluster is still another to %d workloads", n)
	}
}

// count returns the number of workloads with a reason.
func count(r tick.Report, why policy.Reason) (n int) {
	for _, d := range r.Decisions {
		if d.Reason == why {
			n++
		}
	}
	return n
}
