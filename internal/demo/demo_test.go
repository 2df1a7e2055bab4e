package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/testdata/traces"
)

// part is the shipped day with the workloads of some namespaces only, so that a
// test has little to look at.
func part(t *testing.T, namespaces ...string) *traces.Trace {
	t.Helper()
	whole, err := traces.Day()
	if err != nil {
		t.Fatal(err)
	}
	some := *whole
	some.Workloads, some.Changes = nil, nil
	for i, w := range whole.Workloads {
		if slices.Contains(namespaces, w.ID.Namespace) {
			some.Workloads = append(some.Workloads, w)
			some.Changes = append(some.Changes, whole.Changes[i])
		}
	}
	return &some
}

func runPart(t *testing.T, o Options) (out, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var b bytes.Buffer
	o.Out, o.Dir, o.Engine = &b, filepath.Join(t.TempDir(), "demo"), openRough
	if err := run(ctx, part(t, "tickets", "data"), o); err != nil {
		t.Fatal(err)
	}
	return b.String(), o.Dir
}

func TestTwoRunsLeaveTheSameCommits(t *testing.T) {
	t.Parallel()
	var tips [2]string
	for i := range tips {
		_, dir := runPart(t, Options{Format: Figures})
		tip, err := git(context.Background(), filepath.Join(dir, "fleet.git"), nil, "rev-parse", "main")
		if err != nil {
			t.Fatal(err)
		}
		tips[i] = tip
	}
	if tips[0] != tips[1] {
		t.Errorf("two runs ended in %s and %s", tips[0], tips[1])
	}
}

func TestReportShowsTheDay(t *testing.T) {
	t.Parallel()
	var progress bytes.Buffer
	out, dir := runPart(t, Options{Progress: &progress})
	for _, want := range []string{
		"What git log says of Wednesday", "tickets/seats 5 -> 10",
		"tickets/seats: a sale", " 10,000 ┤", "data/report-export: ",
		"committing every change  ", "one for every ",
		"Rebuilt from git at ", "tickets/seats would begin with 3 pods instead of 10,000",
		"git clone " + filepath.Join(dir, "fleet.git"),
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(line) - 1; n > 80 && !strings.Contains(line, dir) {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if strings.ContainsAny(out, "\x1b\r") {
		t.Error("the report has escapes, without colour asked for")
	}
	if got, want := progress.String(), "replaying Tue 00:00, "; !strings.HasPrefix(got, want) {
		t.Errorf("progress begins %q, want %q", got, want)
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestFiguresAreLinesOfNameAndValue(t *testing.T) {
	t.Parallel()
	out, _ := runPart(t, Options{Format: Figures})
	line := regexp.MustCompile(`^figure [a-z_]+ [0-9.e+]+\n$`)
	for l := range strings.Lines(out) {
		if !line.MatchString(l) {
			t.Errorf("line %q", l)
		}
	}
	for _, name := range []string{"changes_per_commit", "coverage_worst"} {
		if !strings.Contains(out, "figure "+name+" ") {
			t.Errorf("no figure %s in %s", name, out)
		}
	}
}

func TestTheTeamsRepositoryIsLeftAlone(t *testing.T) {
	t.Parallel()
	_, dir := runPart(t, Options{Format: Figures})
	first, err := git(context.Background(), filepath.Join(dir, "fleet.git"), nil, "rev-list", "--max-parents=0", "main")
	if err != nil {
		t.Fatal(err)
	}
	out, err := git(context.Background(), filepath.Join(dir, "fleet.git"), nil, "log", "--format=", "--name-only", strings.TrimSpace(first)+"..main")
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(out) {
		if !strings.HasPrefix(path, "checkpoints/") {
			t.Errorf("a commit touches %s", path)
		}
	}
}

func TestRefusesADirectoryInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(context.Background(), part(t, "tickets"), Options{Dir: dir, Engine: openRough})
	if err == nil || !strings.Contains(err.Error(), "must be empty, has mine") {
		t.Errorf("got %v", err)
	}
}
