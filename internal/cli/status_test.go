package cli_test

import (
	"strings"
	"testing"
)

// Where 1 is what a command found, a call that it does not understand is 2; of
// the other commands it is 1, as any failure.
func TestACallThatIsNotUnderstoodIsNoFinding(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]struct {
		status int
		says   string
	}{
		"drill --bogus":          {2, "unknown flag: --bogus; see gitlatch drill --help"},
		"drill extra":            {2, "wants no arguments"},
		"drill --min-coverage x": {2, "invalid argument"},
		"doctor --bogus":         {2, "see gitlatch doctor --help"},
		"doctor extra":           {2, "wants no arguments"},
		"diff --bogus":           {2, "see gitlatch diff --help"},
		"tick --bogus":           {1, "see gitlatch tick --help"},
	} {
		w := &world{dir: t.TempDir()}
		if got := w.run(strings.Fields(call)...); got.status != want.status || !strings.Contains(got.err, want.says) {
			t.Errorf("%s: %+v", call, got)
		}
	}
}

// A variable that is not set must not make all namespaces, another cluster or
// the defaults of what was to be narrowed.
func TestAnEmptyFlagIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		args   []string
	}{
		{1, []string{"restore", "-n", ""}},
		{1, []string{"restore", "--namespace=", "-n", "shop"}},
		{1, []string{"restore", "--order", ""}},
		{1, []string{"restore", "--context", ""}},
		{1, []string{"restore", "release", "--kubeconfig", ""}},
		{2, []string{"doctor", "--path", "", "--path", "apps"}},
		{2, []string{"drill", "--path", ""}},
		{2, []string{"diff", "--ref", ""}},
		{2, []string{"diff", "--tree", ""}},
		{1, []string{"log", "shop/web", "--since", ""}},
		{1, []string{"tick", "--metrics-file", ""}},
		{1, []string{"hold", "--until", ""}},
		{1, []string{"render", "record", "--config", ""}},
		{1, []string{"render", "flux", "--path", ""}},
		{1, []string{"backtest", "past.csv", "--policy", ""}},
		{1, []string{"backtest", "past.csv", "--workload", ""}},
		{1, []string{"backtest", "past.csv", "--sweep", "--series", ""}},
		{1, []string{"demo", "--dir", ""}},
	} {
		w := &world{dir: t.TempDir()}
		got := w.run(c.args...)
		if got.status != c.status || got.out != "" || !strings.Contains(got.err, "it is empty, as of a variable that is not set") {
			t.Errorf("%q: %+v", c.args, got)
		}
	}
	for _, command := range []string{"restore", "doctor", "backtest"} {
		if got := (&world{dir: t.TempDir()}).run(command, "--help"); got.status != 0 || strings.Contains(got.out, "[]") {
			t.Errorf("%s --help: %+v", command, got)
		}
	}
}
