package splice

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Files that combine difficult parts at random. Random changes of bytes, as a fuzzer
// makes them, seldom give a valid file.
func TestNastyThingsTogetherMoveNoOtherByte(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 2026))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	mostly := func(sane func() string, odd ...string) string {
		if r.IntN(8) > 0 {
			return sane()
		}
		return pick(odd...)
	}
	number := func() string { return pick("5", "100", "'7'", `"0"`, "&x 5", "&y '6'", "2147483647") }
	mark := func() string {
		return fmt.Sprintf(`%s{"$gitlatch":%s"shop/deployment/web-%d"}%s`, pick("#", "# ", "#\t"), pick("", " ", "\t"), r.IntN(1000), pick("", "", " ", "\t"))
	}
	files, edited, counts, compared := 5000, 0, 0, 0
	if testing.Short() {
		files = 1000
	}
	for range files {
		var b strings.Builder
		b.WriteString(pick("", "", "", "\ufeff", "%YAML 1.1\n---\n", "# é $gitlatch\n", "base: &z {f: 1, k0: 2, k1: 3}\n"))
		end := pick("\n", "\n", "\r\n")
		for i := range 1 + r.IntN(6) {
			b.WriteString(mostly(func() string { return "" }, "  ", "\t", " ", "---\n", "...\n---\n", "# c\n", "\n", "<<: *z\n", "  <<: *z\n"))
			b.WriteString(mostly(func() string {
				return fmt.Sprintf(pick("k%d: ", "'k%d': ", "k%d:\n  f: ", "k%d:\n- ", "k%d:\n - - ", "é%d:\t", "k%d:\n  ", "? k%d\n: ", "k%d: {f: "), i)
			},
				"a: ", "'a': ", "<<: ", "*x : ", "&z k: ", "k: &z\n  f: ", "? ", ": ", "- ", "s: |\n  ", "s: >\n ", "s: \"x # y\n  ", "s: 'it''s\n ", "x\" ", "  y' , "))
			b.WriteString(mostly(number, "*x", "*z", "!!int 5", "{}", "[]", "", "{a: 5, b: 6}", "[1,", "|", ">-",
				"\"a # b\"", "'it''s # 5'", "\"one\\", "'two", "0x10", "é", "\U0001f600 5", "plain#5", "{{ .x }}", "\"{{ x }}\"", "- 5", "? 5", "--- 5", `"\x35"`, "5, 6"))
			b.WriteString(mostly(func() string { return pick(" ", " ", " ", "\t", "  ", ", ") }, "", "}", "} ", "]", ", ", " # c ", "\" ", "' "))
			b.WriteString(mostly(func() string { return pick("", mark()) }, "# c", "# $gitlatch", "# c "+mark(), mark()+" "+mark()))
			b.WriteString(mostly(func() string { return end }, "\n", "\r\n", "\n\n", "\n\t\n", "\n}\n", "\n }\n", "\n]\n", "\n# "+mark()+"\n", "", "\r", "\u2028"))
		}
		before := []byte(b.String())
		after, marks, to := check(t, before, r.Int32())
		if bytes.Equal(after, before) || after == nil {
			continue
		}
		edited++
		counts += len(marks)
		problem, ok := elsewhere(before, after, marks, to)
		if problem != "" {
			t.Fatalf("%s:\n%q became\n%q", problem, before, after)
		}
		if ok {
			compared++
		}
	}
	t.Logf("of %d files %d were edited, in %d places; Kubernetes read %d of them", files, edited, counts, compared)
	if edited < files/20 || compared < files/50 {
		t.Errorf("only %d of %d files were edited, and %d compared: the test says little", edited, files, compared)
	}
}
