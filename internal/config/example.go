package config

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/config/strict"
)

const exampleHeader = `## How gitlatch latches this site. A field behind # has the value that it would have
## without a line; take the # away to change it. What stands behind ## explains.
apiVersion: %s
kind: %s
`

// samples are values to show of fields that have no default.
var samples = map[string]string{
	"name": "batch", "namespaces": "[batch]", "names": `["worker-*"]`, "kinds": "[deployment]", "labels": "{tier: worker}",
}

// ExamplePolicy is a document of kind Policy that observes, explains each field
// and shows every default. Less its comments' marks it says the same.
func ExamplePolicy(period time.Duration) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, exampleHeader, APIVersion, KindPolicy)
	for _, f := range newPolicyDocument(period, nil).fields().Fields {
		b.WriteByte('\n')
		mark := "# "
		if f.Name == "mode" {
			mark = ""
		}
		example(&b, f, mark, "", "")
	}
	return b.Bytes()
}

// example writes a field, each line behind the mark, its own line with the lead
// in place of the end of its indent.
func example(b *bytes.Buffer, f strict.Field, mark, indent, lead string) {
	value, words := usual(f.Value)
	choices := ""
	if words != nil {
		choices = " (" + strings.Join(words, ", ") + ")"
	}
	fmt.Fprintf(b, "## %s%s%s\n", indent, f.Doc, choices)
	at := indent[:len(indent)-len(lead)] + lead
	inner, lead := inside(f.Value)
	if value = cmp.Or(value, samples[f.Name]); inner != nil {
		fmt.Fprintf(b, "%s%s%s:\n", mark, at, f.Name)
	} else if value != "" {
		fmt.Fprintf(b, "%s%s%s: %s\n", mark, at, f.Name, value)
	}
	for _, f := range inner {
		example(b, f, mark, indent+"  ", lead)
		lead = ""
	}
}

// usual is what a value is without a line, and the words that it may be.
func usual(v strict.Value) (value string, words []string) {
	switch v := v.(type) {
	case strict.Scalar:
		return v.Holds, v.Words()
	case strict.List:
		if v.Or != nil {
			words = v.Or.Words()
		}
		return v.Holds, words
	}
	return "", nil
}

// inside are the fields of an object, or of an item of a list, and what the first
// of them is led by.
func inside(v strict.Value) (fields []strict.Field, lead string) {
	if l, ok := v.(strict.List); ok {
		v, lead = l.Item(), "- "
	}
	o, _ := v.(strict.Object)
	return o.Fields, lead
}
