package inplace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/splice"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Mark is what a file edited in place says of a workload.
type Mark struct {
	File     string      `json:"file"`
	Line     int         `json:"line,omitempty"`     // of what is refused; 0 is none
	ID       workload.ID `json:"workload,omitzero"`  // zero where it is the file
	Counts   []int32     `json:"says,omitempty"`     // the counts that are marked, by line, as was last known
	Declared int32       `json:"declared,omitempty"` // its level; 0 is none
	Refused  bool        `json:"refused,omitempty"`  // people must fix the mark
	Text     string      `json:"text,omitempty"`     // why the marks differ from the declared level; "" if they do not
}

// Where is the file, with the line where that is known.
func (m Mark) Where() string {
	if m.Line > 0 {
		return fmt.Sprintf("%s:%d", m.File, m.Line)
	}
	return m.File
}

// Describe is the marked counts and the text, for a person.
func (m Mark) Describe() string {
	var texts []string
	if len(m.Counts) > 0 {
		texts = append(texts, "says "+strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Counts), " ", ", "), "[]"))
	}
	if m.Text != "" {
		texts = append(texts, m.Text)
	}
	return strings.Join(texts, "; ")
}

// Err is what is refused, for a person.
func (m Mark) Err() error {
	return splice.Problem{File: m.File, Line: m.Line, ID: m.ID, Text: m.Text}
}

// Report says what the files hold: of each what is refused, then what is marked.
func (f Files) Report(cover Cover, latches map[workload.ID]latch.Latch) (all []Mark) {
	for _, path := range f.Paths {
		file := f.Now[path]
		for _, r := range file.Refused {
			all = append(all, Mark{File: path, Line: r.Line, ID: r.ID, Refused: true, Text: r.Text})
		}
		for _, id := range slices.SortedFunc(maps.Keys(file.Marks), workload.Compare) {
			if barred(file, id) {
				continue
			}
			m := Mark{File: path, ID: id, Counts: file.Marks[id], Declared: latches[id].Declared.Replicas}
			if behind(m.Counts, m.Declared) || m.Declared == 0 {
				m.Text = cover.whyLeft(file, id, m.Declared)
				if m.Text == "" {
					m.Text = fmt.Sprintf("is to say %d", m.Declared)
				}
			}
			all = append(all, m)
		}
		if len(file.Marks) == 0 && len(file.Refused) == 0 {
			all = append(all, Mark{File: path, Text: "nothing is marked in it"})
		}
	}
	return all
}
