package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
)

// The size of the drawing of a chart. The drawing is stretched to the width of the page,
// and its texts are not.
const (
	columns = 600
	height  = 220.0
)

// A chart shows steps over time: an area, and lines above it.
type chart struct {
	Label string // for screen readers
	Unit  string // of the marks below, as "days since 2026-09-14"
	Rules []mark // at the left, from the top
	Times []mark // below, in percent of the width
	Limit string // height of a dashed line, from the top; "" without one
	Area  string // path
	Lines []curve
}

type mark struct{ At, Text string }

type curve struct{ Class, Path string }

// newChart returns a chart of a plot with its time axis. top is its highest value, and text
// formats a value at the left.
func newChart(p term.Plot, label string, top float64, text func(float64) string) chart {
	unit, name := term.UnitOf(p.Every)
	c := chart{Label: label, Unit: name}
	step := term.RoundUp(top / 5)
	for v := 0.0; v <= top*1.0001; v += step {
		c.Rules = append(c.Rules, mark{y(v, top), text(v)})
	}
	for at := time.Duration(0); at <= p.To; at += p.Every {
		c.Times = append(c.Times, mark{fmt.Sprintf("%.2f%%", 100*float64(at)/float64(p.To)), strconv.Itoa(int(at / unit))})
	}
	return c
}

// y returns the height of a value, from the top.
func y(v, top float64) string { return strconv.FormatFloat(height*(1-min(1, v/top)), 'f', 1, 64) }

// steps returns the path of values, one for each column. A value of 0 is a gap in a line.
func steps(values []float64, top float64, area bool) string {
	var b strings.Builder
	last := math.NaN()
	for x, v := range values {
		switch {
		case v == last:
		case area && x == 0:
			fmt.Fprintf(&b, "M0 %s V%s", y(0, top), y(v, top))
		case area || last > 0 && v > 0:
			fmt.Fprintf(&b, "H%d V%s", x, y(v, top))
		case v > 0:
			fmt.Fprintf(&b, "M%d %s", x, y(v, top))
		case last > 0:
			fmt.Fprintf(&b, "H%d", x)
		}
		last = v
	}
	if area {
		return fmt.Sprintf("%sH%d V%s Z", b.String(), columns, y(0, top))
	}
	if last > 0 {
		fmt.Fprintf(&b, "H%d", columns)
	}
	return b.String()
}
