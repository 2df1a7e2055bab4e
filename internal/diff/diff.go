// Package diff holds what runs against what git declares, as the policy sees it:
// a live count between the thresholds of its level is in sync with it, however
// far the two numbers are apart. The decisions are those of policy.Round. diff needs no
// state: what a tick does depends on how long things last, and diff asks what comes of
// them if they last.
package diff

import (
	"errors"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Case is what is compared.
type Case struct {
	Site  string
	Set   policy.Set
	Fleet workload.Fleet
	// Tree is what git declares, and Proposed what an open proposal would have it
	// declare instead; the zero entry is none.
	Tree     checkpoint.Tree
	Proposed map[workload.ID]checkpoint.Entry

	Against  string // what git was read at: a commit, or a folder
	Proposal string // URL or branch of what is proposed; "" where nothing is
}

// A State is how what runs stands to what git declares.
type State string

// The states. Pending is what crosses within the next few samples if it stays, and
// Frozen what would, but for the reason given. Waiting is what the policy keeps as
// it is until it has lasted, as the level of a day's peak is kept through the night,
// or until another commit is made: git says what it should. Bounds is a level in sync whose
// accepted bounds are not the live ones. Absent is declared and does not run.
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

// A Row is one reading of one workload, live against declared.
type Row struct {
	// Decision is the decision about the reading if its sample lasts. Its Text is the state
	// in a sentence, with its numbers.
	policy.Decision
	Sample workload.Sample // zero where it does not run
	State  State

	// Declared is what git holds, and Proposed what an open proposal would have it hold
	// instead; the zero entry is none. A nil Proposed is no change of the reading.
	Declared checkpoint.Entry
	Proposed *checkpoint.Entry
	// Thresholds are those that policy.Thresholds returns; zero without a level.
	RaiseAbove, LowerAt int32

	// Unproven is true where nothing is known to keep the checkpoint inert, and
	// the policy asks for that.
	Unproven bool
}

// Differs reports whether git should say something else: what stays as it is for
// some samples counts, and what would have to for hours does not.
func (r Row) Differs() bool {
	return r.State == Pending || r.State == Bounds || r.State == Absent || r.Mismatch != nil
}

// Told reports whether a person should hear of it: all but what is in sync, and
// what git says nothing of and the policy does not latch.
func (r Row) Told() bool {
	switch {
	case r.Differs() || r.Proposed != nil:
		return true
	case r.State == Unlatched:
		return !r.Declared.IsZero()
	}
	return r.State != InSync
}

// A Report is a site, live against declared.
type Report struct {
	Case
	Stop  policy.Stop // why nothing would be lowered, or changed at all
	Rows  []Row       // in the order of workload.Compare, the scale before the rollout
	Named bool        // the rows are of workloads that a person named, and all are told
}

// Differs reports whether any row does.
func (r Report) Differs() bool { return slices.ContainsFunc(r.Rows, Row.Differs) }

// Only returns the report of the workloads that a person named, and with what could
// not be read of their namespaces and of those named besides.
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

// A Gap is what could not be read of either side: a part of the cluster, or a file.
type Gap struct {
	Text string // the part and why, or what is wrong with the file
	Err  error
}

// Gaps are what could not be read.
func (r Report) Gaps() (gaps []Gap) {
	for _, part := range r.Fleet.Unread {
		gaps = append(gaps, Gap{part.String(), &workload.UnreadError{Unread: part}})
	}
	for _, namespace := range slices.Sorted(maps.Keys(r.Tree.Broken)) {
		err := r.Tree.Broken[namespace]
		gaps = append(gaps, Gap{err.Error(), err})
	}
	if err := r.Tree.Unproven; err != nil {
		gaps = append(gaps, Gap{err.Error(), err})
	}
	return gaps
}

// Unseen joins what could not be read; nil is all was.
func (r Report) Unseen() error {
	return errors.Join(each.Of(r.Gaps(), func(g Gap) error { return g.Err })...)
}

// Compare makes the decisions of a site by what git declares, as if its samples lasted,
// and compares the two.
func Compare(c Case) Report {
	decided := policy.Round(c.site())
	r := Report{Case: c, Stop: decided.Stop}
	entries := c.Tree.Entries()
	samples := each.By(c.Fleet.Samples, func(s workload.Sample) workload.ID { return s.ID })
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

// site is a site without timers: its latches have the entries in git, and one for each
// workload that a proposal adds.
func (c Case) site() policy.Site {
	latches := map[workload.ID]latch.Latch{}
	for id := range c.Proposed {
		latches[id] = latch.Latch{ID: id}
	}
	for id, e := range c.Tree.Entries() {
		latches[id] = latch.Latch{ID: id, Declared: e}
	}
	head := latch.Head{
		Cluster: latch.Cluster{UID: c.Tree.Site.Cluster},
		Agreed:  latch.Agreed{Evidence: c.Tree.Evidence},
	}
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
