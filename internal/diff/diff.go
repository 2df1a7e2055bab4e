// Package diff compares the live cluster with the levels in git, according to the policy.
// Live replicas between the thresholds of a level are in sync with it, even if the
// numbers are far apart. policy.Round makes the decisions. diff does not use the state: a
// tick waits until a sample has lasted for some time, and diff assumes that it lasts.
package diff

import (
	"errors"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Case is the input of Compare.
type Case struct {
	Site  string
	Set   policy.Set
	Fleet workload.Fleet
	// Tree is the content of git. Proposed are the entries of an open proposal; the zero
	// entry means that the proposal removes the entry.
	Tree     checkpoint.Tree
	Proposed map[workload.ID]checkpoint.Entry

	Against  string // the commit or the folder with the levels in git
	Proposal string // URL or branch of the proposal; "" without one
}

// A State is the result of comparing a workload with git.
type State string

// The states. Pending means that the level changes within the next few samples if the
// sample lasts. Frozen means the same, but a reason prevents the change. Waiting means
// that the change needs a longer time, such as the level of a day's peak, which stays
// through the night, or needs another commit: git has the right level for now. Bounds
// means that the level is in sync, but the accepted minimum and maximum replicas are not
// the live ones. Absent means that the workload is in git and not in the cluster.
const (
	InSync    State = "in-sync"
	Bounds    State = "bounds"
	Pending   State = "pending"
	Waiting   State = "waiting"
	Frozen    State = "frozen"
	Absent    State = "absent"
	Unknown   State = "unknown"
	Unlatched State = "not-latched"
)

// A Row is one reading of one workload, live and in git.
type Row struct {
	// Decision is the decision about the reading if its sample lasts. Its Text explains
	// the state in a sentence, with its numbers.
	policy.Decision
	Sample workload.Sample // zero if the workload is not in the cluster
	State  State

	// Declared is the entry in git; zero without an entry. Proposed is the entry of an
	// open proposal; zero if the proposal removes the entry, and nil if it does not change
	// the reading.
	Declared checkpoint.Entry
	Proposed *checkpoint.Entry
	// RaiseAbove and LowerAt are the results of policy.Thresholds; zero without a level.
	RaiseAbove, LowerAt int32
}

// Differs reports whether git should have another value. A change that waits for some
// samples counts, and a change that waits for hours does not.
func (r Row) Differs() bool {
	return r.State == Pending || r.State == Bounds || r.State == Absent || r.Mismatch != nil
}

// Told reports whether the row is shown to users. Rows in sync are not shown, and neither
// are workloads without an entry in git that the policy does not latch.
func (r Row) Told() bool {
	switch {
	case r.Differs() || r.Proposed != nil:
		return true
	case r.State == Unlatched:
		return !r.Declared.IsZero()
	}
	return r.State != InSync
}

// A Report is the comparison of a site with git.
type Report struct {
	Case
	Stop  policy.Stop // why no level is lowered, or changed
	Rows  []Row       // in the order of workload.Compare, the scale before the rollout
	Named bool        // a user named the workloads, and all rows are shown
}

// Differs reports whether any row differs.
func (r Report) Differs() bool { return slices.ContainsFunc(r.Rows, Row.Differs) }

// Only returns the report for the workloads that a user named. It contains the errors of
// their namespaces and of the given namespaces.
func (r Report) Only(which func(workload.ID) bool, namespaces []string) Report {
	r.Rows = slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return !which(row.ID) })
	r.Tree.Broken = maps.Clone(r.Tree.Broken)
	maps.DeleteFunc(r.Tree.Broken, func(namespace string, _ error) bool {
		shown := func(row Row) bool { return row.ID.Namespace == namespace }
		return !slices.Contains(namespaces, namespace) && !slices.ContainsFunc(r.Rows, shown)
	})
	r.Named = true
	return r
}

// A Gap is a part of the cluster or a file in git that could not be read.
type Gap struct {
	Text string // the part and the reason, or the problem of the file
	Err  error
}

// Gaps returns the parts and the files that could not be read.
func (r Report) Gaps() (gaps []Gap) {
	for _, part := range r.Fleet.Unread {
		gaps = append(gaps, Gap{part.String(), &workload.UnreadError{Unread: part}})
	}
	for _, namespace := range slices.Sorted(maps.Keys(r.Tree.Broken)) {
		err := r.Tree.Broken[namespace]
		gaps = append(gaps, Gap{err.Error(), err})
	}
	return gaps
}

// Unseen joins the errors of Gaps. It is nil if everything was read.
func (r Report) Unseen() error {
	return errors.Join(lists.Map(r.Gaps(), func(g Gap) error { return g.Err })...)
}

// Compare makes the decisions for a site as if its samples lasted, and compares them with
// the levels in git.
func Compare(c Case) Report {
	decided := policy.Round(c.site())
	r := Report{Case: c, Stop: decided.Stop}
	entries := c.Tree.Entries()
	samples := lists.Index(c.Fleet.Samples, func(s workload.Sample) workload.ID { return s.ID })
	for _, d := range decided.Decisions {
		s, seen := samples[d.ID]
		row := Row{Decision: d, Sample: s, State: stateOf(d), Declared: entries[d.ID]}
		switch {
		case !seen:
			row = r.absent(row)
		case d.Reading == policy.ReadingRollout:
			row = lastingRollout(row)
		default:
			row = r.lastingScale(row)
		}
		if e, ok := c.Proposed[row.ID]; ok && touches(row, e) {
			row.Proposed = &e
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// site returns a site without timers. Its latches have the entries in git, and there is
// an empty latch for each workload that a proposal adds.
func (c Case) site() policy.Site {
	latches := map[workload.ID]latch.Latch{}
	for id := range c.Proposed {
		latches[id] = latch.Latch{ID: id}
	}
	for id, e := range c.Tree.Entries() {
		latches[id] = latch.Latch{ID: id, Declared: e}
	}
	head := latch.Head{Cluster: latch.Cluster{UID: c.Tree.Site.Cluster}}
	return policy.Site{
		State:   latch.State{Head: head, Latches: latch.LatchesOf(latches)},
		Set:     c.Set,
		Fleet:   c.Fleet,
		Period:  c.Set.Guards.Period,
		Broken:  c.Tree.Broken,
		Lasting: true,
	}
}

// touches reports whether a proposed entry changes the reading of a row.
func touches(row Row, e checkpoint.Entry) bool {
	if row.Reading == policy.ReadingRollout {
		return e.Rollout != row.Declared.Rollout
	}
	return e.WithRollout(checkpoint.Rollout{}) != row.Declared.WithRollout(checkpoint.Rollout{})
}
