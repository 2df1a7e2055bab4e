package restore

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/restore/plan"
)

// A Document is a report for machines. Fields are added and never changed.
type Document struct {
	Site     string    `json:"site"`
	Cluster  string    `json:"cluster"`            // UID of the cluster that was restored
	Declared string    `json:"declared,omitempty"` // UID of the cluster that the record is of
	At       time.Time `json:"at"`
	DryRun   bool      `json:"dryRun"`

	Waves    []WaveDocument   `json:"waves,omitempty"` // the plan
	Left     []LeftDocument   `json:"left,omitempty"`
	Since    []LeftDocument   `json:"since,omitempty"` // planned, and left for what changed since
	Reached  int              `json:"reached"`
	Raised   []RaiseDocument  `json:"raised,omitempty"`
	Brakes   []BrakeDocument  `json:"brakes,omitempty"`
	Released []BrakeDocument  `json:"released,omitempty"`
	Holding  int              `json:"holding"` // brakes that were there and have not expired
	Lacking  []LackingElement `json:"lacking,omitempty"`
	Stopped  bool             `json:"stopped"`
	Notices  []string         `json:"notices,omitempty"`
	Problems []string         `json:"problems,omitempty"`
}

// A WaveDocument is one wave of a plan.
type WaveDocument struct {
	Name   string          `json:"name"`
	Raises []RaiseDocument `json:"raises"`
}

// A RaiseDocument is one raise, in pods.
type RaiseDocument struct {
	Workload string `json:"workload"`
	From     int32  `json:"from"`
	To       int32  `json:"to"`
	Declared int32  `json:"declared,omitempty"`
	Capped   bool   `json:"capped,omitempty"`
}

// A LeftDocument is a workload that is left as it is.
type LeftDocument struct {
	Workload string `json:"workload"`
	Reason   string `json:"reason"`
	Text     string `json:"text"`
}

// A BrakeDocument is an autoscaler, and what came of its brake.
type BrakeDocument struct {
	Autoscaler string `json:"autoscaler"`
	Outcome    string `json:"outcome"`
}

// A LackingElement is a workload that is not at its level yet, in pods.
type LackingElement struct {
	Workload string `json:"workload"`
	Replicas int32  `json:"replicas"`
	Ready    int32  `json:"ready"`
	To       int32  `json:"to"`
}

// NewDocument returns the report as machines read it.
func NewDocument(r Report) Document {
	d := Document{
		Site: r.Site, Cluster: r.Cluster, Declared: r.Declared, At: r.At, DryRun: r.DryRun,
		Left: lefts(r.Plan.Left), Since: lefts(r.Since), Reached: r.Plan.Reached, Holding: r.Holding, Stopped: r.Stopped, Notices: r.Notices,
		Brakes: brakes(r.Braked), Released: brakes(r.Released),
	}
	for _, w := range r.Plan.Waves {
		wave := WaveDocument{Name: w.Name}
		for _, one := range w.Raises {
			wave.Raises = append(wave.Raises, raiseOf(one))
		}
		d.Waves = append(d.Waves, wave)
	}
	for _, one := range r.Raised {
		d.Raised = append(d.Raised, RaiseDocument{Workload: one.ID.String(), From: one.From, To: one.To})
	}
	for _, u := range r.Unfinished {
		d.Lacking = append(d.Lacking, LackingElement{u.ID.String(), u.Replicas, u.Ready, u.To})
	}
	for _, p := range r.Problems {
		d.Problems = append(d.Problems, p.Error())
	}
	return d
}

// Brief leaves out the plan of what was done: what was raised and what is
// lacking says as much, and an answer of Lambda may be 6 MB.
func (d Document) Brief() Document {
	if !d.DryRun {
		d.Waves = nil
	}
	return d
}

func raiseOf(r plan.Raise) RaiseDocument {
	return RaiseDocument{Workload: r.ID.String(), From: r.From, To: r.To, Declared: r.Declared, Capped: r.Capped}
}

func lefts(of []plan.Left) (all []LeftDocument) {
	for _, l := range of {
		all = append(all, LeftDocument{l.ID.String(), string(l.Reason), l.Text})
	}
	return all
}

func brakes(of []Braked) (all []BrakeDocument) {
	for _, b := range of {
		all = append(all, BrakeDocument{b.Scaler.String(), string(b.Outcome)})
	}
	return all
}
