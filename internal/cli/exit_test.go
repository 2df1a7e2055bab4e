package cli_test

import (
	"strings"
	"testing"
)

// A command exits with 1 for its findings, and with 2 for a call that it does not
// understand.
func TestACallThatIsNotUnderstoodIsNoFinding(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]struct {
		status int
		says   string
	}{
		"drill --bogus":          {2, `unknown flag: --bogus; see "gitlatch drill --help"`},
		"drill extra":            {2, "requires no arguments"},
		"drill --min-coverage x": {2, "invalid argument"},
		"doctor --bogus":         {2, `see "gitlatch doctor --help"`},
		"doctor extra":           {2, "requires no arguments"},
		"diff --bogus":           {2, `see "gitlatch diff --help"`},
		"tick --bogus":           {2, `see "gitlatch tick --help"`},
	} {
		w := &world{dir: t.TempDir()}
		if got := w.run(strings.Fields(call)...); got.status != want.status || !strings.Contains(got.err, want.says) {
			t.Errorf("%s: %+v", call, got)
		}
	}
}

// An unset variable must not select all namespaces, another cluster or the defaults of
// a flag that limits the command.
func TestAnEmptyFlagIsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"restore", "-n", ""},
		{"restore", "--namespace=", "-n", "shop"},
		{"restore", "--release="},
		{"restore", "--context", ""},
		{"restore", "--kubeconfig", ""},
		{"diff", "--tree", ""},
		{"log", "shop/web", "--since", ""},
		{"tick", "--pushgateway", ""},
		{"pause", "--until", ""},
		{"backtest", "past.csv", "--policy", ""},
		{"backtest", "past.csv", "--workload", ""},
	} {
		w := &world{dir: t.TempDir()}
		got := w.run(args...)
		if got.status != 2 || got.out != "" || !strings.Contains(got.err, "the value is empty, perhaps from an unset variable") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	for _, command := range []string{"restore", "doctor", "backtest"} {
		if got := (&world{dir: t.TempDir()}).run(command, "--help"); got.status != 0 || strings.Contains(got.out, "[]") {
			t.Errorf("%s --help: %+v", command, got)
		}
	}
}
