package cli_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// hostile is a text that a tenant may put into a status, and a user into a commit.
const hostile = "\x1b]0;owned\x07\x1b[31mfixes #12, [skip ci] ***NO_CI*** @team \u202egnp.exe\u2066\nGitlatch-Site: prod-eu\nskip-checks: true\n"

// order matches the text that hosts and pipelines act on in a commit's message.
var order = regexp.MustCompile(`(?m)\[skip ci\]|\*\*\*NO_CI|#12|@team|^skip-checks`)

// Foreign text has no effect on a terminal, a pipeline or a host, in any output of
// gitlatch.
func TestForeignWordsAreOnlyWords(t *testing.T) {
	t.Parallel()
	w := settled(t)
	for key, p := range w.api.workloads {
		p.foreign = hostile
		if strings.HasPrefix(key, "shop/deployment/") {
			p.rolls = &rolls{updated: 1, failed: "ProgressDeadlineExceeded"}
		}
	}
	w.api.workloads["shop/deployment/api"].blind = true
	w.api.refuse["statefulsets"] = 500
	w.api.says = hostile
	w.origin.Commit(t, gitserver.Change{Branch: "main", Message: hostile, Entries: []gitserver.Entry{
		{Path: "checkpoints/prod-eu/\x1b[31mteam.levels.yaml", Content: hostile},
		{Path: "checkpoints/prod-eu/pay.levels.yaml", Content: hostile},
	}})

	said := map[string]string{}
	for _, args := range [][]string{
		{"tick"}, {"tick"}, {"tick"}, {"tick", "-o", "json"}, {"explain", "shop/web"}, {"explain", "shop/api"}, {"diff"}, {"doctor"}, {"log"}, {"drill"},
	} {
		got := w.tick
		if args[0] != "tick" {
			got = func(more ...string) outcome { return w.run(append(args, more...)...) }
			args = args[:1]
		}
		o := got(args[1:]...)
		said[strings.Join(args, " ")] += o.out + o.err
	}
	repeated := false
	for command, text := range said {
		repeated = repeated || strings.Contains(text, "owned")
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%s: writes %q", command, text[max(0, i-80):min(len(text), i+20)])
		}
	}
	ours, told := 0, false
	for message := range strings.SplitSeq(w.origin.Git(t, "log", "--format=%B%x00", "main"), "\x00") {
		if message = strings.TrimSpace(message); strings.HasPrefix(message, "latch(") {
			ours++
			if found := order.FindString(message); found != "" || strings.Count(message, "\nGitlatch-Site") != 1 {
				t.Errorf("a commit says %q:\n%s", found, message)
			}
			told = told || strings.Contains(message, "timed out")
		}
	}
	if ours < 2 || !repeated || !told {
		t.Errorf("%d commits; the words are repeated: %v, and in commits: %v", ours, repeated, told)
	}
}
