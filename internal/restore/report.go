package restore

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// lastLook limits the last sample of a run. A stopped run has less time for it.
const (
	lastLook        = time.Minute
	lastLookStopped = 10 * time.Second
)

// A Report lists the actions of a run, or the planned actions of a dry run. Its JSON is
// stable: later versions add fields and never change existing ones.
type Report struct {
	Site      string    `json:"site"`
	Cluster   string    `json:"cluster"`            // UID of the cluster
	Declared  string    `json:"declared,omitempty"` // UID of the cluster in the site's checkpoint; "" is unknown
	At        time.Time `json:"at"`
	DryRun    bool      `json:"dryRun"`
	Releasing bool      `json:"-"` // the run only releases brakes
	plan.Plan

	Since      []plan.Left  `json:"since,omitempty"` // planned, and skipped because of a later change
	Raised     []plan.Raise `json:"raised,omitempty"`
	Brakes     []Braked     `json:"brakes,omitempty"` // also those that were there and stay
	Released   []Braked     `json:"released,omitempty"`
	Holding    int          `json:"holding"` // brakes that were there and have not expired
	Unfinished []Unfinished `json:"lacking,omitempty"`
	TimedOut   bool         `json:"timedOut"`          // the time to wait ended before every workload was at its level
	Stopped    bool         `json:"stopped"`           // the run stopped before the end of its plan, as requested
	Notices    []string     `json:"notices,omitempty"` // for a user; they are not failures
	Problems   Problems     `json:"problems,omitempty"`
	Undeclared Problems     `json:"undeclared,omitempty"` // named namespaces without a level in git
}

// A Braked is an autoscaler and the outcome of its brake.
type Braked struct {
	Scaler  plan.Scaler   `json:"autoscaler"`
	Outcome brake.Outcome `json:"outcome"`
}

// An Unfinished is a workload that is not as planned, in pods.
type Unfinished struct {
	ID       workload.ID `json:"workload"`
	Replicas int32       `json:"replicas"`
	Ready    int32       `json:"ready"`
	To       int32       `json:"to"`
}

// Problems are errors. JSON has their texts.
type Problems []error

// MarshalJSON returns a list of texts.
func (p Problems) MarshalJSON() ([]byte, error) {
	return term.Marshal(lists.Map(p, error.Error))
}

// add adds a later plan, whose raises are in waves.
func (r *Report) add(p plan.Plan, waves []plan.Wave) {
	r.Waves = waves
	known := lists.Index(r.All(), func(one plan.Raise) workload.ID { return one.ID })
	for _, one := range p.Braked {
		if _, is := known[one.ID]; !is {
			r.Plan.Braked = append(r.Plan.Braked, one)
		}
	}
}

// compare compares the plan with one of the end of the run. It adds the unfinished
// workloads, and those that are skipped because of a later change.
func (r *Report) compare(end plan.Plan, live map[workload.ID]plan.Workload) {
	r.Unfinished = unfinished(end, live)
	planned := lists.Index(r.All(), func(one plan.Raise) workload.ID { return one.ID })
	before := lists.Index(r.Left, func(left plan.Left) workload.ID { return left.ID })
	r.Left = nil
	for _, left := range end.Left {
		was := planned[left.ID]
		now, _ := end.Judge(was, live)
		switch {
		case before[left.ID].Reason == left.Reason:
			r.Left = append(r.Left, before[left.ID])
		case !left.Skips() && was.From < was.To && now.To == was.To: // raised to the maximum, as planned
		default:
			r.Since = append(r.Since, left)
		}
	}
}

// unfinished returns the workloads of a plan whose pods do not exist or are not ready.
func unfinished(p plan.Plan, live map[workload.ID]plan.Workload) (all []Unfinished) {
	for _, r := range p.All() {
		if w := live[r.ID]; w.Replicas < r.To || w.Ready < r.To {
			all = append(all, Unfinished{r.ID, w.Replicas, w.Ready, r.To})
		}
	}
	slices.SortFunc(all, func(a, b Unfinished) int { return workload.Compare(a.ID, b.ID) })
	return all
}

// raised adds a raise. It merges the raise with an earlier one of the same workload.
func (r *Report) raised(done plan.Raise) {
	for i := range r.Raised {
		if r.Raised[i].ID == done.ID {
			r.Raised[i].To = max(r.Raised[i].To, done.To)
			return
		}
	}
	r.Raised = append(r.Raised, plan.Raise{ID: done.ID, From: done.From, To: done.To})
}

// owned adds a notice for each brake that another field manager may undo.
func (r *Report) owned() {
	for _, raise := range r.All() {
		for _, s := range raise.Scalers {
			if s.Owner != "" {
				r.Notices = append(r.Notices, fmt.Sprintf("%s: %s sets the same fields as the brake, and may undo it. Suspend %[2]s until the brake ends", s, s.Owner))
			}
		}
	}
}

// Err returns the failures and the unfinished work, or nil.
func (r Report) Err() error {
	err := errors.Join(slices.Concat(r.Undeclared, r.Problems)...)
	n := len(r.Unfinished)
	if r.TimedOut {
		n += lists.Count(slices.Concat(r.Left, r.Since), func(left plan.Left) bool { return left.Reason.Passes() })
	}
	if n > 0 {
		err = errors.Join(err, fmt.Errorf("%d workloads are not at their level yet. Run \"gitlatch restore\" again to continue", n))
	} else if r.Stopped {
		err = errors.Join(err, errors.New("stopped before the end. Run \"gitlatch restore\" again to continue"))
	}
	return err
}

// Brief returns the report without the plan's raises and brakes, unless it is a dry run.
// Raised, Brakes and Unfinished have the same information, and an answer of Lambda has a
// limit of 6 MB.
func (r Report) Brief() Report {
	if !r.DryRun {
		r.Waves = nil
		r.Plan.Braked = nil
	}
	return r
}
