package restore

import (
	"errors"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// lastLook limits the last sample of a run, which a stopped run also takes.
const lastLook = 10 * time.Second

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
	Braked     []Braked     `json:"brakes,omitempty"`
	Released   []Braked     `json:"released,omitempty"`
	Holding    int          `json:"holding"` // brakes that were there and have not expired
	Unfinished []Unfinished `json:"lacking,omitempty"`
	Stopped    bool         `json:"stopped"`           // the run stopped before the end of its plan, as requested
	Notices    []string     `json:"notices,omitempty"` // for a user; they are not failures
	Problems   Problems     `json:"problems,omitempty"`
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
	for _, wave := range r.Waves {
		for _, raise := range wave.Raises {
			for _, s := range raise.Scalers {
				if s.Owner != "" {
					r.Notices = append(r.Notices, fmt.Sprintf("%s: %s sets the same fields as the brake, and may undo it. Suspend %[2]s until the brake ends", s, s.Owner))
				}
			}
		}
	}
}

// Err returns the failures and the unfinished work, or nil.
func (r Report) Err() error {
	err := errors.Join(r.Problems...)
	if n := len(r.Unfinished); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d workloads are not at their level yet. Run \"gitlatch restore\" again to continue", n))
	} else if r.Stopped {
		err = errors.Join(err, errors.New("stopped before the end. Run \"gitlatch restore\" again to continue"))
	}
	return err
}

// Brief returns the report without the waves, unless it is a dry run. Raised and
// Unfinished have the same information, and an answer of Lambda has a limit of 6 MB.
func (r Report) Brief() Report {
	if !r.DryRun {
		r.Waves = nil
	}
	return r
}
