// Package term formats output for a terminal: paragraphs and tables folded to a width,
// numbers and names, and a plot of levels over scale. It does no I/O: each result depends
// only on the arguments. Package tty detects the capabilities of an output.
package term

// A Style is the set of capabilities of a terminal. The zero value is 80 columns of
// Unicode without colour.
type Style struct {
	Width  int  // in columns; 0 is 80
	ASCII  bool // no block and box characters
	Colour bool
}

func (s Style) width() int {
	if s.Width <= 0 {
		return Narrow
	}
	return max(s.Width, 30)
}

// An ink is a colour, given as the parameters of an escape sequence.
type ink string

const (
	plain  ink = ""
	faint  ink = "2"
	strong ink = "1"
	red    ink = "31"
	green  ink = "32"
	cyan   ink = "36"
	yellow ink = "1;33"
)

func (s Style) paint(i ink, text string) string {
	if !s.Colour || i == plain || text == "" {
		return text
	}
	return "\x1b[" + string(i) + "m" + text + "\x1b[0m"
}

// Heading returns a line in the style of a heading.
func (s Style) Heading(text string) string { return s.paint(strong, text) }

// Verdict returns a line in green if ok is true, and else in red.
func (s Style) Verdict(ok bool, line string) string {
	return s.paint(map[bool]ink{true: green, false: red}[ok], line)
}

// Faint returns text in a faint style, for text that readers can skip.
func (s Style) Faint(text string) string { return s.paint(faint, text) }
