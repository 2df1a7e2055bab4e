package drill

import (
	"cmp"
	"slices"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Since returns the document with the changes since last, the last drill of the same
// site. Last is nil if there was no such drill.
func (d Document) Since(last *Document) Document {
	d.Last = nil
	if last == nil {
		return d
	}
	d.Last = &Last{At: last.At, Commit: last.Commit, Coverage: last.Fleet.Coverage,
		Nothing: last.Fleet.Nothing, Passed: last.Passed, Changes: []Change{}}
	if last.Fit != nil {
		d.Last.Fit = last.Fit.Answer
	}
	before, now := lists.Index(last.Workloads, Workload.ID), lists.Index(d.Workloads, Workload.ID)
	for _, w := range d.Workloads {
		was, there := before[w.ID()]
		switch {
		case !there:
			d.Last.add("added", w, nil, w.then())
		case !same(was.then(), w.then()):
			d.Last.add("changed", w, was.then(), w.then())
		}
	}
	for _, w := range last.Workloads {
		if _, there := now[w.ID()]; !there {
			d.Last.add("gone", w, w.then(), nil)
		}
	}
	slices.SortStableFunc(d.Last.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.gain(), b.gain()), workload.Compare(a.ID(), b.ID()))
	})
	return d
}

func (l *Last) add(what string, w Workload, then, now *Then) {
	l.Changes = append(l.Changes, Change{Named: w.Named, What: what, Then: then, Now: now})
}

// gain is the change of a workload's coverage. A workload without a coverage is taken as
// covered, because the drill found no missing pods.
func (c Change) gain() float64 { return c.Now.coverage() - c.Then.coverage() }

func (t *Then) coverage() float64 {
	if t == nil || t.Coverage == nil {
		return 1
	}
	return *t.Coverage
}

func (w Workload) then() *Then {
	return &Then{Need: w.Need, Declared: w.Declared, Start: w.Start, Coverage: w.Coverage, Cause: w.cause()}
}

// same reports whether the change of a workload is too small to report. A need that
// changes by less than a factor of two is not reported if the coverage stays the same.
func same(a, b *Then) bool {
	return equal(a.Declared, b.Declared) && equal(a.Coverage, b.Coverage) && a.Cause == b.Cause && near(a.Need, b.Need)
}

// near reports whether two needs differ by less than a factor of two. An unknown need is
// only near another unknown need.
func near(a, b *int32) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b || 2*int64(min(*a, *b)) > int64(max(*a, *b))
}

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
