package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// narrow is the width that text is folded to where there is no wider terminal.
const narrow = 80

// doctorOutputs write a report, beside what inert.yaml says.
var doctorOutputs = map[string]func(out io.Writer, r doctor.Report, columns int, said checkpoint.Evidence) error{
	"table": doctorTable,
	"json":  doctorJSON,
}

func doctorTable(out io.Writer, r doctor.Report, columns int, said checkpoint.Evidence) error {
	var b strings.Builder
	text := func(text, indent string) {
		for _, line := range term.Fold(text, columns-len(indent)) {
			fmt.Fprintf(&b, "%s%s\n", indent, line)
		}
	}
	for _, f := range alike(r.Findings) {
		text(string(f.Trap)+": "+f.Subject, "")
		text(f.Text, "  ")
		b.WriteString("\n")
	}
	for _, unread := range r.Unread {
		text("not read: "+unread.String(), "")
		b.WriteString("\n")
	}
	if len(r.Workloads) == 0 {
		text(fmt.Sprintf("site %s: nothing runs that its policy latches, and git declares nothing", r.Site), "")
	} else {
		doctorRows(&b, r, columns)
		b.WriteString("\n")
		text(doctorSummary(r), "")
	}
	if n := len(uncovered(r, said)); n > 0 {
		text(fmt.Sprintf("%s does not cover %s kept inert: doctor --write commits it", checkpoint.EvidencePath(r.Site), term.Count(n, "workload")), "")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// alike puts findings that say the same of several subjects together.
func alike(findings []doctor.Finding) (all []doctor.Finding) {
	for _, f := range findings {
		same := slices.IndexFunc(all, func(a doctor.Finding) bool { return a.Trap == f.Trap && a.Text == f.Text })
		if same < 0 {
			all = append(all, f)
			continue
		}
		all[same].Subject += ", " + f.Subject
	}
	return all
}

// doctorSummary is a report in one line.
func doctorSummary(r doctor.Report) string {
	inert, declared, there := 0, 0, 0
	for _, w := range r.Workloads {
		if len(w.Inert) > 0 {
			inert++
		}
		if w.Level > 0 {
			declared++
			if w.Start >= w.Level {
				there++
			}
		}
	}
	found := "nothing to mend"
	if n := len(alike(r.Findings)); n > 0 {
		found = fmt.Sprintf("%d to mend", n)
	}
	if len(r.Unread) > 0 {
		found += ", not all could be read"
	}
	return fmt.Sprintf("%s: %s; %d of %s kept inert; a rebuild starts %d of %d declared at their checkpoint",
		r.Site, found, inert, term.Count(len(r.Workloads), "workload"), there, declared)
}

// doctorRows is a line a workload; what keeps it inert is folded below itself.
func doctorRows(out io.Writer, r doctor.Report, columns int) {
	rows := [][]string{{"WORKLOAD", "LIVE", "DECLARED", "REBUILT AT", "INERT BY"}}
	for _, w := range r.Workloads {
		inert := w.Inert.Names()
		if inert == "" {
			inert = "nothing known"
		}
		if w.Returns != "" {
			inert += "; a rollout returns to " + w.Returns
		}
		rows = append(rows, []string{term.Name(w.ID), term.Positive(w.Live), term.Positive(w.Level), term.Some(rebuiltAt(w)), inert})
	}
	for _, lines := range term.Rows(rows, columns) {
		fmt.Fprintln(out, strings.Join(lines, "\n"))
	}
}

// rebuiltAt is what a rebuild starts a workload at, nil where that is not known.
func rebuiltAt(w doctor.Workload) *int32 {
	if w.Start == 0 && !w.Paused {
		return nil
	}
	return &w.Start
}

// A doctorDocument is a report for machines. Fields are added and never changed.
type doctorDocument struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	Site       string              `json:"site"`
	Workloads  []doctorWorkload    `json:"workloads"`
	Findings   []doctorFinding     `json:"findings"`
	Unread     []string            `json:"unread"`
	Evidence   checkpoint.Evidence `json:"evidence"` // as inert.yaml should say it
}

type doctorWorkload struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Live      int32  `json:"live,omitzero"`
	Declared  int32  `json:"declared,omitzero"`
	RebuiltAt *int32 `json:"rebuiltAt,omitzero"`
	RebuiltBy string `json:"rebuiltBy,omitzero"`
	InertBy   string `json:"inertBy,omitzero"`
	Evident   bool   `json:"evident"` // inert.yaml covers it
	Returns   string `json:"returns,omitzero"`
}

type doctorFinding struct {
	Trap    string `json:"trap"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

func doctorJSON(out io.Writer, r doctor.Report, _ int, said checkpoint.Evidence) error {
	d := doctorDocument{APIVersion: "gitlatch.dev/v1alpha1", Kind: "DoctorReport", Site: r.Site, Evidence: r.Evidence,
		Workloads: []doctorWorkload{}, Findings: []doctorFinding{}, Unread: workload.Texts(r.Unread)}
	for _, w := range r.Workloads {
		_, evident := said.Covers(w.ID)
		d.Workloads = append(d.Workloads, doctorWorkload{w.ID.Namespace, string(w.ID.Kind), w.ID.Name, w.Live, w.Level, rebuiltAt(w), w.By, w.Inert.Line(), evident, w.Returns})
	}
	for _, f := range r.Findings {
		d.Findings = append(d.Findings, doctorFinding{string(f.Trap), f.Subject, f.Text})
	}
	lines := json.NewEncoder(out)
	lines.SetIndent("", "  ")
	lines.SetEscapeHTML(false)
	return lines.Encode(d)
}
