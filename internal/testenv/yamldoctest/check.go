// Package yamldoctest checks the promises of document readers.
package yamldoctest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// Check reads the same document twice. size is its length in bytes. Check fails the test
// if a problem has no place, if a message has several lines or is much longer than the
// document, or if the second read returns another result.
func Check(t testing.TB, size int, read func() error) {
	t.Helper()
	err := read()
	if again := read(); !reflect.DeepEqual(err, again) {
		t.Errorf("the same bytes told\n%v\nand then\n%v", err, again)
	}
	if err == nil {
		return
	}
	all := &yamldoc.Errors{}
	if one, newer := err.(yamldoc.Problem); newer {
		all.Problems = []yamldoc.Problem{one}
	} else if !errors.As(err, &all) {
		t.Fatalf("got %T", err)
	}
	if len(all.Problems) == 0 || len(all.Problems) > 100 || len(all.Problems) < 100 && all.More > 0 {
		t.Errorf("%d problems, and %d more", len(all.Problems), all.More)
	}
	line := 0
	for _, p := range all.Problems {
		if p.Path != "" && p.Line < 1 || p.Line < line || p.Text == "" {
			t.Errorf("after line %d: %+v", line, p)
		}
		line = p.Line
		if strings.ContainsFunc(p.Error(), func(c rune) bool { return !unicode.IsPrint(c) }) {
			t.Errorf("not one line of text: %q", p.Error())
		}
		if len(p.Error()) > 1000+4*size {
			t.Errorf("the problems have %d bytes, and the document has %d", len(p.Error()), size)
		}
	}
}
