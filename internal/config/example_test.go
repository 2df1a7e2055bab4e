package config

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// The example for users is generated from the table of fields.
func TestTheExampleIsThatOfTheTable(t *testing.T) {
	t.Parallel()
	want := exampleOf(newPolicyDocument(5 * time.Minute).fields().Fields)
	if *update {
		if err := os.WriteFile("example/gitlatch.yaml", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(examplePolicy, want) {
		t.Errorf("go test ./internal/config -update writes it anew:\n%s", want)
	}
}

func TestTheExampleSaysWhatGoesWithoutSaying(t *testing.T) {
	t.Parallel()
	for _, period := range []time.Duration{time.Minute, 5 * time.Minute, time.Hour} {
		example := string(ExamplePolicy(period, ModeObserve))
		set, err := ParsePolicy("gitlatch.yaml", []byte(example), period)
		if err != nil || !reflect.DeepEqual(set, DefaultPolicy(period)) {
			t.Errorf("as it stands it is %+v, %v", set, err)
		}

		bare, found := strings.CutPrefix(example, Modeline(KindPolicy))
		if !found {
			t.Errorf("it does not begin with its modeline:\n%.200s", example)
		}
		bare = regexp.MustCompile(`(?m)^##.*\n`).ReplaceAllString(bare, "")
		bare = regexp.MustCompile(`(?m)^# `).ReplaceAllString(bare, "")
		if set, err = ParsePolicy("gitlatch.yaml", []byte(bare), period); err != nil {
			t.Fatalf("%v in\n%s", err, bare)
		}
		if len(set.Rules) != 1 {
			t.Fatalf("its policies are %+v", set.Rules)
		}
		rule := set.Rules[0]
		rule.Policy.Name = defaultName
		set.Rules, set.Kinds = nil, nil
		if !reflect.DeepEqual(rule.Policy, DefaultPolicy(period).Default) || !reflect.DeepEqual(set, DefaultPolicy(period)) {
			t.Errorf("without its marks it says otherwise:\n%+v\n%+v", rule.Policy, set)
		}
	}
}

func TestTheExampleHasTheModeThatWasAskedFor(t *testing.T) {
	t.Parallel()
	for _, mode := range Modes() {
		set, err := ParsePolicy("gitlatch.yaml", ExamplePolicy(5*time.Minute, mode), 5*time.Minute)
		want := DefaultPolicy(5 * time.Minute)
		want.Latch = mode == ModeLatch
		if err != nil || !reflect.DeepEqual(set, want) {
			t.Errorf("%s: %+v, %v", mode, set, err)
		}
	}
}

func TestTheExampleExplainsEachField(t *testing.T) {
	t.Parallel()
	example := string(ExamplePolicy(5*time.Minute, ModeObserve))
	var walk func(fields []yamldoc.Field)
	walk = func(fields []yamldoc.Field) {
		for _, f := range fields {
			if !strings.Contains(example, f.Doc) || !strings.Contains(example, f.Name+":") {
				t.Errorf("says nothing of %s: %s", f.Name, f.Doc)
			}
			_, _, fields, _ := usual(f.Value)
			walk(fields)
		}
	}
	walk(newPolicyDocument(5 * time.Minute).fields().Fields)
	for line := range strings.Lines(example) {
		if len(line) > 140 {
			t.Errorf("too long: %s", line)
		}
	}
	_, fields, _ := strings.Cut(example, "kind: Policy\n")
	comment := ""
	for line := range strings.Lines(fields) {
		isComment := strings.HasPrefix(line, "## ")
		if isComment && comment != "" {
			t.Errorf("a comment without a field: %s", comment)
		}
		if comment = ""; isComment {
			comment = line
		}
	}
}

const exampleHeader = `## The policy of this site. A field behind # shows its default value. To change the
## value, remove the #, and the # of each line above it that it is indented under.
## Lines that start with ## are explanations.
apiVersion: %s
kind: %s
`

// samples are example values for fields without a default.
var samples = map[string]string{
	"name": "worker", "namespaces": "[batch]", "names": `["worker-*"]`, "kinds": "[deployment]", "labels": "{tier: worker}",
	"apiVersion": "example.com/v1", "kind": "Worker", "resource": "workers",
}

// exampleOf generates the example from the table of a Policy.
func exampleOf(fields []yamldoc.Field) []byte {
	var b bytes.Buffer
	b.WriteString(Modeline(KindPolicy))
	fmt.Fprintf(&b, exampleHeader, APIVersion, KindPolicy)
	for _, f := range fields {
		b.WriteByte('\n')
		mark := "# "
		if f.Name == "mode" {
			mark = ""
		}
		example(&b, f, mark, "", "")
	}
	return b.Bytes()
}

// example writes a field. Each line starts with the mark. In the first line, lead
// replaces the end of the indent.
func example(b *bytes.Buffer, f yamldoc.Field, mark, indent, lead string) {
	at := indent[:len(indent)-len(lead)] + lead
	value, choices, inner, lead := usual(f.Value)
	fmt.Fprintf(b, "## %s%s%s\n", indent, f.Doc, choices)
	value = cmp.Or(value, samples[f.Name])
	if inner != nil {
		fmt.Fprintf(b, "%s%s%s:\n", mark, at, f.Name)
	} else if value != "" {
		fmt.Fprintf(b, "%s%s%s: %s\n", mark, at, f.Name, value)
	}
	for _, f := range inner {
		example(b, f, mark, indent+"  ", lead)
		lead = ""
	}
}

// usual returns the default and the possible words of a value, in the form for a user.
// For an object or a list of objects, it returns the inner fields, and the prefix of the
// first one.
func usual(v yamldoc.Value) (value, choices string, inner []yamldoc.Field, lead string) {
	var words []string
	switch v := v.(type) {
	case yamldoc.Object:
		inner = v.Fields
	case yamldoc.List:
		item, _ := v.Item().(yamldoc.Object)
		inner, lead, value, words = item.Fields, "- ", v.Holds, v.Or.Words()
	case yamldoc.Scalar:
		value, words = v.Holds, v.Words()
	}
	if words != nil {
		choices = " (" + strings.Join(words, ", ") + ")"
	}
	return value, choices, inner, lead
}
