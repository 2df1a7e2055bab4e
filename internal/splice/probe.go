package splice

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// sign is what a mark is known by.
const sign = "$gitlatch"

var signed = regexp.MustCompile(regexp.QuoteMeta(sign))

// signs returns where a file holds the sign, in bytes, rising.
func signs(data []byte) (at []int) {
	for _, span := range signed.FindAllIndex(data, -1) {
		at = append(at, span[0])
	}
	return at
}

// comments returns those of the signs that stand in a comment, and not in a
// text such as a script that a ConfigMap holds.
//
// Where no text has a sign that is all of them. Else each is replaced by a token
// that stands nowhere else, and the file is parsed once more: what turns up in
// a text was no comment. A token is as long as a sign and begins as one, so that
// the file parses as before, with everything where it was.
func comments(data []byte, at []int, documents []*yaml.Node) ([]int, error) {
	var dollars strings.Builder
	texts(documents, func(text string) {
		if strings.Contains(text, "$") {
			dollars.WriteString(text + "\n")
		}
	})
	if !strings.Contains(dollars.String(), sign) {
		return at, nil
	}
	prefix, err := unused(dollars.String())
	if err != nil {
		return nil, err
	}
	probe := bytes.Clone(data)
	for i, from := range at {
		copy(probe[from:], prefix+fmt.Sprintf("%05s", strconv.FormatInt(int64(i), 36)))
	}
	probed, err := parse(probe)
	if err != nil {
		return nil, err
	}
	inText := make([]bool, len(at))
	texts(probed, func(text string) {
		for _, after := range strings.Split(text, prefix)[1:] {
			i, _ := strconv.ParseInt(after[:len(sign)-len(prefix)], 36, 64)
			inText[i] = true
		}
	})
	var in []int
	for i, from := range at {
		if !inText[i] {
			in = append(in, from)
		}
	}
	return in, nil
}

// unused returns what tokens can begin with and no text holds. The five places
// that are left, to the base of 36, are for 60 million signs.
func unused(texts string) (string, error) {
	for i := range 1000 {
		prefix := fmt.Sprintf("$%03d", i)
		if !strings.Contains(texts, prefix) {
			return prefix, nil
		}
	}
	return "", fmt.Errorf("its text contains %s and each of $000 to $999, so gitlatch cannot find its markers. Use another file", sign)
}

// texts passes on all that documents say but for their comments, and for names
// of anchors, which hold no $.
func texts(nodes []*yaml.Node, see func(string)) {
	for _, n := range nodes {
		see(n.Value)
		see(n.Tag)
		texts(n.Content, see)
	}
}
