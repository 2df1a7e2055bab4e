package restore

import (
	"errors"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// lastLook bounds the look with which a run ends, also one that was told to stop.
const lastLook = 10 * time.Second

// A Report is what a run did, or, of a dry run, would do.
type Report struct {
	Site      string
	Cluster   string // UID of the cluster that was restored
	Declared  string // UID of the cluster that the record is of; "" is unknown
	At        time.Time
	DryRun    bool
	Releasing bool // brakes are all that the run is about

	Plan       plan.Plan
	Raised     []Raised
	Braked     []Braked
	Released   []Braked
	Holding    int         // brakes that have not expired
	Since      []plan.Left // planned, and left for what changed since
	Unfinished []Unfinished
	Stopped    bool     // before the end of its plan, as told
	Notices    []string // that a person should know, and that fail nothing
	Problems   []error
}

// A Raised is a workload that was asked for more pods.
type Raised struct {
	ID       workload.ID
	From, To int32
}

// A Braked is an autoscaler, and what came of its brake.
type Braked struct {
	Scaler  plan.Scaler
	Outcome brake.Outcome
}

// An Unfinished is a workload that is not where the plan wants it, in pods.
type Unfinished struct {
	ID                  workload.ID
	Replicas, Ready, To int32
}

// raised notes a raise, which goes on from an earlier one of the same workload.
func (r *Report) raised(done plan.Raise) {
	for i := range r.Raised {
		if r.Raised[i].ID == done.ID {
			r.Raised[i].To = max(r.Raised[i].To, done.To)
			return
		}
	}
	r.Raised = append(r.Raised, Raised{done.ID, done.From, done.To})
}

// owned notes the brakes that somebody may undo.
func (r *Report) owned() {
	for _, wave := range r.Plan.Waves {
		for _, raise := range wave.Raises {
			for _, s := range raise.Scalers {
				if s.Owner != "" {
					r.Notices = append(r.Notices, fmt.Sprintf("%s: %s states what its brake sets, and may undo it: suspend it for the time", s, s.Owner))
				}
			}
		}
	}
}

// Err returns what failed or needs a person; nil where all was done.
func (r Report) Err() error {
	err := errors.Join(r.Problems...)
	if n := len(r.Unfinished); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d workloads are not at their level yet: run it again, it goes on from there", n))
	} else if r.Stopped {
		err = errors.Join(err, errors.New("stopped before the end: run it again, it goes on from there"))
	}
	return err
}
