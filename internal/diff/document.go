package diff

import (
	"math"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
)

// A document is a report for programs. Fields are only added, and never changed.
type document struct {
	term.Document
	Site     string      `json:"site"`
	Cluster  string      `json:"cluster"` // UID of the kube-system namespace
	At       time.Time   `json:"at"`      // of the sample
	Against  string      `json:"against"` // the commit or the folder
	Mode     string      `json:"mode"`    // latch or observe
	Differs  bool        `json:"differs"`
	Proposal string      `json:"proposal,omitempty"`
	Stop     policy.Stop `json:"stop,omitzero"`
	Unread   []string    `json:"unread"` // in the cluster and in git
	Rows     []reading   `json:"rows"`
}

// A reading is one row. Levels are pods, and milestones percent. Null is unknown, or not
// in git.
type reading struct {
	term.Named
	Reading string `json:"reading"` // scale or rollout

	State   State         `json:"state"`
	Differs bool          `json:"differs"`
	Reason  policy.Reason `json:"reason,omitempty"`
	Text    string        `json:"text"`
	Policy  string        `json:"policy,omitempty"`

	Live     *int32 `json:"live"`  // desired pods; for a rollout, the available pods of its target
	Ready    *int32 `json:"ready"` // null for a rollout
	Declared *int32 `json:"declared"`
	// Proposed and To are the values of a proposal, and the result if the sample lasts.
	// Null means no level; a missing field means no change.
	Proposed **int32 `json:"proposed,omitempty"`
	To       **int32 `json:"to,omitempty"`

	RaiseAbove *int32         `json:"raiseAbove,omitempty"` // pods; missing if no number of pods raises the level
	LowerAt    int32          `json:"lowerAt,omitempty"`
	Mismatch   *policy.Bounds `json:"liveBoundsDiffer,omitempty"`
	Capped     bool           `json:"cappedByGit,omitempty"`
}

// MarshalJSON returns the report for programs.
func (r Report) MarshalJSON() ([]byte, error) {
	d := document{
		Document: term.DocumentOf("DiffReport"), Site: r.Site, Cluster: r.Fleet.Cluster, At: r.Fleet.At.UTC(),
		Against: r.Against, Mode: "latch", Differs: r.Differs(), Proposal: r.Proposal, Stop: r.Stop,
		Unread: lists.Map(r.Gaps(), func(g Gap) string { return g.Text }), Rows: lists.Map(r.Rows, Row.reading),
	}
	if !r.Set.Latch {
		d.Mode = "observe"
	}
	return term.Marshal(d)
}

func (r Row) reading() reading {
	d := reading{
		Named: term.NamedBy(r.ID), Reading: "scale", State: r.State, Differs: r.Differs(), Reason: r.Reason, Text: r.Text, Policy: r.Policy,
		Declared: r.Reading.Of(r.Declared), LowerAt: r.LowerAt, Mismatch: r.Mismatch, Capped: r.Capped,
	}
	s := r.Sample
	switch {
	case r.Reading == policy.ReadingRollout:
		d.Reading = "rollout"
		if r.flies() {
			d.Live = &s.Rollout.Templates[0].Available
		}
	case s.Scale != nil:
		d.Live, d.Ready = &s.Scale.Desired, &s.Scale.Ready
	}
	if r.RaiseAbove > 0 && r.RaiseAbove < math.MaxInt32 {
		d.RaiseAbove = &r.RaiseAbove
	}
	if r.Proposed != nil {
		to := r.Reading.Of(*r.Proposed)
		d.Proposed = &to
	}
	ends := r.State == Pending && r.Reading == policy.ReadingRollout // the rollout has ended, so its entry is removed
	if changes := r.State == Pending || r.State == Waiting; ends || changes && !r.To.IsZero() {
		to := r.Reading.Of(r.To)
		d.To = &to
	}
	return d
}

// flies reports whether a rollout has pods of its target.
func (r Row) flies() bool {
	return r.Reading == policy.ReadingRollout && r.Sample.Rollout != nil && len(r.Sample.Rollout.Templates) > 0
}
