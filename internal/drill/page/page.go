// Package page renders reports that users open in a browser or read as an email. A report
// is one file of HTML with inline drawings and one style sheet. It has no script, sends no
// request, and works from a disk, a bucket or an email.
//
// The pages are functions, and not templates of html/template: a template calls methods by
// their names at run time, so the linker would keep each exported method of the binary.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // page.css
	"encoding/base64"
	"fmt"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// sheet is the style sheet of all pages.
//
//go:embed page.css
var sheet string

// render returns a page. The content security policy of the page allows its style sheet
// alone.
func render(title string, content ...g.Node) ([]byte, error) {
	sum := sha256.Sum256([]byte(sheet))
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	meta := func(name, content string) g.Node { return h.Meta(h.Name(name), h.Content(content)) }
	var b bytes.Buffer
	err := h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(policy)),
			meta("viewport", "width=device-width, initial-scale=1"),
			meta("color-scheme", "light dark"),
			meta("referrer", "no-referrer"),
			meta("robots", "noindex"),
			h.TitleEl(g.Text(title)),
			h.Link(h.Rel("icon"), h.Href("data:,")),
			h.StyleEl(g.Raw(sheet)),
		),
		h.Body(content...),
	)).Render(&b)
	b.WriteByte('\n')
	if err != nil {
		return nil, fmt.Errorf("write a page: %w", err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte(" %"), []byte("\u00a0%")), nil // no line starts with %
}

// section returns a section with a heading.
func section(id, title string, content ...g.Node) g.Node {
	return h.Section(h.Aria("labelledby", id), h.H2(h.ID(id), g.Text(title)), g.Group(content))
}

func under(text string) g.Node { return h.P(h.Class("under"), g.Text(text)) }

func quiet(text string) g.Node { return h.Span(h.Class("quiet"), g.Text(text)) }

// name returns the name of a workload, without the kind of a Deployment.
func name(n term.Named) g.Node {
	kind := g.Group{g.Text(" "), quiet(n.Kind)}
	if n.Kind == string(workload.Deployment) {
		kind = nil
	}
	return g.Group{quiet(n.Namespace + "/"), g.Text(n.Name), kind}
}

// bar returns a bar for a share of 0 to 1, or more. Its class sets the color.
func bar(class string, share float64) g.Node {
	width := fmt.Sprintf("%.2f%%", 100*min(1, share))
	return h.SVG(h.Class("bar"), h.Width("48"), h.Height("6"), h.Aria("hidden", "true"),
		g.El("rect", h.Class(class), h.Width(width), h.Height("100%")))
}

// A column of a table has a class for its cells. The class n, for numbers, applies to its
// head too.
type column struct{ title, class string }

// A row has attributes, which may be nil, and a cell for each column. The first cell is the
// heading of the row. A cell may start with attributes.
type row struct {
	attributes g.Node
	cells      []g.Node
}

func rowOf(cells ...g.Node) row { return row{cells: cells} }

// table returns a table. The caption is for screen readers, and class may be "".
func table(class, caption string, columns []column, rows []row) g.Node {
	return h.Table(classed(class), g.Attr("cellpadding", "4"),
		h.Caption(g.Text(caption)),
		h.THead(h.Tr(g.Map(columns, head))),
		h.TBody(g.Map(rows, func(r row) g.Node {
			cells := g.Group{r.attributes, h.Th(h.Scope("row"), r.cells[0])}
			for i, c := range columns[1:] {
				cells = append(cells, h.Td(classed(c.class), h.Data("title", c.title), r.cells[1+i]))
			}
			return g.Group{h.Tr(cells...), g.Text("\n")}
		})),
	)
}

func head(c column) g.Node {
	class := ""
	if c.class == "n" {
		class = "n"
	}
	return h.Th(h.Scope("col"), classed(class), g.Text(c.title))
}

// classed returns a class, or nil for "".
func classed(class string) g.Node {
	if class == "" {
		return nil
	}
	return h.Class(class)
}

// entry returns a term of a list and its values.
func entry(term string, values ...g.Node) g.Node {
	return h.Div(h.Dt(g.Text(term)), g.Group(values))
}
