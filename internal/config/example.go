package config

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/strict"
)

const exampleHeader = `## How gitlatch latches this site. A field behind # has the value that it would have
## without a line. To change it, take that # away, and the # of each line that it is
## indented under. What stands behind ## explains.
apiVersion: %s
kind: %s
`

// samples are values to show of fields that have no default.
var samples = map[string]string{
	"name": "worker", "namespaces": "[batch]", "names": `["worker-*"]`, "kinds": "[deployment]", "labels": "{tier: worker}",
	"inPlace": "[apps/shop/values.yaml]", "apiVersion": "example.com/v1", "kind": "Worker", "resource": "workers",
}

// ExamplePolicy is a document of kind Policy that observes, explains each field
// and shows every default. Less its comments' marks it says the same.
func ExamplePolicy(period time.Duration) []byte {
	var b bytes.Buffer
	b.WriteString(Modeline(KindPolicy))
	fmt.Fprintf(&b, exampleHeader, APIVersion, KindPolicy)
	for _, f := range newPolicyDocument("", period).fields().Fields {
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
	if _, note := f.Value.(strict.Note); note {
		return
	}
	at := indent[:len(indent)-len(lead)] + lead
	value, choices, inner, lead := usual(f.Value)
	fmt.Fprintf(b, "## %s%s%s\n", indent, f.Doc, choices)
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

// usual is what a value is without a line, and the words that it may be, as a person
// reads them; or the fields inside of it, the first of which stands behind the lead.
func usual(v strict.Value) (value, choices string, inner []strict.Field, lead string) {
	var words []string
	switch v := v.(type) {
	case strict.Object:
		inner = v.Fields
	case strict.List:
		item, _ := v.Item().(strict.Object)
		inner, lead, value, words = item.Fields, "- ", v.Holds, v.Or.Words()
	case strict.Scalar:
		value, words = v.Holds, v.Words()
	}
	if words != nil {
		choices = " (" + strings.Join(words, ", ") + ")"
	}
	return value, choices, inner, lead
}
