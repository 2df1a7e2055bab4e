package docs

import (
	"regexp"
	"strings"

	"github.com/gitlatch/gitlatch/internal/term"
)

// Show writes the topic onto a page of a terminal: paragraphs and tables folded to
// its width, code as it stands, links as the command that prints their topic.
func (t Topic) Show(p *term.Page) {
	var table [][]string
	var code []string
	fenced := false
	for line := range strings.Lines(t.Text) {
		line = strings.TrimSuffix(line, "\n")
		isRow := strings.HasPrefix(line, "|") && !fenced
		if !isRow {
			showTable(p, table)
			table = nil
		}
		of, indented := strings.CutPrefix(line, "    ")
		if fence := strings.HasPrefix(line, "```"); fence || fenced || indented || line == "" && code != nil {
			fenced = fenced != fence
			if fenced && !fence {
				of = line
			}
			if !fence {
				code = append(code, of)
			}
			continue
		}
		showCode(p, code)
		code = nil
		marker := item.FindString(line)
		switch {
		case strings.HasPrefix(line, "<!--"):
		case isRow && strings.Trim(line, "|-: ") == "":
		case isRow:
			table = append(table, cells(line))
		case line == "":
			p.Line("")
		case strings.HasPrefix(line, "#"):
			p.Line("%s", p.Style.Heading(strings.TrimLeft(line, "# ")))
		case marker != "":
			p.Topics(term.Topics{{strings.TrimSpace(marker), plain(line[len(marker):])}})
		default:
			p.Say("", "%s", plain(line))
		}
	}
	showTable(p, table)
	showCode(p, code)
}

// showCode writes lines of code as they stand, indented if all have the room.
func showCode(p *term.Page, lines []string) {
	indent := "    "
	for _, line := range lines {
		if len([]rune(line)) > p.Columns-len(indent) {
			indent = ""
		}
	}
	for _, line := range lines {
		p.Line("%s", strings.TrimRight(indent+line, " "))
	}
}

// showTable writes a table whose last column alone is long; of any other it writes
// each row as lines of its own, below the first cell, and no empty cells.
func showTable(p *term.Page, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	widest := 0
	for _, row := range rows {
		for _, cell := range row[1 : len(row)-1] {
			widest = max(widest, len(cell))
		}
	}
	if widest <= longest {
		p.Rows(rows)
		return
	}
	for _, row := range rows[1:] {
		p.Line("%s", p.Style.Heading(row[0]))
		for i, cell := range row[1:] {
			if cell != "" {
				p.Say("  ", "%s: %s", rows[0][i+1], cell)
			}
		}
	}
}

// longest is how many bytes a cell between the first and the last may have, for a
// table to fit a terminal.
const longest = 18

// item is how an item of a list begins.
var item = regexp.MustCompile(`^(- |\d+\. )`)

// cells are those of a table's row.
func cells(line string) []string {
	row := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x00"), "|"), "|")
	for i, cell := range row {
		row[i] = strings.ReplaceAll(plain(strings.TrimSpace(cell)), "\x00", "|")
	}
	return row
}

var (
	toTopic  = regexp.MustCompile(`\[([^]]+)\]\(([a-z-]+)\.md(?:#[^)]*)?\)`)
	toOther  = regexp.MustCompile(`\[([^]]+)\]\(([^)]+)\)`)
	emphasis = strings.NewReplacer("**", "", "`", "")
)

// plain is a text without the marks of Markdown.
func plain(text string) string {
	text = toTopic.ReplaceAllString(text, "$1 (gitlatch help $2)")
	text = toOther.ReplaceAllString(text, "$1 ($2)")
	return emphasis.Replace(text)
}
