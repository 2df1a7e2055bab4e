package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/strict"
)

func TestTheExampleSaysWhatGoesWithoutSaying(t *testing.T) {
	t.Parallel()
	for _, period := range []time.Duration{time.Minute, 5 * time.Minute, time.Hour} {
		example := string(ExamplePolicy(period))
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
		set.Rules, set.Kinds, set.InPlace = nil, nil, nil
		if !reflect.DeepEqual(rule.Policy, DefaultPolicy(period).Default) || !reflect.DeepEqual(set, DefaultPolicy(period)) {
			t.Errorf("without its marks it says otherwise:\n%+v\n%+v", rule.Policy, set)
		}
	}
}

func TestTheExampleExplainsEachField(t *testing.T) {
	t.Parallel()
	example := string(ExamplePolicy(5 * time.Minute))
	var walk func(fields []strict.Field)
	walk = func(fields []strict.Field) {
		for _, f := range fields {
			if _, note := f.Value.(strict.Note); note {
				continue
			}
			if !strings.Contains(example, f.Doc) || !strings.Contains(example, f.Name+":") {
				t.Errorf("says nothing of %s: %s", f.Name, f.Doc)
			}
			_, _, fields, _ := usual(f.Value)
			walk(fields)
		}
	}
	walk(newPolicyDocument("", 5*time.Minute).fields().Fields)
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
