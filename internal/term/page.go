package term

import (
	"fmt"
	"io"
	"strings"
)

// A Page is text for users, built part by part. The zero value does not fold lines and
// has no colour.
type Page struct {
	Style   Style
	Columns int // width to fold text to; 0 does not fold

	text strings.Builder
}

// NewPage returns an empty page that folds to the width of a style.
func NewPage(s Style) *Page { return &Page{Style: s, Columns: max(s.Width, Narrow)} }

// Line writes one line without folding. Without text, the line is empty.
func (p *Page) Line(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// Say writes a paragraph with an indent in each line.
func (p *Page) Say(indent, format string, args ...any) {
	for _, line := range p.fold(fmt.Sprintf(format, args...), len(indent)) {
		p.Line("%s%s", indent, line)
	}
}

// Verdict writes a paragraph with a verdict, in green if ok is true and else in red.
func (p *Page) Verdict(ok bool, text string) {
	for _, line := range p.fold(text, 0) {
		p.Line("%s", p.Style.Verdict(ok, line))
	}
}

// Fix writes the remedy for the text before it. Without a remedy, it writes nothing.
func (p *Page) Fix(indent, remedy string) {
	if remedy != "" {
		p.Say(indent, "Fix: %s", remedy)
	}
}

// Whisper writes a faint paragraph, for text that readers can skip.
func (p *Page) Whisper(indent, text string) {
	for _, line := range p.fold(text, len(indent)) {
		p.Line("%s%s", indent, p.Style.Faint(line))
	}
}

// Rows writes a table in the layout of the function Rows. The first row is the heading; a
// heading without rows writes nothing. Colours apply to complete lines, so columns stay
// aligned.
func (p *Page) Rows(rows [][]string) { p.Painted(rows, func(int) bool { return false }) }

// Painted is Rows with faint rows. Row 0 is the first row below the heading.
func (p *Page) Painted(rows [][]string, faint func(row int) bool) {
	if len(rows) < 2 {
		return
	}
	for i, lines := range Rows(rows, p.Columns) {
		for _, line := range lines {
			switch {
			case i == 0:
				line = p.Style.Heading(line)
			case faint(i - 1):
				line = p.Style.Faint(line)
			}
			p.Line("%s", line)
		}
	}
}

// Topics are pairs of a topic and a text about it.
type Topics [][2]string

// Add adds a text about a topic; "" continues the previous topic.
func (t *Topics) Add(topic, format string, args ...any) {
	*t = append(*t, [2]string{topic, fmt.Sprintf(format, args...)})
}

// Topics writes topics, each with its text folded in the second column.
func (p *Page) Topics(topics Topics) {
	widest := 0
	for _, t := range topics {
		widest = max(widest, len(t[0]))
	}
	for _, t := range topics {
		topic := t[0]
		for _, line := range p.fold(t[1], widest+gap) {
			p.Line("%s%s", padded(topic, widest+gap), line)
			topic = ""
		}
	}
}

// fold keeps the lines of a text, such as one for each problem.
func (p *Page) fold(text string, indent int) (lines []string) {
	if p.Columns == 0 {
		return []string{text}
	}
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, Fold(line, p.Columns-indent)...)
	}
	return lines
}

// Print writes the page to out.
func (p *Page) Print(out io.Writer) error {
	_, err := io.WriteString(out, p.text.String())
	return err
}
