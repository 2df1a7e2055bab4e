package page_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/page"
	"github.com/gitlatch/gitlatch/internal/term"
)

var noon = time.Date(2026, 11, 20, 12, 5, 0, 0, time.UTC)

func must(t testing.TB, html []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return html
}

func drilled(t testing.TB, d drill.Document) []byte {
	t.Helper()
	html, err := page.Drill(d)
	return must(t, html, err)
}

func backtested(t testing.TB, d backtest.Report) []byte {
	t.Helper()
	html, err := page.Backtest(d)
	return must(t, html, err)
}

var namespaces = []string{"shop", "checkout", "search", "media", "payments", "tickets", "identity", "batch"}

var names = []string{"web", "api", "cart", "worker", "index", "images", "gateway", "sessions", "pricing", "mailer"}

// site returns a drill of the given number of workloads: most are covered, and for each
// reason some are not.
func site(workloads int) drill.Document {
	d := drill.Document{
		Document: term.DocumentOf(drill.Kind), Site: "prod-eu", Cluster: "7c0f1c1e-6f55-4a52-9f0e-2d7b1f6f9a11", At: noon, Mode: "latch",
		Branch: "main", Commit: "4f1c9a70c2d0b7d1f0e2d9f7a1c3b5e7d9f1a3c5", MinCoverage: 0.95,
		Workloads: []drill.Workload{},
		LeftOut:   []drill.LeftOut{{Reason: "no-autoscaler", Text: "nothing scales them, and no policy asks for them", Workloads: 31}, {Reason: "kube-system", Text: "kube-system opts in by a policy", Workloads: 12}},
		Findings:  []drill.Finding{}, Unread: []string{}, Problems: []string{}, Links: []drill.Link{{Form: "html", URI: "s3://reports/prod-eu/2026-11-20.html"}},
		Flush: drill.Flush{Commit: "4f1c9a70c2d0b7d1f0e2d9f7a1c3b5e7d9f1a3c5", Subject: "latch(prod-eu): shop/web-0 1,000 -> 2,000, +3 more", Levels: []drill.Level{}, Proposed: []drill.Level{}, Withheld: []drill.Level{}},
		Model: drill.DefaultModel(),
	}
	for i := range workloads {
		d.Workloads = append(d.Workloads, scored(i))
	}
	slices.SortStableFunc(d.Workloads, func(a, b drill.Workload) int {
		if a.Coverage == nil || b.Coverage == nil {
			return cmp.Compare(known(b.Coverage), known(a.Coverage))
		}
		return cmp.Or(cmp.Compare(b.Missing, a.Missing), cmp.Compare(*a.Coverage, *b.Coverage))
	})
	sum(&d)
	placed(&d, room.LikelyFits, 1000*d.Fleet.Rebuilt)
	return d
}

func known(f *float64) int {
	if f == nil {
		return 0
	}
	return 1
}

// scored returns the workload with a number.
func scored(i int) drill.Workload {
	need := int32(4 + (i*i*37+i*11)%900)
	level := levelFor(need)
	w := drill.Workload{
		Named: term.Named{Namespace: namespaces[i%len(namespaces)], Kind: "deployment", Name: fmt.Sprintf("%s-%d", names[i%len(names)], i)},
		Live:  new(need), Ready: new(need), Need: new(need), Declared: new(level), Start: starts(level), Bare: starts(1), Policy: "default",
		Causes:     []drill.Cause{},
		Checkpoint: &drill.Checkpoint{Since: noon.Add(-time.Duration(1+i*i%900) * time.Hour), AgeSeconds: int64(1+i*i%900) * 3600, Commit: "9ac90c2"},
	}
	w.Checkpoint.OrBefore = i%6 == 4
	switch {
	case i%83 == 3:
		w.Start = starts(1)
		w.Causes = append(w.Causes, drill.Cause{Name: "not-applied", Text: fmt.Sprintf("checkpoints/prod-eu/%s.levels.yaml is in git, but the cluster does not have ConfigMap gitlatch-levels/%s", w.Namespace, w.Namespace)})
	case i%53 == 7:
		w.Declared, w.Start, w.Checkpoint = nil, starts(2), nil
		w.Causes = append(w.Causes, drill.Cause{Name: drill.CauseUndeclared, Text: "git declares no level, and its manifest starts it at 2: it was first seen an hour ago"})
	case i%67 == 11:
		w.Proposed, w.Declared, w.Start = new(level), new(level/2), starts(level/2)
		w.Causes = append(w.Causes, drill.Cause{Name: drill.CauseProposed, Text: fmt.Sprintf("%d is in a pull request that waits for a person: merge it", level)})
	case i%97 == 13:
		w.Need, w.Live, w.Ready = nil, nil, nil
		w.Causes = append(w.Causes, drill.Cause{Name: drill.CauseNotRunning, Text: "git declares it, and it does not run"})
	case i%101 == 20:
		w.Start = drill.Start{Basis: drill.Unknown, AtMost: level, Text: "HelmRelease shop/web is suspended"}
		w.Causes = append(w.Causes, drill.Cause{Name: "owner-suspended", Text: "HelmRelease shop/web is suspended (spec.suspend: true)."})
	}
	if i%29 == 5 {
		w.Frozen = &drill.Frozen{Reason: "autoscaler", Text: "the autoscaler cannot compute a replica count (ScalingActive is False: FailedGetResourceMetric)", Since: noon.Add(-time.Duration(i%50) * time.Hour)}
	}
	if i%47 == 17 {
		w.Rollout = &drill.Rollout{InFlight: true, Target: "6d9f5c", Available: new(need / 3), Desired: new(need), Milestone: new(int32(25)), Phase: "progressing",
			Returns: drill.ReturnsFrom, ByItself: true, Version: "app=registry.example/" + w.Name + ":v41", Text: "v41 would return, and roll to v42 by the ordinary gates: 25 % is below the cut of 50 %."}
	}
	if i%47 == 19 {
		w.Rollout = &drill.Rollout{InFlight: true, Available: new(need - need/8), Desired: new(need), Returns: drill.ReturnsManifests, Failure: "ProgressDeadlineExceeded", Text: "Git declares nothing of it: v7 of the manifests would return at once."}
	}
	if w.Need != nil {
		starts := w.Start.AtLeast
		coverage := math.Min(1, float64(starts)/float64(need))
		w.Surplus = max(0, starts-*w.Live)
		w.Coverage, w.Missing, w.Low = &coverage, max(0, need-starts), coverage < 0.95
		w.With, w.Without = estimate(starts, need), estimate(1, need)
		if i%53 == 7 {
			w.With, w.Without = &drill.Estimate{From: 2, Never: true}, &drill.Estimate{From: 1, Never: true}
		}
	}
	return w
}

// starts returns an observed start.
func starts(pods int32) drill.Start {
	return drill.Start{Basis: "observed", AtLeast: pods, AtMost: pods, Text: fmt.Sprintf("floor %d (admission not tried)", pods)}
}

func levelFor(need int32) int32 {
	for power := int32(1); ; power *= 10 {
		for _, n := range []int32{1, 2, 5} {
			if n*power >= need {
				return n * power
			}
		}
	}
}

func estimate(from, need int32) *drill.Estimate {
	e := drill.Takes(from, need, true, 0, 0)
	return &e
}

// sum computes the fleet and the fields that depend on it.
func sum(d *drill.Document) {
	f := &d.Fleet
	for i, w := range d.Workloads {
		if w.Frozen != nil {
			f.Frozen++
		}
		if w.Rollout != nil {
			f.Rollouts++
		}
		if w.Coverage == nil {
			f.Unscored++
			continue
		}
		f.Workloads++
		f.Rebuilt += int64(w.Start.AtLeast)
		if w.Start.Basis == drill.Unknown {
			f.Unknown++
		}
		if *w.Coverage == 1 {
			f.Full++
		}
		if w.Low {
			f.Low++
		}
		f.Need += int64(*w.Need)
		f.Ready += int64(*w.Ready)
		f.Live += int64(*w.Live)
		f.Surplus += int64(w.Surplus)
		f.Covered += int64(*w.Need - w.Missing)
		f.CoveredAtMost += int64(min(*w.Need, w.Start.AtMost))
		f.BareAtLeast += int64(min(*w.Need, w.Bare.AtLeast))
		f.BareAtMost += int64(min(*w.Need, w.Bare.AtMost))
		for _, one := range []struct {
			e     *drill.Estimate
			last  *int64
			stuck *int
		}{{w.With, &f.With, &f.StuckWith}, {w.Without, &f.Without, &f.StuckWithout}} {
			if one.e.Never {
				*one.stuck++
			} else {
				*one.last = max(*one.last, one.e.Seconds)
			}
		}
		if len(d.Findings) < 6 && len(w.Causes) > 0 && w.Causes[0].Name == "not-applied" {
			d.Findings = append(d.Findings, drill.Finding{Trap: "not-applied", Basis: "observed", Subjects: []string{w.Namespace + "/deployment/" + w.Name}, Text: w.Causes[0].Text, Fix: "apply it: kubectl apply --server-side -f checkpoints/prod-eu", Workloads: []string{w.Namespace + "/deployment/" + w.Name}, Missing: int64(w.Missing)})
		}
		if i%9 == 4 && len(d.Flush.Levels) < 4 && w.Declared != nil {
			d.Flush.Levels = append(d.Flush.Levels, drill.Level{Named: w.Named, From: new(*w.Declared / 2), To: w.Declared, Text: "live is above what was declared"})
		}
	}
	f.Coverage, f.AtMost = new(1.0), new(1.0)
	if f.Need > 0 {
		f.Coverage, f.AtMost = new(float64(f.Covered)/float64(f.Need)), new(float64(f.CoveredAtMost)/float64(f.Need))
	}
	d.Passed = *f.Coverage >= d.MinCoverage
	d.Last = &drill.Last{At: noon.Add(-7 * 24 * time.Hour), Commit: "1d2c3b4a", Coverage: new(*f.Coverage - 0.021), Passed: true, Changes: []drill.Change{}}
	for i, w := range d.Workloads {
		if i%17 != 2 || w.Coverage == nil || len(d.Last.Changes) >= 8 {
			continue
		}
		now := &drill.Then{Need: w.Need, Declared: w.Declared, Start: w.Start, Coverage: w.Coverage}
		if len(w.Causes) > 0 {
			now.Cause = w.Causes[0].Name
		}
		c := drill.Change{Named: w.Named, What: "changed", Then: &drill.Then{Need: w.Need, Declared: new(int32(50)), Coverage: new(0.71)}, Now: now}
		if i%3 == 0 {
			c.What, c.Then = "added", nil
		}
		d.Last.Changes = append(d.Last.Changes, c)
	}
}

// placed sets the answer of a drill for its pods and one limit of CPU.
func placed(d *drill.Document, answer room.Answer, there int64) {
	asked := 500 * d.Fleet.Rebuilt
	l := room.Limit{Name: "NodePool default", Resource: "cpu", Answer: answer, Asked: new(asked), There: new(there), Estimate: new(asked + asked/10)}
	d.Fit = &room.Report{Answer: answer, Limits: []room.Limit{l}, Pods: d.Fleet.Rebuilt}
	d.Passed = d.Passed && answer != room.DoesNotFit
}

// crowded returns a drill whose levels are right, but that the cluster has no room for.
func crowded() drill.Document {
	d := site(3)
	placed(&d, room.DoesNotFit, 100000)
	return d
}

// failing returns the first drill of a site with many problems.
func failing() drill.Document {
	d := site(20)
	for i := range 6 {
		w := &d.Workloads[i+8]
		w.Start, w.Missing, w.Low, w.Coverage = starts(1), *w.Need-1, true, new(1/float64(*w.Need))
		w.Causes = []drill.Cause{{Name: "order-unknown", Text: "It is unknown whether a rebuild applies checkpoints/prod-eu before the workload."}}
		w.With = w.Without
	}
	d.Fleet, d.Findings, d.Flush.Levels = drill.Fleet{}, []drill.Finding{}, []drill.Level{}
	sum(&d)
	d.Last, d.DryRun, d.Flush, d.Passed = nil, true, drill.Flush{Levels: []drill.Level{}, Proposed: []drill.Level{}, Withheld: []drill.Level{}}, false
	d.Unread = []string{"deployments in search: forbidden: apply infra/rbac"}
	d.Problems = []string{"checkpoints/prod-eu/shop.levels.yaml: line 7: not a number: fix it, or delete the line"}
	d.LeftOut = []drill.LeftOut{}
	placed(&d, room.Unknown, 100000)
	d.Fit.Limits = []room.Limit{{Name: "node groups, vCPU quotas and free addresses", Why: "gitlatch did not read the AWS account. Use --aws"}}
	return d
}
