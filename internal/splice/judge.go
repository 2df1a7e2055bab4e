package splice

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
	"go.yaml.in/yaml/v3"
)

// judge returns the marked count of a row. If the marker cannot be edited, it returns the
// reason, and the marked workload if the marker names one. The count and the error are
// both nil if the comment is about markers and is not one itself.
func (r *row) judge() (*count, workload.ID, error) {
	begins := r.comment()
	if begins < 0 {
		return nil, workload.ID{}, errors.New("the marker is not in a comment. Write it at the end of the line of a value, after a space and #")
	}
	comment := string(r.data[begins:r.to])
	alone := len(bytes.TrimSpace(r.data[r.from:begins])) == 0
	if alone && !strings.HasPrefix(strings.TrimLeft(comment, "# \t"), "{") {
		return nil, workload.ID{}, nil
	}
	id, err := parseMark(comment)
	if err != nil {
		return nil, id, err
	}
	if alone {
		return nil, id, errors.New("the marker is on a separate line. Move it to the end of the line of its value")
	}
	c, err := r.count(begins)
	if err != nil {
		return nil, id, err
	}
	c.ID = id
	return c, id, nil
}

// comment returns the offset of the row's comment. A comment starts with a # after the
// last quoted text, and the # follows a blank or starts the row. The offset is -1 if
// there is no comment, as in a directive.
func (r *row) comment() int {
	for at := r.quoted; at < r.to; at++ {
		if r.data[at] == '#' && (at == r.from || strings.IndexByte(" \t", r.data[at-1]) >= 0) {
			return at
		}
	}
	return -1
}

// count returns the count before a comment, or an error if it cannot be edited.
func (r *row) count(comment int) (*count, error) {
	switch {
	case bytes.Contains(r.data[r.from:comment], []byte("{{")):
		return nil, errors.New("this is a template. Take the count from its values, and put the marker there")
	case r.last == nil || r.last.node.Kind == yaml.ScalarNode && r.last.node.Value == "" && r.last.node.Style == 0:
		return nil, errors.New("the line of the marker has no value. Write the value and the marker on one line")
	case r.last.above.key:
		return nil, errors.New("the marker follows a key. Move it to the end of the line of its value")
	case r.values > 1:
		return nil, fmt.Errorf("the marker follows %d values. Put its value on a separate line", r.values)
	}
	n := r.last.node
	if err := number(n); err != nil {
		return nil, err
	}
	from := bare(r.data, r.last.at)
	quote := ""
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		quote = string(r.data[from])
		from++
	}
	after, written := strings.CutPrefix(string(r.data[min(from, comment):comment]), n.Value+quote)
	if !written {
		return nil, fmt.Errorf("the value %s must be on the line of the marker, without escapes", got(n.Value))
	}
	if gap := strings.TrimSpace(after); gap != "" && gap != "," {
		return nil, fmt.Errorf("the marker follows %s, which comes after the value. Put the value on a separate line", got(gap))
	}
	value, err := strconv.ParseInt(n.Value, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("must be at most %d, got %s", math.MaxInt32, got(n.Value))
	}
	mark := Mark{Line: r.line, Value: int32(value)}
	return &count{Mark: mark, from: from, to: from + len(n.Value), node: n}, r.last.above.refuse()
}

// plain matches the accepted form of a number. YAML parsers disagree about all other
// forms: 010 is 8 or 10, 1_000 is a number or a text.
var plain = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

// number returns an error if a node is not a plain number.
func number(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return fmt.Errorf("the value is the alias *%s of line %d. Write the number", n.Value, n.Alias.Line)
	case n.Kind != yaml.ScalarNode:
		return errors.New("the marker follows a mapping or a list. A replica count is one number")
	case n.Style&yaml.TaggedStyle != 0:
		return fmt.Errorf("the value has the tag %s. Remove the tag", n.Tag)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return errors.New("the value is a block of text. Write the number on the line of its key")
	case !plain.MatchString(n.Value):
		return fmt.Errorf("must be an integer, 0 or more, in plain decimal digits, got %s", got(n.Value))
	}
	return nil
}

// refuse returns an error if a change of the value would affect other values, or if other
// values could override it.
func (a above) refuse() error {
	switch {
	case a.shared != nil:
		return fmt.Errorf("the value is shared, by the alias *%s on line %d. Write the number there, or move the marker", a.shared.Value, a.shared.Line)
	case a.merged != 0:
		return fmt.Errorf("the value comes through the merge key << on line %d, and another value may replace it. Write it next to this key", a.merged)
	case a.after != 0:
		return fmt.Errorf("the merge key << on line %d comes after the value or a key above it, and replaces it in some YAML parsers, such as the parser of Kubernetes. Move << to the top", a.after)
	case a.twice != 0:
		return fmt.Errorf("a key above the value appears twice, also on line %d. Keep one", a.twice)
	}
	return nil
}
