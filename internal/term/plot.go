package term

import (
	"fmt"
	"strings"
	"time"
)

// A Point begins a step: the value from an instant on.
type Point struct {
	At    time.Duration
	Value float64
}

// A Plot is a line of steps, the level, over an area of steps, the scale, from 0 until an
// instant. The axis is logarithmic where the values are far apart.
type Plot struct {
	Title string
	To    time.Duration
	Scale []Point // ascending in time; the last one before 0 is the value at 0
	Level []Point // as Scale; nothing is drawn at 0
	Rows  int     // of the area; 0 is 10
	// Every is the distance between marks, which count what it is at least one of: days,
	// hours, minutes or else seconds. 0 marks the hours of a day that starts at 0.
	Every time.Duration
}

const margin = 9 // columns left of the area

// cell is one character of the picture.
type cell struct {
	glyph string
	ink   ink
}

// Draw returns the plot as lines of at most the style's width, each ended.
func (p Plot) Draw(s Style) string {
	if p.Rows <= 0 {
		p.Rows = 10
	}
	columns := s.width() - margin - 1
	scale, level := p.sample(p.Scale, columns, true), p.sample(p.Level, columns, false)
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

// sample returns a value a column: the highest that held within it, or the
// last.
func (p Plot) sample(of []Point, columns int, highest bool) []float64 {
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

// instant is when a column begins.
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

// area is the cell of an area that reaches so many rows above the cell's
// bottom.
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

// line draws the level over the area: along its row, and up or down where it
// steps.
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

// time is the axis of the time: the clock's, every third hour, or minutes.
func (p Plot) time(s Style, columns int) string {
	ruler := []rune(strings.Repeat(s.glyph("─", "-"), columns))
	text := []rune(strings.Repeat(" ", margin+columns+2))
	every, format := p.Every, "%2d"
	if every <= 0 {
		every, format = 3*time.Hour, "%02d"
	}
	unit := time.Second
	for _, longer := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour} {
		if every >= longer {
			unit = longer
		}
	}
	for at := time.Duration(0); at <= p.To; at += every {
		c := int(int64(columns) * int64(at) / int64(p.To))
		if c < columns {
			ruler[c] = []rune(s.glyph("┬", "+"))[0]
		}
		copy(text[max(0, min(margin+c-1, len(text)-2)):], []rune(fmt.Sprintf(format, at/unit)))
	}
	corner := s.glyph("└", "+")
	return fmt.Sprintf("%s%s\n%s\n", strings.Repeat(" ", margin-1), s.Faint(corner+string(ruler)), s.Faint(strings.TrimRight(string(text), " ")))
}

// Legend says what a plot shows.
func (s Style) Legend(scale, level string) string {
	return s.paint(cyan, s.glyph("█", ":")) + " " + scale + "   " + s.paint(yellow, s.glyph("━━", "--")) + " " + level
}

func (s Style) glyph(unicode, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return unicode
}

// join returns a row without what is empty at its end, each run of one ink
// painted once.
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
