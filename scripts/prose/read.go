package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// A passage is a piece of text: a paragraph, a string or a comment.
type passage struct {
	file string // from the root of the repository, or the name of a command
	line int    // the first line of the passage in the file; 0 is unknown
	text string
}

var (
	fence   = regexp.MustCompile("^\\s*```")
	comment = regexp.MustCompile(`^\s*<!--`)
)

// markdown returns the paragraphs, items and cells of a text in Markdown, without its code.
func markdown(file, text string) (all []passage) {
	fenced := false
	p := passage{file: file}
	end := func() {
		if strings.TrimSpace(p.text) != "" {
			all = append(all, p)
		}
		p = passage{file: file}
	}
	for i, line := range strings.Split(text, "\n") {
		code := fenced || strings.HasPrefix(line, "    ") || comment.MatchString(line)
		if fence.MatchString(line) {
			fenced = !fenced
			code = true
		}
		if code || strings.TrimSpace(line) == "" {
			end()
			continue
		}
		row, isRow := strings.CutPrefix(line, "|")
		if isRow || marker.MatchString(line) {
			end()
		}
		plain := linked.ReplaceAllString(codeSpan.ReplaceAllString(line, "code"), "$1")
		if isRow {
			for cell := range strings.SplitSeq(linked.ReplaceAllString(codeSpan.ReplaceAllString(row, "code"), "$1"), "|") {
				all = append(all, passage{file, i + 1, strings.TrimSpace(cell)})
			}
			continue
		}
		plain = strings.TrimSpace(marker.ReplaceAllString(plain, ""))
		if p.text == "" {
			p.line = i + 1
			p.text = plain
			continue
		}
		p.text += "\n" + plain
	}
	end()
	return all
}

// source returns the comments of a Go file, and its strings of at least four words.
func source(file string, text []byte) (comments, literals []passage, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	for _, group := range parsed.Comments {
		comments = append(comments, passage{file, files.Position(group.Pos()).Line, strings.TrimSpace(group.Text())})
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		literal, is := n.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			return true
		}
		value, err := strconv.Unquote(literal.Value)
		if err == nil && len(words(value)) >= fewest {
			literals = append(literals, passage{file, files.Position(literal.Pos()).Line, value})
		}
		return true
	})
	return comments, literals, nil
}
