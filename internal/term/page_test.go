package term_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/term"
)

const sentence = "two samples in a row are above it and round to more"

func TestAPagePutsItsPartsTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		columns int
		write   func(*term.Page)
		want    string
	}{
		{"a paragraph is folded, and each of its lines indented", 30, func(p *term.Page) { p.Say("  ", "%s", sentence) },
			"  two samples in a row are\n  above it and round to more\n"},
		{"nothing is folded where there is no width", 0, func(p *term.Page) { p.Say("  ", "%s", sentence) }, "  " + sentence + "\n"},
		{"a line stays one", 30, func(p *term.Page) { p.Line("%s", sentence) }, sentence + "\n"},
		{"a head without rows is no table", 80, func(p *term.Page) { p.Rows([][]string{{"WORKLOAD", "WHY"}}) }, ""},
		{"a topic is named once", 40, func(p *term.Page) { p.Topics([][2]string{{"raised", sentence}, {"site", "held"}}) },
			"raised  two samples in a row are above\n        it and round to more\nsite    held\n"},
		{"each problem has its own line", 40, func(p *term.Page) { p.Topics([][2]string{{"alert", "a.yaml:3: mode\na.yaml:4: series"}}) },
			"alert  a.yaml:3: mode\n       a.yaml:4: series\n"},
	} {
		p, out := &term.Page{Columns: c.columns}, &strings.Builder{}
		c.write(p)
		if err := p.Print(out); err != nil || out.String() != c.want {
			t.Errorf("%s: %v\n%q, want\n%q", c.name, err, out, c.want)
		}
	}
}

// Colour applies to complete lines, so it does not shift the columns.
func TestAPagePaintsWholeLines(t *testing.T) {
	t.Parallel()
	p, out := &term.Page{Style: term.Style{Colour: true}}, &strings.Builder{}
	p.Painted([][]string{{"NAME", "WHY"}, {"web", "waits"}, {"api", "is in sync"}}, func(row int) bool { return row == 1 })
	want := "\x1b[1mNAME  WHY\x1b[0m\nweb   waits\n\x1b[2mapi   is in sync\x1b[0m\n"
	if err := p.Print(out); err != nil || out.String() != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
}
