// Package tty finds out what an output can show, and keeps a line of progress on
// one that is a terminal.
package tty

import (
	"fmt"
	"io"
	"os"
	"strings"

	xterm "golang.org/x/term"

	"github.com/gitlatch/gitlatch/internal/term"
)

// widest is how many columns of a terminal are used: longer lines are hard to read.
const widest = 120

// StyleFor returns the style for an output in an environment: colour only on a
// terminal that is not dumb and where NO_COLOR is empty, Unicode only where the
// locale says so.
func StyleFor(out io.Writer, getenv func(string) string) term.Style {
	s := term.Style{ASCII: !unicodeLocale(getenv)}
	if width, ok := Width(out); ok {
		s.Width = min(width, widest)
		s.Colour = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	}
	return s
}

// Width returns the columns of the terminal that an output is; ok is false where
// it is none.
func Width(out io.Writer) (columns int, ok bool) {
	f, ok := out.(*os.File)
	if !ok || !xterm.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := xterm.GetSize(int(f.Fd()))
	return columns, err == nil && columns > 0
}

func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(getenv(name)); v != "" {
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return false
}

// A Progress is one line of a terminal that is written anew. The zero value says
// nothing.
type Progress struct {
	To      io.Writer // nil is nobody
	Columns int       // that the line may take

	shown bool
}

// NewProgress returns a line of progress on an output; on one that is no terminal
// it says nothing.
func NewProgress(to io.Writer) *Progress {
	if width, ok := Width(to); ok {
		return &Progress{To: to, Columns: width - 1}
	}
	return &Progress{}
}

// Say writes the line anew.
func (p *Progress) Say(format string, args ...any) {
	if p.To == nil {
		return
	}
	text := []rune(fmt.Sprintf(format, args...))
	fmt.Fprintf(p.To, "\r%-*s", p.Columns, string(text[:min(len(text), p.Columns)]))
	p.shown = true
}

// End takes the line away.
func (p *Progress) End() {
	if p.shown {
		fmt.Fprintf(p.To, "\r%*s\r", p.Columns, "")
		p.shown = false
	}
}
