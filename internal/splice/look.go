package splice

import (
	"bytes"
	"cmp"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A row is a line with a sign in its comment.
type row struct {
	data     []byte
	line     int // from 1
	from, to int // offsets of the line in bytes, without its line break
	quoted   int // offset in bytes of the end of its last quoted text; from if there is no such text

	values int   // number of values that start on it
	last   *leaf // the last key or value that starts on it; nil if there is none
}

// A leaf is a key or a value without children: a scalar, an alias, or an empty mapping or
// list.
type leaf struct {
	node  *yaml.Node
	at    int // offset in bytes of its start, including its anchor and tag
	above above
}

// above describes the path from a document to a leaf. Lines are from 1; 0 if there is no
// such line.
type above struct {
	key    bool       // the leaf is a key, or in one
	merged int        // the line of a merge key
	after  int        // the line of a merge key that follows a key of the path in the same mapping
	twice  int        // the line of another key that is equal to a key of the path
	shared *yaml.Node // an alias of a node on the path
}

// marked returns the lines that contain some signs.
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

// A looker visits the nodes of documents and stores their facts in the rows.
type looker struct {
	data    []byte
	rows    map[int]*row // by line
	aliases map[*yaml.Node]*yaml.Node
	places  places
}

// look stores the facts of the documents' nodes in the rows.
func look(data []byte, documents []*yaml.Node, rows []*row) {
	l := looker{data, lists.Index(rows, func(r *row) int { return r.line }), map[*yaml.Node]*yaml.Node{}, newPlaces(data)}
	for _, d := range documents {
		l.findAliases(d)
	}
	for _, d := range documents {
		l.see(d, above{})
	}
}

// findAliases stores the first alias of each node that has an alias.
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

// leaf stores a leaf in the row in which it starts. If the leaf is quoted, it stores its
// end in the row in which it ends.
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
