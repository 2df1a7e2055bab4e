// Package chart draws for a terminal: a step line of checkpoint over scale, and
// aligned tables. What it returns depends on its arguments alone.
package chart

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A Style is what a terminal can show. The zero value is 80 columns of Unicode
// without colour.
type Style struct {
	Width  int  // in columns; 0 is 80
	ASCII  bool // without block and box characters
	Colour bool
}

// StyleFor returns the style for an output in an environment: colour only on a
// terminal that is not dumb and where NO_COLOR is empty, Unicode only where the
// locale says so.
func StyleFor(out io.Writer, getenv func(string) string) Style {
	s := Style{ASCII: !unicodeLocale(getenv)}
	if width, ok := Terminal(out); ok {
		s.Width = min(width, 120)
		s.Colour = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	}
	return s
}

// Terminal returns the width of the terminal that an output is; ok is false
// where it is none.
func Terminal(out io.Writer) (width int, ok bool) {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil && width > 0
}

func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(getenv(name)); v != "" {
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return false
}

func (s Style) width() int {
	if s.Width <= 0 {
		return 80
	}
	return max(s.Width, 30)
}

// An ink is a colour, as the parameters of an escape sequence.
type ink string

const (
	plain  ink = ""
	faint  ink = "2"
	strong ink = "1"
	cyan   ink = "36"
	yellow ink = "1;33"
)

func (s Style) paint(i ink, text string) string {
	if !s.Colour || i == plain || text == "" {
		return text
	}
	return "\x1b[" + string(i) + "m" + text + "\x1b[0m"
}

// Heading returns a line that stands above a part of the output.
func (s Style) Heading(text string) string { return s.paint(strong, text) }

// Faint returns text that is there to be passed over.
func (s Style) Faint(text string) string { return s.paint(faint, text) }
