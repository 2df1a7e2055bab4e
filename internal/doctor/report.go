package doctor

import (
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/placement"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Report is the result of Examine. Its JSON is an API: fields may be added, but do not
// change.
type Report struct {
	Site      string            `json:"site"`
	Workloads []Workload        `json:"workloads"` // latched or in git, in the order of workload.Compare
	Findings  []Finding         `json:"findings"`  // worst trap first, then by subject
	Unread    []workload.Unread `json:"-"`         // parts of the cluster and checkpoint files that could not be read
	// Room is the number of pods that the ResourceQuotas of a namespace allow, by
	// namespace. It has only the namespaces whose levels exceed a quota. If pods have
	// different requests, it assumes the same mix of pods as the levels.
	Room map[string]int64 `json:"-"`
	// Fit is the answer to the question whether the pods of a rebuild can be placed.
	Fit placement.Answer `json:"fit"`
}

// Clean reports whether the report has no problem. An unknown Fit is not a problem.
func (r Report) Clean() bool { return len(r.Findings)+len(r.Unread) == 0 && !r.Fit.Refuses() }

// A Workload is the result for one workload.
type Workload struct {
	ID    workload.ID `json:"-"`
	Live  int32       `json:"live,omitzero"`     // desired replicas now; 0 if unknown or not live
	Level int32       `json:"declared,omitzero"` // the level in git; 0 without a level
	// Start is the number of pods that a rebuild starts for the workload, and By is the
	// folder or policy that sets it. A Start of 0 is unknown, unless Paused is true: the
	// workload is created paused, without pods.
	Start  int32  `json:"-"`
	By     string `json:"rebuiltBy,omitzero"`
	Paused bool   `json:"-"`
	// Inert are the rules that protect the live replicas.
	Inert Keepers `json:"-"`
	// Lowers are the findings that keep a rebuild from starting the workload at its
	// level, in the order of discovery. A quota is not included: see Report.Room.
	Lowers []Finding `json:"-"`
	// Rollout is the rollout in flight in git; zero without a rollout. Returns describes
	// the template that a rebuild should create; "" without a rollout. Returned is true
	// if a rebuild creates it without further action.
	Rollout  checkpoint.Rollout `json:"-"`
	Returns  string             `json:"returns,omitzero"`
	Returned bool               `json:"-"`
}

// RebuiltAt returns the number of replicas that a rebuild starts for a workload, or nil
// if the number is unknown.
func (w Workload) RebuiltAt() *int32 {
	if w.Start == 0 && !w.Paused {
		return nil
	}
	return &w.Start
}

// MarshalJSON adds the workload's name, and omits unknown values.
func (w Workload) MarshalJSON() ([]byte, error) {
	type found Workload
	return term.Marshal(struct {
		term.Named
		found
		InertBy   string `json:"inertBy,omitzero"`
		RebuiltAt *int32 `json:"rebuiltAt,omitzero"`
	}{term.NamedBy(w.ID), found(w), w.Inert.Line(), w.RebuiltAt()})
}

// MarshalJSON adds the document's kind and version. Lists are never null.
func (r Report) MarshalJSON() ([]byte, error) {
	type found Report
	r.Workloads, r.Findings = append([]Workload{}, r.Workloads...), append([]Finding{}, r.Findings...)
	return term.Marshal(struct {
		term.Document
		found
		Unread []string `json:"unread"`
	}{term.DocumentOf("DoctorReport"), found(r), workload.Texts(r.Unread)})
}
