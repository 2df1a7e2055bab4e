package doctor

import (
	"cmp"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Report is what was found. Its JSON is for machines: fields are added and never
// changed.
type Report struct {
	Site      string            `json:"site"`
	Workloads []Workload        `json:"workloads"` // latched or declared, in the order of workload.Compare
	Findings  []Finding         `json:"findings"`  // the worst first, and by what they are about
	Unread    []workload.Unread `json:"-"`         // what is not judged
	// Evidence is what protection.yaml should say.
	Evidence checkpoint.Evidence `json:"evidence"`
	// Room is how many pods the ResourceQuotas let run in a namespace, where its
	// checkpoints ask for more: of pods that ask for unlike amounts of what is short,
	// how many of a mix as the checkpoints are.
	Room map[string]int64 `json:"-"`
}

// A Workload is what was found of one workload.
type Workload struct {
	ID    workload.ID `json:"-"`
	Live  int32       `json:"live,omitzero"`     // pods asked for now; 0 is not known, or not there
	Level int32       `json:"declared,omitzero"` // as declared; 0 is nothing
	// Start is what a rebuild would start it at, in pods, and By what makes it
	// so; 0 is not known. Paused is true where that is known to be none at all,
	// since it is created paused.
	Start  int32  `json:"-"`
	By     string `json:"rebuiltBy,omitzero"`
	Paused bool   `json:"-"`
	// Inert are what keeps its checkpoint from acting on the live cluster. Evident is
	// true where protection.yaml says so.
	Inert   Keepers `json:"-"`
	Evident bool    `json:"evident"`
	// UserLine is the line of protection.yaml that a user wrote, if it alone protects the
	// live replica count; "" is none.
	UserLine string `json:"-"`
	// Acts are the findings by which its checkpoint acts on the live cluster.
	Acts []Finding `json:"-"`
	// Lowers are the findings for which a rebuild does not start it at what it
	// needs, in the order in which they were found. A quota is not among them: see
	// Report.Room.
	Lowers []Finding `json:"-"`
	// Rollout is what git declares of a rollout in flight, zero where none is.
	// Returns says which template of it a rebuild should begin with, "" where none
	// is in flight; Returned is true where it does so by itself.
	Rollout  checkpoint.Rollout `json:"-"`
	Returns  string             `json:"returns,omitzero"`
	Returned bool               `json:"-"`
}

// RebuiltAt is what a rebuild starts a workload at; nil is not known.
func (w Workload) RebuiltAt() *int32 {
	if w.Start == 0 && !w.Paused {
		return nil
	}
	return &w.Start
}

// MarshalJSON names the workload, and leaves out what is not known.
func (w Workload) MarshalJSON() ([]byte, error) {
	type found Workload
	return term.Marshal(struct {
		term.Named
		found
		InertBy   string `json:"inertBy,omitzero"`
		RebuiltAt *int32 `json:"rebuiltAt,omitzero"`
	}{term.NamedBy(w.ID), found(w), cmp.Or(w.Inert.Line(), w.UserLine), w.RebuiltAt()})
}

// MarshalJSON says what document it is. Lists are never null.
func (r Report) MarshalJSON() ([]byte, error) {
	type found Report
	r.Workloads, r.Findings = append([]Workload{}, r.Workloads...), append([]Finding{}, r.Findings...)
	return term.Marshal(struct {
		term.Document
		found
		Unread []string `json:"unread"`
	}{term.DocumentOf("DoctorReport"), found(r), workload.Texts(r.Unread)})
}
