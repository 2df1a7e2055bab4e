// apply edits: tool <root> <chunk.map> <edits>
package main

import (
	"bufio"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"
)

type com struct{ off, end, line, endLine int; lead bool; indent string; text string }

func must(err error) { if err != nil { panic(err) } }

func comments(src []byte) (all []com) {
	fs := token.NewFileSet()
	f := fs.AddFile("x", -1, len(src))
	var s scanner.Scanner
	s.Init(f, src, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF { return }
		if tok != token.COMMENT { continue }
		p := fs.Position(pos)
		ls := strings.LastIndex(string(src[:p.Offset]), "\n") + 1
		pre := string(src[ls:p.Offset])
		all = append(all, com{p.Offset, p.Offset + len(lit), p.Line, p.Line + strings.Count(lit, "\n"), strings.TrimSpace(pre) == "", pre, lit})
	}
}

func wrap(text, indent string) string {
	width := 90
	ind := strings.Count(indent, "\t") * 4
	var out []string
	var cur []string
	flush := func() {
		if len(cur) == 0 { return }
		line := ""
		for _, w := range strings.Fields(strings.Join(cur, " ")) {
			if line != "" && ind+3+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > width {
				out = append(out, indent+"// "+line); line = ""
			}
			if line != "" { line += " " }
			line += w
		}
		if line != "" { out = append(out, indent+"// "+line) }
		cur = nil
	}
	for _, l := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(l) == "":
			flush(); out = append(out, indent+"//")
		case strings.HasPrefix(l, "\t"):
			flush(); out = append(out, indent+"//"+l)
		case strings.HasPrefix(l, "  - ") || strings.HasPrefix(l, "# ") :
			flush(); out = append(out, indent+"// "+l)
		default:
			cur = append(cur, l)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

type edit struct { a, b int; text string; n int }

func main() {
	root, mapf, edf := os.Args[1], os.Args[2], os.Args[3]
	// map: lines "global local path"
	type loc struct { path string; start, end int }
	var locs []loc
	mf, err := os.ReadFile(mapf); must(err)
	for _, l := range strings.Split(strings.TrimSpace(string(mf)), "\n") {
		var x loc
		fmt.Sscan(l, &x.path, &x.start, &x.end)
		locs = append(locs, x)
	}
	ef, err := os.Open(edf); must(err)
	byFile := map[string][]edit{}
	var cur *edit; var curPath string
	put := func() {
		if cur != nil { cur.text = strings.Trim(cur.text, "\n"); byFile[curPath] = append(byFile[curPath], *cur) }
		cur = nil
	}
	sc := bufio.NewScanner(ef); sc.Buffer(nil, 1<<20)
	n := 0; bad := 0
	for sc.Scan() {
		n++
		l := sc.Text()
		if strings.HasPrefix(l, "@") {
			put()
			rest := l[1:]
			num, text, _ := strings.Cut(rest, " ")
			var a, b int
			if x, y, ok := strings.Cut(num, "-"); ok { fmt.Sscan(x, &a); fmt.Sscan(y, &b) } else { fmt.Sscan(num, &a); b = a }
			ok := false
			for _, x := range locs {
				if a >= x.start && a <= x.end { curPath = x.path; a -= x.start - 1; b -= x.start - 1; ok = true }
			}
			if !ok { fmt.Println("no loc", l); bad++; continue }
			cur = &edit{a, b, text, n}
			continue
		}
		if cur != nil { cur.text += "\n" + l }
	}
	put()
	for path, edits := range byFile {
		full := filepath.Join(root, path)
		src, err := os.ReadFile(full); must(err)
		cs := comments(src)
		sort.Slice(edits, func(i, j int) bool { return edits[i].a > edits[j].a })
		out := string(src)
		for _, e := range edits {
			var in []com
			for _, c := range cs { if c.line >= e.a && c.endLine <= e.b { in = append(in, c) } }
			if len(in) == 0 { fmt.Printf("%s:%d-%d edit line %d: no comment\n", path, e.a, e.b, e.n); bad++; continue }
			lead := in[0].lead
			mixed := false
			for _, c := range in { if c.lead != lead { mixed = true } }
			if mixed || !lead && len(in) > 1 { fmt.Printf("%s:%d-%d edit line %d: mixed\n", path, e.a, e.b, e.n); bad++; continue }
			first, last := in[0], in[len(in)-1]
			if !lead {
				if e.text == "" {
					out = strings.TrimRight(out[:first.off], " \t") + out[first.end:]
				} else {
					out = out[:first.off] + "// " + strings.Join(strings.Fields(e.text), " ") + out[first.end:]
				}
				continue
			}
			// group must be complete: warn if neighbor comment line directly adjacent exists
			for _, c := range cs {
				if c.lead && (c.endLine == first.line-1 || c.line == last.endLine+1) { fmt.Printf("%s:%d-%d edit line %d: warn, partial group\n", path, e.a, e.b, e.n) }
			}
			if last.endLine-first.line+1 != e.b-e.a+1 { fmt.Printf("%s:%d-%d edit line %d: warn, covers %d-%d\n", path, e.a, e.b, e.n, first.line, last.endLine) }
			ls := first.off - len(first.indent)
			if e.text == "" {
				end := last.end
				if end < len(out) && out[end] == '\n' { end++ }
				out = out[:ls] + out[end:]
			} else {
				out = out[:ls] + wrap(e.text, first.indent) + out[last.end:]
			}
		}
		must(os.WriteFile(full, []byte(out), 0o644))
	}
	if bad > 0 { fmt.Println("BAD", bad) }
}
