package term

import (
	"fmt"
	"strings"
	"time"
)

// A Point is the start of a step: the value from this time on.
type Point struct {
	At    time.Duration
	Value float64
}

// A Plot shows the level as a line of steps over the scale as an area of steps, from 0
// until To. The axis is logarithmic if the values are far apart.
type Plot struct {
	Title string
	To    time.Duration // end of the plot
	Scale []Point       // sorted by time; the last point before 0 is the value at 0
	Level []Point       // sorted by time; a value of 0 is not drawn
	Rows  int           // rows of the area; 0 is 10
	// Every is the distance between marks. The labels are in the largest unit that fits
	// into it: days, hours, minutes or seconds. It is above 0.
	Every time.Duration
}

const margin = 9 // columns to the left of the area

// cell is one character of the picture.
type cell struct {
	glyph string
	ink   ink
}

// Draw returns the plot as lines that are at most as wide as the style and end in a
// newline.
func (p Plot) Draw(s Style) string {
	if p.Rows <= 0 {
		p.Rows = 10
	}
	columns := s.width() - margin - 1
	scale, level := p.Sample(p.Scale, columns, true), p.Sample(p.Level, columns, false)
	a := p.axis(scale, level)

	picture := make([][]cell, p.Rows)
	for r := range picture {
		picture[r] = make([]cell, columns)
		for c := range picture[r] {
			picture[r][c] = s.area(a.height(scale[c]) - float64(r))
		}
	}
	s.line(picture, a, level)

	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", s.Heading(p.Title))
	labels := a.labels()
	for r := p.Rows - 1; r >= 0; r-- {
		edge := s.glyph("│", "|")
		if labels[r] != "" {
			edge = s.glyph("┤", "+")
		}
		fmt.Fprintf(&out, "%s %s%s\n", s.Faint(fmt.Sprintf("%*s", margin-2, labels[r])), s.Faint(edge), s.join(picture[r]))
	}
	out.WriteString(p.time(s, columns))
	return out.String()
}

// Sample returns one value of some points for each column of the plot: the highest one in
// the column, or the last.
func (p Plot) Sample(of []Point, columns int, highest bool) []float64 {
	values := make([]float64, columns)
	next, now := 0, 0.0
	for c := range values {
		from, until := p.instant(c, columns), p.instant(c+1, columns)
		for ; next < len(of) && of[next].At <= from; next++ {
			now = of[next].Value
		}
		values[c] = now
		for ; next < len(of) && of[next].At < until; next++ {
			now = of[next].Value
			values[c] = max(values[c], now)
		}
		if !highest {
			values[c] = now
		}
	}
	return values
}

// instant returns the time at which a column starts.
func (p Plot) instant(column, columns int) time.Duration {
	return p.To * time.Duration(column) / time.Duration(columns)
}

func (p Plot) axis(series ...[]float64) axis {
	lowest, highest := 0.0, 0.0
	for _, values := range series {
		for _, v := range values {
			highest = max(highest, v)
			if v > 0 && (lowest == 0 || v < lowest) {
				lowest = v
			}
		}
	}
	return axisFor(lowest, highest, p.Rows)
}

// area returns the cell of an area that reaches the given number of rows above the bottom
// of the cell.
func (s Style) area(reach float64) cell {
	switch eighths := int(reach*8 + 0.5); {
	case eighths <= 0:
		return cell{" ", plain}
	case s.ASCII && eighths < 4:
		return cell{".", cyan}
	case s.ASCII:
		return cell{":", cyan}
	default:
		return cell{string([]rune("▁▂▃▄▅▆▇█")[min(eighths, 8)-1]), cyan}
	}
}

// line draws the level over the area: along its row, and up or down at a step.
func (s Style) line(picture [][]cell, a axis, level []float64) {
	put := func(r, c int, unicode, ascii string) { picture[r][c] = cell{s.glyph(unicode, ascii), yellow} }
	for c, v := range level {
		if v <= 0 {
			continue
		}
		to, from := a.row(v), a.row(v)
		if c > 0 && level[c-1] > 0 {
			from = a.row(level[c-1])
		}
		for r := min(from, to) + 1; r < max(from, to); r++ {
			put(r, c, "┃", "|")
		}
		switch {
		case from < to:
			put(from, c, "┛", "+")
			put(to, c, "┏", "+")
		case from > to:
			put(from, c, "┓", "+")
			put(to, c, "┗", "+")
		default:
			put(to, c, "━", "-")
		}
	}
}

// time returns the time axis.
func (p Plot) time(s Style, columns int) string {
	ruler := []rune(strings.Repeat(s.glyph("─", "-"), columns))
	text := []rune(strings.Repeat(" ", margin+columns+2))
	unit, _ := UnitOf(p.Every)
	for at := time.Duration(0); at <= p.To; at += p.Every {
		c := int(int64(columns) * int64(at) / int64(p.To))
		if c < columns {
			ruler[c] = []rune(s.glyph("┬", "+"))[0]
		}
		copy(text[max(0, min(margin+c-1, len(text)-2)):], []rune(fmt.Sprintf("%2d", at/unit)))
	}
	corner := s.glyph("└", "+")
	return fmt.Sprintf("%s%s\n%s\n", strings.Repeat(" ", margin-1), s.Faint(corner+string(ruler)), s.Faint(strings.TrimRight(string(text), " ")))
}

// Marks returns the distance between the marks of a time axis, at most 13 up to 91 days.
func Marks(span time.Duration) time.Duration {
	const day = 24 * time.Hour
	for _, every := range []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour,
		day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day} {
		if span <= 13*every {
			return every
		}
	}
	return 364 * day
}

// UnitOf returns the largest unit of time that fits into a duration, and its name.
func UnitOf(d time.Duration) (unit time.Duration, name string) {
	switch {
	case d >= 24*time.Hour:
		return 24 * time.Hour, "days"
	case d >= time.Hour:
		return time.Hour, "hours"
	case d >= time.Minute:
		return time.Minute, "minutes"
	}
	return time.Second, "seconds"
}

// Legend explains the area and the line of a plot.
func (s Style) Legend(scale, level string) string {
	return s.paint(cyan, s.glyph("█", ":")) + " " + scale + "   " + s.paint(yellow, s.glyph("━━", "--")) + " " + level
}

func (s Style) glyph(unicode, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return unicode
}

// join returns a row without the empty cells at its end. It paints each run of one ink
// once.
func (s Style) join(row []cell) string {
	for len(row) > 0 && row[len(row)-1].glyph == " " {
		row = row[:len(row)-1]
	}
	var out, run strings.Builder
	last := plain
	for _, c := range row {
		if c.ink != last {
			out.WriteString(s.paint(last, run.String()))
			run.Reset()
			last = c.ink
		}
		run.WriteString(c.glyph)
	}
	out.WriteString(s.paint(last, run.String()))
	return out.String()
}
