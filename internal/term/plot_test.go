package term_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/internal/term"
)

var update = flag.Bool("update", false, "write the golden files anew")

// surge is a plot over four decades. The scale goes up and down in the evening, and the
// level only follows it up.
func surge() term.Plot {
	p := term.Plot{Title: "surge", To: 24 * time.Hour, Every: 3 * time.Hour, Level: []term.Point{{Value: 5}}}
	for minute, v := 0, 3.0; minute < 24*60; minute += 5 {
		switch {
		case minute > 18*60 && minute <= 19*60:
			v *= 1.95
		case minute > 21*60:
			v = max(3, v*0.8)
		}
		p.Scale = append(p.Scale, term.Point{At: time.Duration(minute) * time.Minute, Value: v})
		if last := p.Level[len(p.Level)-1].Value; v > last {
			p.Level = append(p.Level, term.Point{At: time.Duration(minute+10) * time.Minute, Value: v * 1.2})
		}
	}
	return p
}

// office is a linear plot that starts and ends at 0. The level is lowered at noon.
func office() term.Plot {
	return term.Plot{
		Title: "office", To: 24 * time.Hour, Every: 3 * time.Hour, Rows: 6,
		Scale: []term.Point{{At: 8 * time.Hour, Value: 12}, {At: 12 * time.Hour, Value: 19}, {At: 13 * time.Hour, Value: 15}, {At: 18 * time.Hour, Value: 0}},
		Level: []term.Point{{At: 2 * time.Hour, Value: 50}, {At: 12 * time.Hour, Value: 20}},
	}
}

// rebuild is a plot of some minutes on a linear axis, with a scale that grows in steps.
func rebuild() term.Plot {
	p := term.Plot{Title: "rebuild", To: 7 * time.Minute, Rows: 6, Every: time.Minute, Level: []term.Point{{At: 45 * time.Second, Value: 100}}}
	for i, v := range []float64{6, 9, 12, 25, 50, 100} {
		p.Scale = append(p.Scale, term.Point{At: time.Duration(i+1) * time.Minute, Value: v})
	}
	return p
}

// moments is a plot of seconds.
func moments() term.Plot {
	p := rebuild()
	p.Title, p.To, p.Every = "moments", 65*time.Second, 10*time.Second
	return p
}

func TestPlots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plot  term.Plot
		style term.Style
	}{
		"surge":        {surge(), term.Style{}},
		"surge-ascii":  {surge(), term.Style{ASCII: true}},
		"office":       {office(), term.Style{Width: 60}},
		"office-ascii": {office(), term.Style{Width: 60, ASCII: true}},
		"rebuild":      {rebuild(), term.Style{Width: 60}},
		"moments":      {moments(), term.Style{Width: 60}},
		"nothing":      {term.Plot{Title: "nothing", To: 24 * time.Hour, Every: 3 * time.Hour, Rows: 3}, term.Style{Width: 40}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, file := c.plot.Draw(c.style), filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestAPlotFitsItsWidth(t *testing.T) {
	t.Parallel()
	for _, width := range []int{0, 30, 61, 80, 120, 300} {
		for _, p := range []term.Plot{surge(), office()} {
			most := 80
			if width > 0 {
				most = width
			}
			for line := range strings.Lines(p.Draw(term.Style{Width: width})) {
				if n := utf8.RuneCountInString(line) - 1; n > most {
					t.Errorf("%s at %d: a line of %d columns: %q", p.Title, width, n, line)
				}
			}
		}
	}
}

func TestColourAndASCIIChangeOnlyHowItLooks(t *testing.T) {
	t.Parallel()
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, p := range []term.Plot{surge(), office()} {
		plain, coloured := p.Draw(term.Style{}), p.Draw(term.Style{Colour: true})
		if !escape.MatchString(coloured) || escape.MatchString(plain) {
			t.Errorf("%s: colour is not where it was asked for", p.Title)
		}
		if escape.ReplaceAllString(coloured, "") != plain {
			t.Errorf("%s: in colour it is another plot", p.Title)
		}
		for _, r := range p.Draw(term.Style{ASCII: true}) {
			if r > 126 {
				t.Errorf("%s: %q is not ASCII", p.Title, r)
			}
		}
	}
}

// The level is visible even if every other line has the same value.
func TestTheHighestLevelIsDrawn(t *testing.T) {
	t.Parallel()
	for _, level := range []float64{1, 2, 7, 10, 50, 99, 10_000} {
		p := term.Plot{To: 24 * time.Hour, Every: 3 * time.Hour, Scale: []term.Point{{Value: level}}, Level: []term.Point{{Value: level}}}
		if !strings.Contains(p.Draw(term.Style{}), strings.Repeat("━", 70)) {
			t.Errorf("a level of %v is not drawn:\n%s", level, p.Draw(term.Style{}))
		}
	}
}
