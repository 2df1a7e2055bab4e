package splice

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// sign is the key that identifies a marker.
const sign = "$gitlatch"

var signed = regexp.MustCompile(regexp.QuoteMeta(sign))

// signs returns the offsets of the sign in a file, in bytes, in ascending order.
func signs(data []byte) []int {
	return lists.Map(signed.FindAllIndex(data, -1), func(span []int) int { return span[0] })
}

// comments returns the signs that are in a comment, and not in a text such as a script in
// a ConfigMap.
//
// If no text contains a sign, all signs are in comments. Otherwise comments replaces each
// sign with a unique token and parses the file again. A token that appears in a text was
// not in a comment. A token has the length and the first character of a sign, so that the
// parser finds everything in the same place.
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

// unused returns a prefix for tokens that no text contains. The five remaining
// characters, in base 36, are enough for 60 million signs.
func unused(texts string) (string, error) {
	for i := range 1000 {
		prefix := fmt.Sprintf("$%03d", i)
		if !strings.Contains(texts, prefix) {
			return prefix, nil
		}
	}
	return "", fmt.Errorf("its text contains %s and each of $000 to $999, so gitlatch cannot find its markers. Use another file", sign)
}

// texts calls see for all texts of documents, except for comments and the names of
// anchors, which cannot contain $.
func texts(nodes []*yaml.Node, see func(string)) {
	for _, n := range nodes {
		see(n.Value)
		see(n.Tag)
		texts(n.Content, see)
	}
}
