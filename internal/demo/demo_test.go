package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// part returns the shipped day with the workloads of some namespaces only, to keep a test
// short.
func part(namespaces ...string) *traces.Trace {
	whole, err := traces.Day()
	if err != nil {
		panic(err) // TestTheShippedDayHasItAll reports this
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

// recordings is the folder of the recording, removed after all tests.
var recordings string

func TestMain(m *testing.M) {
	var err error
	if recordings, err = os.MkdirTemp("", "gitlatch-demo-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(recordings)
	os.Exit(code)
}

// recording is the result of a replay of a part of the day, made once for all tests.
type recording struct {
	day      *day
	progress string
	err      error
}

var recorded = sync.OnceValue(func() (r recording) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var progress bytes.Buffer
	r.day, r.err = record(ctx, part("tickets", "data"), recordings, &tty.Progress{To: &progress, Columns: 60})
	r.progress = progress.String()
	return r
})

func recordedDay(t *testing.T) *day {
	t.Helper()
	r := recorded()
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.day
}

// A logLine is one commit of the branch.
type logLine struct {
	id, subject string
	at          time.Time
}

// readLog returns the commits of the branch, oldest first.
func readLog(t *testing.T, repository string) (all []logLine) {
	t.Helper()
	out, err := git(t.Context(), repository, nil, "log", "--reverse", "--format=%h%x09%ct%x09%s", branch)
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(out) {
		part := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 3)
		var seconds int64
		if _, err := fmt.Sscan(part[1], &seconds); err != nil {
			t.Fatalf("read git log: %q: %s", row, err)
		}
		all = append(all, logLine{part[0], part[2], time.Unix(seconds, 0).UTC()})
	}
	return all
}

func TestTwoRunsLeaveTheSameCommits(t *testing.T) {
	t.Parallel()
	morning := part("shop", "tickets")
	morning.Length = 4 * time.Hour
	var tips [2]string
	for i := range tips {
		d, err := record(context.Background(), morning, t.TempDir(), &tty.Progress{})
		if err != nil {
			t.Fatal(err)
		}
		if len(readLog(t, d.repository)) < 2 {
			t.Fatal("nothing was committed")
		}
		if tips[i], err = git(context.Background(), d.repository, nil, "rev-parse", "main"); err != nil {
			t.Fatal(err)
		}
	}
	if tips[0] != tips[1] {
		t.Errorf("two runs ended in %s and %s", tips[0], tips[1])
	}
}

func TestReportShowsTheDay(t *testing.T) {
	t.Parallel()
	d := recordedDay(t)
	var b bytes.Buffer
	if err := d.report(&b, term.Style{}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{
		"A simulated day: ", "tickets/seats: a sale", " 10,000 ┤",
		"\n  only manifests            0 ", "\n  hourly job               24 ", "\n  with gitlatch ",
		"cd " + filepath.Dir(d.repository) + "\n", "  git -C fleet.git log --stat\n", "  gitlatch log tickets/seats -c gitlatch-demo.yaml\n", "  gitlatch preview\n", "make bin/gitlatch && export PATH=$PWD/bin:$PATH\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	if n := strings.Count(out, "\n"); n > 35 {
		t.Errorf("the report has %d lines, want at most 35", n)
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(line) - 1; n > 80 && !strings.Contains(line, filepath.Dir(d.repository)) {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	page, err := os.ReadFile(filepath.Join(filepath.Dir(d.repository), "demo.html"))
	for _, want := range []string{"with gitlatch", "tickets/seats: a sale", "hours since 2026-09-16 00:00", "A simulated tick runs every 5m"} {
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q: %v", want, err)
		}
	}
	if strings.ContainsAny(out, "\x1b\r") {
		t.Error("the report has escapes, without colour asked for")
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestProgressIsALineThatIsTakenAway(t *testing.T) {
	t.Parallel()
	recordedDay(t)
	got := recorded().progress
	if !strings.HasPrefix(got, "\rreplaying Mon 18:00, 0 %, 0 commits") || !strings.Contains(got, ", 99 %, ") || strings.Contains(got, "\n") || !strings.HasSuffix(got, " \r") {
		t.Errorf("progress is %.100q and on, want one line that is written anew and taken away", got)
	}
}

func TestTheHistoryIsThatOfGit(t *testing.T) {
	t.Parallel()
	d := recordedDay(t)
	i := slices.IndexFunc(d.trace.Workloads, func(w traces.Workload) bool { return w.ID.Short() == "tickets/seats" })
	for _, c := range readLog(t, d.repository)[1:] {
		record, err := git(context.Background(), d.repository, nil, "show", c.id+":"+checkpoint.RecordPath(siteName, "tickets"))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("deployment.seats: %q\n", fmt.Sprint(d.history.At(i, c.at.Sub(d.trace.Start))))
		if !strings.Contains(record, want) {
			t.Errorf("at %s the history has %sgit has\n%s", c.at, want, record)
		}
	}
}

func TestTheTeamsFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	d := recordedDay(t)
	first, err := git(context.Background(), d.repository, nil, "rev-list", "--max-parents=0", "main")
	if err != nil {
		t.Fatal(err)
	}
	out, err := git(context.Background(), d.repository, nil, "log", "--format=", "--name-only", strings.TrimSpace(first)+"..main")
	if err != nil {
		t.Fatal(err)
	}
	if out == "" {
		t.Error("nothing was committed")
	}
	for path := range strings.Lines(out) {
		if !strings.HasPrefix(path, "checkpoints/"+siteName+"/") {
			t.Errorf("a commit touches %s", path)
		}
	}
}

// The report has the figures that the project must meet, and the pages have the figures of
// the report.
func TestTheShippedDayMeetsItsFigures(t *testing.T) {
	t.Parallel()
	whole, err := traces.Day()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	d, err := record(ctx, whole, t.TempDir(), &tty.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	theHandbookShows(t, d.repository)
	report, err := d.compare()
	if err != nil {
		t.Fatal(err)
	}
	hourly, ours := report.Policies[1], report.Policies[2]
	if c := ours.Coverage; ours.Commits > 17 || c.Worst.Share() < 0.62 || c.Mean < 0.995 || c.Below > 28 || hourly.Commits != 24 {
		t.Errorf("%+v %+v, hourly %+v", ours, c, hourly)
	}
	if b := ours.Coverage.Busiest; b.At.Format("15:04") != "19:47" || b.Needed != 25_797 || float64(b.Created)/float64(b.Needed) > 1.2 {
		t.Errorf("at the busiest time, %+v", b)
	}
	verdict := d.verdict(term.Style{}, report.Policies)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(readme), "    Rebuilds from git on ")
	table, _, _ = strings.Cut("Rebuilds from git on "+table, "\n\n")
	if want := strings.ReplaceAll(strings.TrimSpace(verdict), "\n", "\n    "); table != want {
		t.Errorf("README.md shows\n%s\nthe demo prints\n%s", table, want)
	}
	want := fmt.Sprintf("starts %s of the needed pods on average with the hourly job (%d commits), and %s with gitlatch (%d commits)", term.Percent(hourly.Coverage.Mean), hourly.Commits, term.Percent(ours.Coverage.Mean), ours.Commits)
	if !strings.Contains(docs.Text("comparison"), want) {
		t.Errorf("comparison.md does not show %q", want)
	}
	picture, err := os.ReadFile("../docs/flow.svg")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(">%d commits a day<", ours.Commits); !strings.Contains(string(picture), want) {
		t.Errorf("flow.svg does not show %q", want)
	}
}

// theHandbookShows checks that the commit in the handbook page on checkpoint files is in
// the repository of a run, with the same text.
func theHandbookShows(t *testing.T, repository string) {
	t.Helper()
	page, err := os.ReadFile("../docs/concepts.md")
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`(?m)^    commit ([0-9a-f]+)$`).FindSubmatch(page)
	if id == nil {
		t.Fatal("concepts.md shows no commit")
	}
	git := exec.CommandContext(t.Context(), "git", "-C", repository, "show", "--no-patch", "--abbrev-commit", "--format=medium", string(id[1]))
	out, err := git.CombinedOutput()
	if err != nil {
		t.Errorf("concepts.md shows commit %s, which no run makes: %s", id[1], out)
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "Date:") && !bytes.Contains(page, []byte(line)) {
			t.Errorf("concepts.md shows commit %s without its line %q", id[1], line)
		}
	}
}
