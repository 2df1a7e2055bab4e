package splice

import (
	"bytes"
	"cmp"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/each"
)

// A row is a line whose comment holds a sign.
type row struct {
	data     []byte
	line     int // from 1
	from, to int // of the line, in bytes, without its break
	quoted   int // where the last quoted text on it ends, in bytes; from where none does

	values int   // how many values begin on it
	last   *leaf // the last key or value that begins on it; nil is none
}

// A leaf is a key or a value that holds no other: a scalar, an alias, or an
// empty mapping or list.
type leaf struct {
	node  *yaml.Node
	at    int // where it begins, its anchor and tag included, in bytes
	above above
}

// above is what the way from a document to a leaf passes. Lines are from 1; 0
// is none.
type above struct {
	key    bool       // the leaf is a key, or in one
	merged int        // the line of a merge key
	after  int        // the line of a merge key that follows a key on the way, beside it
	twice  int        // the line of another key that says the same as one on the way
	shared *yaml.Node // an alias of something on the way
}

// marked returns the lines in which some signs stand.
func marked(data []byte, at []int) []*row {
	var rows []*row
	line, counted := 1, 0
	first := len(data) - len(bytes.TrimPrefix(data, bom))
	for _, sign := range at {
		if len(rows) > 0 && sign < rows[len(rows)-1].to {
			continue
		}
		line += bytes.Count(data[counted:sign], []byte("\n"))
		counted = sign
		from := max(bytes.LastIndexByte(data[:sign], '\n')+1, first)
		to := len(data)
		if end := bytes.IndexByte(data[sign:], '\n'); end >= 0 {
			to = sign + end
		}
		rows = append(rows, &row{data: data, line: line, from: from, to: to, quoted: from})
	}
	return rows
}

// A looker goes through documents and notes in the rows what stands there.
type looker struct {
	data    []byte
	rows    map[int]*row // by line
	aliases map[*yaml.Node]*yaml.Node
	places  places
}

// look notes in the rows what the documents have there.
func look(data []byte, documents []*yaml.Node, rows []*row) {
	l := looker{data, each.By(rows, func(r *row) int { return r.line }), map[*yaml.Node]*yaml.Node{}, newPlaces(data)}
	for _, d := range documents {
		l.findAliases(d)
	}
	for _, d := range documents {
		l.see(d, above{})
	}
}

// findAliases notes an alias of each node that has one, the first.
func (l *looker) findAliases(n *yaml.Node) {
	if n.Kind == yaml.AliasNode && l.aliases[n.Alias] == nil {
		l.aliases[n.Alias] = n
	}
	for _, c := range n.Content {
		l.findAliases(c)
	}
}

func (l *looker) see(n *yaml.Node, a above) {
	a.shared = cmp.Or(a.shared, l.aliases[n])
	if len(n.Content) == 0 {
		l.leaf(n, a)
		return
	}
	if n.Kind != yaml.MappingNode {
		for _, c := range n.Content {
			l.see(c, a)
		}
		return
	}
	twin, merge := twins(n), 0
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			merge = i
		}
	}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		ofKey := a
		ofValue := a
		ofKey.key = true
		l.see(k, ofKey)
		if k.Tag == "!!merge" {
			ofValue.merged = k.Line
		}
		if i < merge {
			ofValue.after = n.Content[merge].Line
		}
		ofValue.twice = cmp.Or(a.twice, twin[k])
		l.see(n.Content[i+1], ofValue)
	}
}

// leaf notes a leaf in the row in which it begins, and where it ends if it is
// quoted.
func (l *looker) leaf(n *yaml.Node, a above) {
	r := l.rows[n.Line]
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	if r == nil && !quoted {
		return
	}
	at := l.places.of(n)
	if quoted {
		from := bare(l.data, at)
		end := closing(l.data, from)
		if r := l.rows[n.Line+bytes.Count(l.data[at:end], []byte("\n"))]; r != nil {
			r.quoted = max(r.quoted, end)
		}
	}
	if r == nil {
		return
	}
	if !a.key {
		r.values++
	}
	if r.last == nil || at >= r.last.at {
		r.last = &leaf{n, at, a}
	}
}
