package main

import (
	"strings"
	"testing"
)

func TestASummarySaysWhatFailedAndWhatWasSkipped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in         string
		good       bool
		shows, end string
	}{
		"all passed": {
			`{"Action":"output","Package":"a","Test":"TestX","Output":"chatter\n"}
{"Action":"pass","Package":"a","Test":"TestX"}
{"Action":"pass","Package":"a","Elapsed":1.25}
{"Action":"skip","Package":"b"}`,
			true,
			"pass      1.2s  a\n",
			"\n1 packages\n1 passed, 0 failed, 0 skipped\n",
		},
		"one failed, with what it wrote": {
			`{"Action":"output","Package":"a","Test":"TestX","Output":"    x_test.go:3: broken\n"}
{"Action":"fail","Package":"a","Test":"TestX"}
{"Action":"pass","Package":"a","Test":"TestY"}
{"Action":"output","Package":"a","Output":"FAIL\n"}
{"Action":"fail","Package":"a","Elapsed":0.1}`,
			false,
			"    x_test.go:3: broken\nfail      0.1s  a\n",
			"\nfailed:\n  a.TestX\n\n1 packages\n1 passed, 1 failed, 0 skipped\n",
		},
		"one skipped, with its reason": {
			`{"Action":"output","Package":"a","Test":"TestX","Output":"=== RUN   TestX\n"}
{"Action":"output","Package":"a","Test":"TestX","Output":"    x_test.go:3: no cluster\n"}
{"Action":"skip","Package":"a","Test":"TestX"}
{"Action":"pass","Package":"a","Test":"TestY"}
{"Action":"pass","Package":"a"}`,
			true,
			"pass      0.0s  a\n",
			"\nskipped:\n  a.TestX: x_test.go:3: no cluster\n\n1 packages\n1 passed, 0 failed, 1 skipped\n",
		},
		"a package that does not build": {
			`{"Action":"build-output","ImportPath":"a","Output":"a.go:1: no\n"}
{"Action":"build-fail","ImportPath":"a"}
{"Action":"output","Package":"a","Output":"FAIL\ta [build failed]\n"}
{"Action":"fail","Package":"a"}`,
			false,
			"a.go:1: no\nFAIL\ta [build failed]\nfail      0.0s  a\n",
			"\nfailed:\n  a\n\n1 packages\n0 passed, 1 failed, 0 skipped\n",
		},
		"nothing at all": {"", false, "", "\n0 packages\n0 passed, 0 failed, 0 skipped\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			s, err := read(strings.NewReader(c.in), &out)
			if err != nil {
				t.Fatal(err)
			}
			if s.good(false) != c.good || out.String() != c.shows || s.String() != c.end {
				t.Errorf("got good %v\n%s%s", s.good(false), out.String(), s)
			}
		})
	}
	if lax := (summary{passed: 3, skipped: []string{"a"}}); !lax.good(false) || lax.good(true) {
		t.Error("what is skipped is let through in CI, or fails elsewhere")
	}
	if _, err := read(strings.NewReader("panic: no JSON"), &strings.Builder{}); err == nil {
		t.Error("what is no JSON is read as if it were")
	}
}
