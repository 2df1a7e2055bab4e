package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/cli"
)

// All commands read a command line in the same way: a duration may have days, a share
// has percent, and -n is a namespace. Exit status 1 means that the command found
// something, and 2 that it could not run.
func TestAllCommandsSpeakOneLanguage(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.write(t, "past.csv", pastScale())
	past := w.path("past.csv")
	for _, c := range []struct {
		args   []string
		status int
		out    string // the expected output
		err    string
	}{
		{[]string{"pause", "--until", "2d"}, 0, "site prod-eu: paused until " + w.now.AddDate(0, 0, 2).Format("2006-01-02T15:04:05Z"), ""},
		{[]string{"pause", "--until", "1d12h"}, 0, "site prod-eu: paused until " + w.now.Add(36*time.Hour).Format("2006-01-02T15:04:05Z"), ""},
		{[]string{"pause", "--until", "2w"}, 2, "", "must be a time such as 2026-03-02T18:00:00Z, a duration such as 5m, 26h or 8d, or now"},
		{[]string{"pause", "--until", "now"}, 0, "no longer paused", ""},
		{[]string{"restore", "--brake", "4d"}, 0, "", ""},
		{[]string{"restore", "--factor", "50%"}, 0, "", ""},
		{[]string{"backtest", past, "--period", "1d"}, 0, "", ""},
		{[]string{"drill", "--min-coverage", "98"}, 2, "", "must be a share such as 10% or 0.1"},
		{[]string{"log", "shop/web", "--since", "1d12h"}, 0, "COMMIT", ""},
		{[]string{"log", "web", "-n", "shop"}, 0, "COMMIT", ""},
		{[]string{"explain", "-n", "shop", "web"}, 0, "shop/deployment/web", ""},
		{[]string{"explain", "shop"}, 2, "", "give one workload of namespace shop: "},
		{[]string{"restore", "shop"}, 0, "to 3 workloads in", ""},
		{[]string{"restore", "-n", "shop", "web"}, 0, "to 1 workload in", ""},
		{[]string{"restore", "-n", "shop", "shop/web", "api"}, 0, "to 2 workloads in", ""},
		{[]string{"restore", "shop", "pay/ledger"}, 0, "to 4 workloads in", ""},
		{[]string{"diff", "a/b/c/d"}, 2, "", "must be NAMESPACE, NAMESPACE/NAME or NAMESPACE/KIND/NAME"},
		{[]string{"pause", "shop", "--until", "3h"}, 0, "shop/deployment/web: paused until", ""},
		{[]string{"pause", "shop", "--until", "4h", "--dry-run"}, 0, "nothing was written: this is a dry run", ""},
		{[]string{"adopt", "--dry-run", "-o", "json"}, 0, `"dryRun": true`, ""},
		{[]string{"explain", "shop/web", "-o", "json"}, 0, `"raiseAbove": 100`, ""},
		{[]string{"nonsense"}, 2, "", `unknown command "nonsense"`},
		{[]string{"tick", "--frob"}, 2, "", `unknown flag: --frob; see "gitlatch tick --help"`},
		{[]string{"tick", "--dry-rnu"}, 2, "", `unknown flag: --dry-rnu: did you mean "--dry-run"? See "gitlatch tick --help"`},
		{[]string{"drill", "--min"}, 2, "", `unknown flag: --min: did you mean "--min-coverage"? See`},
		{[]string{"tick", "-x"}, 2, "", "unknown shorthand flag: 'x' in -x; see"},
	} {
		got := w.run(c.args...)
		if got.status != c.status || !strings.Contains(got.out, c.out) || !strings.Contains(got.err, c.err) {
			t.Errorf("%q: %+v", c.args, got)
		}
	}
}

// If a user asks help for a word that is not a topic, the error names the topic that
// has it.
func TestHelpLeadsToTheGlossary(t *testing.T) {
	t.Parallel()
	for word, leads := range map[string]bool{"level change": true, "mass drop": true, "nonsense": false} {
		got := run(time.Time{}, append([]string{"help"}, strings.Fields(word)...)...)
		if got.status != 2 || !strings.Contains(got.err, "gitlatch help topics") || strings.Contains(got.err, "gitlatch help concepts") != leads {
			t.Errorf("%s: %+v", word, got)
		}
	}
}

// Without a configuration the site is called local. If the repository has other sites,
// the answer is an error and not "none".
func TestARepositoryOfAnotherSiteIsNotEmpty(t *testing.T) {
	t.Parallel()
	w := lived(t)
	for _, args := range [][]string{{"log", "shop/web"}} {
		args = append(args, "--repository", w.origin.Dir)
		if got := w.run(args...); got.status != 2 || got.out != "" || !strings.Contains(got.err, "has files of prod-eu: select the site with --site") {
			t.Errorf("%q: %+v", args, got)
		}
		if got := w.run(append(args, "--site", "prod-eu")...); got.status != 0 || got.out == "" || got.err != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// The configuration comes from -c, from a variable, or from the standard input. The
// flag takes precedence over the variable.
func TestTheConfigurationIsFound(t *testing.T) {
	t.Parallel()
	w := settled(t)
	config, err := os.ReadFile(w.path("config.yaml"))
	must(t, err)
	call := func(variable string, args ...string) outcome {
		var out, beside bytes.Buffer
		status := cli.Run(cli.Env{
			In: bytes.NewReader(config), Out: &out, Err: &beside, Clock: func() time.Time { return w.now },
			Getenv: func(name string) string { return map[string]string{"GITLATCH_CONFIG": variable}[name] },
		}, args)
		return outcome{status, out.String(), beside.String()}
	}
	want := call("", "log", "shop/web", "--config", w.path("config.yaml"))
	if want.status != 0 || want.out == "" {
		t.Fatalf("%+v", want)
	}
	for name, got := range map[string]outcome{
		"-c":           call("", "log", "shop/web", "-c", w.path("config.yaml")),
		"variable":     call(w.path("config.yaml"), "log", "shop/web"),
		"both":         call(w.path("none.yaml"), "log", "shop/web", "-c", w.path("config.yaml")),
		"the text":     call(string(config), "log", "shop/web"),
		"stdin":        call("", "log", "shop/web", "-c", "-"),
		"a repository": call(w.path("none.yaml"), "log", "shop/web", "--repository", w.origin.Dir, "--site", "prod-eu"),
	} {
		if got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for want, args := range map[string][]string{
		"specify only one of ":          {"tick", "-c", "x.yaml", "--repository", w.origin.Dir},
		"--site requires --repository ": {"tick", "-c", w.path("config.yaml"), "--site", "prod-eu"},
		"--site: must be a DNS label":   {"tick", "--repository", w.origin.Dir, "--site", "Prod EU"},
		"/dev/null: is empty":           {"tick", "-c", "/dev/null"},
		"no such file":                  {"tick", "-c", w.path("none.yaml")},
		"or use --repository URL with ": {"tick"},
	} {
		if got := call("", args...); got.status != 2 || !strings.Contains(got.err, want) {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// The commands that the demo prints work on its result.
func TestTheDemoPrintsCommandsThatWork(t *testing.T) {
	t.Setenv("KUBECONFIG", newWorld(t).path("kubeconfig"))
	now := time.Date(2026, 9, 17, 0, 0, 0, 0, time.UTC)
	demo, ran := run(now, "demo"), 0
	_, dir, _ := strings.Cut(demo.out, "\n  cd ")
	dir, _, _ = strings.Cut(dir, "\n")
	for line := range strings.Lines(demo.out) {
		if call, ok := strings.CutPrefix(line, "  gitlatch "); ok && strings.Contains(call, " -c ") {
			args := strings.Fields(call)
			args[len(args)-1] = filepath.Join(dir, args[len(args)-1]) // the demo prints it after a cd
			if got := run(now, args...); got.status == 2 || got.out == "" {
				t.Errorf("%s: %+v", call, got)
			}
			ran++
		}
	}
	if got := run(now, "validate", filepath.Join(dir, "gitlatch-demo.yaml")); got.status != 0 || ran == 0 {
		t.Errorf("%d commands, %+v", ran, got)
	}
	// The cluster of the demo was simulated: a restore must not reach the current one.
	for _, command := range []string{"restore", "explain shop/web", "diff", "doctor", "drill"} {
		args := append(strings.Fields(command), "-c", filepath.Join(dir, "gitlatch-demo.yaml"))
		if got := run(now, args...); got.status != 2 || !strings.Contains(got.err, "the demo only simulated this cluster") || strings.Contains(got.err, "hint") {
			t.Errorf("a %s of the demo: %+v", command, got)
		}
	}
}

// Every command with an answer prints it as a table, as JSON and as YAML, and the two
// for programs have the same content. A command that only reads, and each dry run,
// writes nothing.
func TestAllAnswersHaveThreeForms(t *testing.T) {
	t.Parallel()
	w := tended(t)
	w.write(t, "past.csv", pastScale())
	before := w.hash(t)
	for _, args := range [][]string{
		{"tick", "--dry-run"}, {"explain", "shop/web"}, {"diff", "shop"}, {"doctor"}, {"drill"}, {"log", "shop/web"},
		{"backtest", w.path("past.csv")}, {"restore"}, {"restore", "--release"}, {"pause", "--until", "3h", "--dry-run"}, {"adopt", "--dry-run"},
		{"status"}, {"validate", w.path("config.yaml")}, {"init", "--dry-run"},
	} {
		table, lines, text := w.run(args...), w.run(append(args, "-o", "json")...), w.run(append(args, "-o", "yaml")...)
		var fromJSON, fromYAML map[string]any
		if err := json.Unmarshal([]byte(lines.out), &fromJSON); err != nil {
			t.Errorf("%q: %v in %+v", args, err, lines)
		}
		if err := yaml.Unmarshal([]byte(text.out), &fromYAML); err != nil {
			t.Errorf("%q: %v in %+v", args, err, text)
		}
		if len(fromJSON) == 0 || !reflect.DeepEqual(fromJSON, fromYAML) {
			t.Errorf("%q: JSON and YAML differ:\n%s\n%s", args, lines.out, text.out)
		}
		if table.out == "" || table.out == lines.out || table.status != lines.status || table.status != text.status {
			t.Errorf("%q: %+v, %d, %d", args, table, lines.status, text.status)
		}
		if w.hash(t) != before {
			t.Errorf("%q: wrote", args)
		}
	}
}
