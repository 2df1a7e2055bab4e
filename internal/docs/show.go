package docs

import (
	"regexp"
	"strings"

	"github.com/gitlatch/gitlatch/internal/term"
)

// Show writes the topic to a page of a terminal. It folds paragraphs and tables to the
// width, keeps code unchanged, and replaces a link to a topic by the command that prints
// it.
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

// showCode writes lines of code unchanged. It indents them if all of them then fit the width.
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

// showTable writes a table if only its last column is long. Otherwise it writes each row
// as several lines below the first cell, and skips empty cells.
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

// longest is the maximum length in bytes of a cell between the first and the last column
// of a table that fits a terminal.
const longest = 18

// item matches the start of a list item.
var item = regexp.MustCompile(`^(- |\d+\. )`)

// cells returns the cells of a table row.
func cells(line string) []string {
	row := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x00"), "|"), "|")
	for i, cell := range row {
		row[i] = strings.ReplaceAll(plain(strings.TrimSpace(cell)), "\x00", "|")
	}
	return row
}

var (
	toTopic  = regexp.MustCompile(`\[([^]]+)\]\(([a-z-]+)\.md(?:#[^)]*)?\)`)
	toHere   = regexp.MustCompile(`\[([^]]+)\]\(#[^)]*\)`)
	toOther  = regexp.MustCompile(`\[([^]]+)\]\(([^)]+)\)`)
	emphasis = strings.NewReplacer("**", "", "`", "")
)

// plain returns text without Markdown syntax.
func plain(text string) string {
	text = toTopic.ReplaceAllString(text, "$1 (gitlatch help $2)")
	text = toHere.ReplaceAllString(text, "$1")
	text = toOther.ReplaceAllString(text, "$1 ($2)")
	return emphasis.Replace(text)
}
