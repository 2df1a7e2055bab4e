package term

import (
	"fmt"
	"io"
	"strings"
)

// A Page is text for people, put together part by part. The zero value folds
// nothing, and has no colour.
type Page struct {
	Style   Style
	Columns int // that text is folded to; 0 folds nothing

	text strings.Builder
}

// NewPage returns an empty page that is folded to the width of a style.
func NewPage(s Style) *Page { return &Page{Style: s, Columns: max(s.Width, Narrow)} }

// Line writes one line, not folded; without text it is empty.
func (p *Page) Line(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// Say writes a paragraph, each of whose lines begins with an indent.
func (p *Page) Say(indent, format string, args ...any) {
	for _, line := range p.fold(fmt.Sprintf(format, args...), len(indent)) {
		p.Line("%s%s", indent, line)
	}
}

// Verdict is Say of a verdict.
func (p *Page) Verdict(ok bool, text string) {
	for _, line := range p.fold(text, 0) {
		p.Line("%s", p.Style.Verdict(ok, line))
	}
}

// Fix writes the remedy for the text before it, which is a command or a field if possible. ""
// writes nothing.
func (p *Page) Fix(indent, remedy string) {
	if remedy != "" {
		p.Say(indent, "Fix: %s", remedy)
	}
}

// Whisper is Say of what is there to be passed over.
func (p *Page) Whisper(indent, text string) {
	for _, line := range p.fold(text, len(indent)) {
		p.Line("%s%s", indent, p.Style.Faint(line))
	}
}

// Rows writes a table as function Rows lays it out, its head as a heading; a head
// alone is nothing. Whole lines are painted, so that columns stay columns.
func (p *Page) Rows(rows [][]string) { p.Painted(rows, func(int) bool { return false }) }

// Painted is Rows, in which some rows are faint; the first below the head is 0.
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

// Add adds a text about a topic; "" is the topic before it.
func (t *Topics) Add(topic, format string, args ...any) {
	*t = append(*t, [2]string{topic, fmt.Sprintf(format, args...)})
}

// Topics writes topics, each text folded below itself.
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

func (p *Page) fold(text string, indent int) []string {
	if p.Columns == 0 {
		return []string{text}
	}
	return Fold(text, p.Columns-indent)
}

// Print writes the page out.
func (p *Page) Print(out io.Writer) error {
	_, err := io.WriteString(out, p.text.String())
	return err
}
