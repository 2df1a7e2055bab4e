package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
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
	for _, f := range newPolicyDocument(period, nil).fields() {
		b.WriteByte('\n')
		mark := "# "
		if f.name == "mode" {
			mark = ""
		}
		example(&b, f, mark, "", "")
	}
	return b.Bytes()
}

// example writes a field, each line behind the mark, its own line with the lead
// in place of the end of its indent.
func example(b *bytes.Buffer, f field, mark, indent, lead string) {
	fmt.Fprintf(b, "## %s%s%s\n", indent, f.doc, choices(f.into))
	at := indent[:len(indent)-len(lead)] + lead
	switch v := f.into.(type) {
	case object:
		fmt.Fprintf(b, "%s%s%s:\n", mark, at, f.name)
		for _, inner := range v.fields {
			example(b, inner, mark, indent+"  ", "")
		}
	case list:
		fmt.Fprintf(b, "%s%s%s:\n", mark, at, f.name)
		lead := "- "
		for _, inner := range v.add().fields {
			example(b, inner, mark, indent+"  ", lead)
			lead = ""
		}
	default:
		if value, ok := usual(f); ok {
			fmt.Fprintf(b, "%s%s%s: %s\n", mark, at, f.name, value)
		}
	}
}

// usual is what a field is without a line, or a sample where that is nothing.
func usual(f field) (string, bool) {
	into := f.into
	if o, ok := into.(own); ok {
		into = o.value
	}
	switch v := into.(type) {
	case preset:
		return policy.DefaultSet().Default.Name, true
	case series:
		return v.into.String(), true
	case ratio:
		return strconv.FormatFloat(*v.into, 'f', -1, 64), true
	case span:
		return policy.Span(*v.into), true
	case percent:
		return fmt.Sprint(*v.into), true
	case percents:
		return strings.Join(strings.Fields(fmt.Sprint(*v.into)), ", "), true
	}
	if d, ok := into.schema()["default"]; ok {
		return fmt.Sprint(d), true
	}
	sample, ok := samples[f.name]
	return sample, ok
}

// choices are the words that a field may be, as a person reads them.
func choices(v value) string {
	if o, ok := v.(own); ok {
		v = o.value
	}
	words, ok := v.schema()["enum"].([]string)
	if _, levels := v.(series); levels {
		words, ok = policy.SeriesNames(), true
	}
	if !ok {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}
