// Package tty detects the capabilities of an output, and shows a line of progress on a
// terminal.
package tty

import (
	"fmt"
	"io"
	"os"
	"strings"

	xterm "golang.org/x/term"

	"github.com/gitlatch/gitlatch/internal/term"
)

// widest is the highest number of columns to use. Longer lines are hard to read.
const widest = 120

// StyleFor returns the style of an output in an environment. It has colour if the output
// is a terminal, TERM is not dumb and NO_COLOR is empty. It has Unicode if the locale
// does.
func StyleFor(out io.Writer, getenv func(string) string) term.Style {
	s := term.Style{ASCII: !unicodeLocale(getenv)}
	if width, ok := Width(out); ok {
		s.Width = min(width, widest)
		s.Colour = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	}
	return s
}

// Width returns the number of columns of a terminal. ok is false if the output is not a
// terminal.
func Width(out io.Writer) (columns int, ok bool) {
	f, ok := out.(*os.File)
	if !ok || !xterm.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := xterm.GetSize(int(f.Fd()))
	return columns, err == nil && columns > 0
}

// Terminal reports whether an input is a terminal.
func Terminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && xterm.IsTerminal(int(f.Fd()))
}

func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(getenv(name)); v != "" {
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return false
}

// A Progress is a line on a terminal that is replaced by each update. The zero value
// prints nothing.
type Progress struct {
	To      io.Writer // may be nil
	Columns int       // width of the line

	shown bool
}

// NewProgress returns a line of progress on an output. If the output is not a terminal,
// the line prints nothing.
func NewProgress(to io.Writer) *Progress {
	if width, ok := Width(to); ok {
		return &Progress{To: to, Columns: width - 1}
	}
	return &Progress{}
}

// Say replaces the line.
func (p *Progress) Say(format string, args ...any) {
	if p.To == nil {
		return
	}
	text := []rune(fmt.Sprintf(format, args...))
	fmt.Fprintf(p.To, "\r%-*s", p.Columns, string(text[:min(len(text), p.Columns)]))
	p.shown = true
}

// End removes the line.
func (p *Progress) End() {
	if p.shown {
		fmt.Fprintf(p.To, "\r%*s\r", p.Columns, "")
		p.shown = false
	}
}
