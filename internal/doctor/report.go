package doctor

import (
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Report is the result of Examine. Its JSON is an API: fields may be added, but do not
// change.
type Report struct {
	Site      string            `json:"site"`
	Workloads []Workload        `json:"workloads"` // latched or in git, in the order of workload.Compare
	Findings  []Finding         `json:"findings"`  // worst trap first
	Unread    []workload.Unread `json:"-"`         // parts of the cluster and checkpoint files that could not be read
	// Marks counts the workloads that were created with their level. It is nil unless the
	// cluster is another one than the site's, as after a rebuild.
	Marks *checkpoint.Marks `json:"marks,omitempty"`
	// Room is the number of pods that the ResourceQuotas of a namespace allow, by
	// namespace. It has only the namespaces whose levels exceed a quota. If pods have
	// different requests, it assumes the same mix of pods as the levels.
	Room map[string]int64 `json:"-"`
	// Fit is the answer to the question whether the pods of a rebuild fit its limits.
	Fit room.Report `json:"fit"`
	// DryRuns is the number of dry-run requests; 0 if nobody asked.
	DryRuns int `json:"dryRuns,omitzero"`
}

// Clean reports whether the report has no finding, and everything could be read. An unknown
// Fit is not a problem.
func (r Report) Clean() bool { return len(r.Findings)+len(r.Unread) == 0 && !r.Fit.Refuses() }

// A Workload is the result for one workload.
type Workload struct {
	ID    workload.ID `json:"-"`
	Live  *int32      `json:"live"`              // desired replicas now; nil if unknown or not live
	Level int32       `json:"declared,omitzero"` // the level in git; 0 without a level
	// Start is the number of pods that a rebuild starts for the workload, and Without the
	// number without gitlatch. A quota is not included: see Report.Room.
	Start   Start `json:"start"`
	Without Start `json:"without"`
	// Answers are the answers for a workload with a level. Without a level, only Created is
	// read.
	Answers Answers `json:"answers"`
	// Lowers are the findings about the workload, in the order of the questions.
	Lowers []Lower `json:"-"`
	// Rollout is the rollout in flight in git; zero without a rollout. Returns describes
	// the template that a rebuild should create; "" without a rollout. Returned is yes if a
	// rebuild creates it without a user.
	Rollout  checkpoint.Rollout `json:"-"`
	Returns  string             `json:"returns,omitzero"`
	Returned Answer             `json:"-"`
}

// A Lower is a finding, as one workload sees it.
type Lower struct {
	Trap      Trap
	Text, Fix string
}

// MarshalJSON adds the workload's name.
func (w Workload) MarshalJSON() ([]byte, error) {
	type found Workload
	return term.Marshal(struct {
		term.Named
		found
	}{term.NamedBy(w.ID), found(w)})
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
