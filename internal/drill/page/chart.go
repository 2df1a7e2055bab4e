package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

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
	label string // for screen readers
	unit  string // of the marks below, as "days since 2026-09-14"
	rules []mark // at the left, from the top
	times []mark // below, in percent of the width
	limit string // height of a dashed line, from the top; "" without one
	area  string // path
	lines []curve
}

type mark struct{ at, text string }

type curve struct{ class, path string }

// newChart returns a chart of a plot with its time axis. top is its highest value, and text
// formats a value at the left.
func newChart(p term.Plot, label string, top float64, text func(float64) string) chart {
	unit, name := term.UnitOf(p.Every)
	c := chart{label: label, unit: name}
	step := term.RoundUp(top / 5)
	for v := 0.0; v <= top*1.0001; v += step {
		c.rules = append(c.rules, mark{y(v, top), text(v)})
	}
	for at := time.Duration(0); at <= p.To; at += p.Every {
		c.times = append(c.times, mark{fmt.Sprintf("%.2f%%", 100*float64(at)/float64(p.To)), strconv.Itoa(int(at / unit))})
	}
	return c
}

// draw returns the drawing of the chart, with the unit of the times below it.
func (c chart) draw() g.Node {
	across := func(y string, class g.Node) g.Node {
		return g.El("line", class, g.Attr("x1", "0"), g.Attr("x2", "100%"), g.Attr("y1", y), g.Attr("y2", y))
	}
	curves := g.Map(c.lines, func(l curve) g.Node { return g.El("path", h.Class(l.class), g.Attr("d", l.path)) })
	if c.area != "" {
		curves = append(g.Group{g.El("path", h.Class("area"), g.Attr("d", c.area))}, curves...)
	}
	limit := g.Node(nil)
	if c.limit != "" {
		limit = across(c.limit, h.Class("limit"))
	}
	return g.Group{
		h.SVG(h.Class("chart"), h.Height("248"), h.Role("img"), h.Aria("label", c.label),
			g.Map(c.rules, func(m mark) g.Node {
				return g.Group{across(m.at, nil), g.El("text", g.Attr("x", "-8"), g.Attr("y", m.at), g.Attr("dy", "4"), g.Attr("text-anchor", "end"), g.Text(m.text))}
			}),
			h.SVG(g.Attr("viewBox", "0 0 600 220"), g.Attr("preserveAspectRatio", "none"), h.Width("100%"), h.Height("220"), curves),
			limit,
			g.Map(c.times, func(m mark) g.Node {
				return g.El("text", g.Attr("x", m.at), g.Attr("y", "242"), g.Attr("text-anchor", "middle"), g.Text(m.text))
			}),
		),
		under(c.unit),
	}
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
