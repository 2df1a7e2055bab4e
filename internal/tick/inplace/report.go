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
	Says     []int32     `json:"says,omitempty"`     // the counts that are marked, by line, as was last known
	Declared int32       `json:"declared,omitempty"` // its level; 0 is none
	Refused  bool        `json:"refused,omitempty"`  // people must mend it
	Text     string      `json:"text,omitempty"`     // what is to be said of it; "" where it says what is declared
}

// Where is the file, with the line where that is known.
func (m Mark) Where() string {
	if m.Line > 0 {
		return fmt.Sprintf("%s:%d", m.File, m.Line)
	}
	return m.File
}

// Said is what it says, and what is to be said of that.
func (m Mark) Said() string {
	var said []string
	if len(m.Says) > 0 {
		said = append(said, "says "+strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Says), " ", ", "), "[]"))
	}
	if m.Text != "" {
		said = append(said, m.Text)
	}
	return strings.Join(said, "; ")
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
			m := Mark{File: path, ID: id, Says: file.Marks[id], Declared: latches[id].Declared.Replicas}
			if behind(m.Says, m.Declared) || m.Declared == 0 {
				m.Text = cover.leaves(file, id, m.Declared)
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
