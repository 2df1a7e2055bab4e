package tick

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/splice"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An InPlaceMark is what a file edited in place says of a workload.
type InPlaceMark struct {
	File     string      `json:"file"`
	Line     int         `json:"line,omitempty"`     // of what is refused; 0 is none
	ID       workload.ID `json:"workload,omitzero"`  // zero where it is the file
	Says     []int32     `json:"says,omitempty"`     // the counts that are marked, by line, as was last known
	Declared int32       `json:"declared,omitempty"` // its level; 0 is none
	Refused  bool        `json:"refused,omitempty"`  // people must mend it
	Text     string      `json:"text,omitempty"`     // what is to be said of it; "" where it says what is declared
}

// Where is the file, with the line where that is known.
func (m InPlaceMark) Where() string {
	if m.Line > 0 {
		return fmt.Sprintf("%s:%d", m.File, m.Line)
	}
	return m.File
}

// Said is what it says, and what is to be said of that.
func (m InPlaceMark) Said() string {
	var said []string
	if len(m.Says) > 0 {
		said = append(said, "says "+strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Says), " ", ", "), "[]"))
	}
	if m.Text != "" {
		said = append(said, m.Text)
	}
	return strings.Join(said, "; ")
}

// reportFiles says what the files edited in place hold.
func (p *pass) reportFiles() {
	for _, file := range p.InPlace {
		f := p.git.files[file]
		var refused []string
		for _, r := range f.Refused {
			err := splice.Problem{File: file, Line: r.Line, ID: r.ID, Text: r.Text}
			refused = append(refused, err.Error())
			p.problem(fmt.Errorf("in place: %w; what it marks is left as it is, the record is written all the same", err))
			p.report.InPlace = append(p.report.InPlace, InPlaceMark{File: file, Line: r.Line, ID: r.ID, Refused: true, Text: r.Text})
		}
		if len(refused) > 0 {
			p.condition(alert.Invalid, file, strings.Join(refused, "\n"),
				"leaves what it marks as it is, and commits the record all the same", "do as it says, or take the file out of repository.inPlace")
		}
		for _, id := range slices.SortedFunc(maps.Keys(f.Marks), workload.Compare) {
			m := InPlaceMark{File: file, ID: id, Says: f.Marks[id], Declared: p.latches.get(id).Declared.Replicas}
			why := p.left(f, id, m.Declared)
			switch {
			case inplace.Barred(f, id):
				continue
			case why != "" && (m.Declared == 0 || (followed{says: m.Says, level: m.Declared}).behind()):
				m.Text = why
			case why == "" && (followed{says: m.Says, level: m.Declared}).behind():
				m.Text = fmt.Sprintf("is to say %d", m.Declared)
			}
			p.report.InPlace = append(p.report.InPlace, m)
		}
		if len(f.Marks) == 0 && len(f.Refused) == 0 {
			p.report.InPlace = append(p.report.InPlace, InPlaceMark{File: file, Text: "nothing is marked in it"})
		}
	}
}
