package demo

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
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
		if len(d.log) < 2 {
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

// The report states the highest number of pods of the day. It is at least the number at
// the worst moment, which is between two samples.
func TestTheDayBeginsWithItsMostPods(t *testing.T) {
	t.Parallel()
	whole, err := traces.Day()
	if err != nil {
		t.Fatal(err)
	}
	worst := WorstMoment(whole, make(History, len(whole.Workloads)), dayOf(whole))
	if said := (&day{trace: whole}).opening(); !strings.Contains(said, "up to "+term.Number(worst.Needed)+" pods") {
		t.Errorf("%d pods were needed, and the report begins with %s", worst.Needed, said)
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
		"A simulated day: ", "Commits of gitlatch on Wednesday", "latch(prod-eu): tickets/seats 5000 -> 10000",
		"tickets/seats: a sale", " 10,000 ┤", "data/report-export: ",
		"The lowest coverage of ", "without gitlatch  with gitlatch\n",
		"A rebuild from git at ", "tickets/seats would start with 3 pods instead of 10,000",
		"cd " + filepath.Dir(d.repository) + "\n", "  gitlatch log tickets/seats --limit 3 -c gitlatch-demo.yaml\n", "git clone fleet.git fleet", "  make bin/gitlatch && export PATH=$PWD/bin:$PATH\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(line) - 1; n > 80 && !strings.HasPrefix(line, "  cd ") {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if strings.ContainsAny(out, "\x1b\r") {
		t.Error("the report has escapes, without colour asked for")
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestTheReportSaysWhereTheLeastWasDeclared(t *testing.T) {
	t.Parallel()
	want := "80 %: 100 for the 125 pods of shop/web at 00:40\n"
	d := &day{trace: one(map[int]traces.State{0: calm(80), 30: calm(125)}), history: declared(map[int]int32{0: 100, 60: 200})}
	if got := d.coverage(); !strings.Contains(got, want) {
		t.Errorf("does not say %q:\n%s", want, got)
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
	for _, c := range d.log[1:] {
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

func TestRefusesADirectoryInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := record(context.Background(), part("tickets"), dir, &tty.Progress{})
	if err == nil || !strings.Contains(err.Error(), "must be empty, has mine") {
		t.Errorf("got %v", err)
	}
}

// The figures that the project must meet. WorstCoverage describes how they are counted.
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
	span := dayOf(whole)
	rebuilt := WorstMoment(whole, d.history, span)
	for _, figure := range []struct {
		name      string
		is, least float64
	}{
		{"changes per commit", ChangesPerCommit(whole, d.commits, span), 150},
		{"the worst coverage", WorstCoverage(whole, d.history, holdUp, span).Share, 0.95},
		{"the met share of a rebuild", share(rebuilt.Checkpoint.Met, rebuilt.Needed), 0.95},
	} {
		if figure.is < figure.least {
			t.Errorf("%s: %v, want at least %v", figure.name, figure.is, figure.least)
		}
	}
	if says, is := declaredByTheReadme(t), share(rebuilt.Checkpoint.Created, rebuilt.Needed); math.Abs(says/is-1) > 0.001 {
		t.Errorf("a rebuild declares %v of what is needed, and README.md says %v", is, says)
	}
}

// declaredByTheReadme returns the ratio in README.md of the levels of a rebuild to the
// desired replicas. It is above 1 if the levels are higher.
func declaredByTheReadme(t *testing.T) float64 {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`starts with ([0-9,]+) pods, although only ([0-9,]+) pods are needed`).FindSubmatch(readme)
	if said == nil {
		t.Fatal("README.md does not say what a rebuild declares beyond what is needed")
	}
	var pods [2]float64
	for i := range pods {
		if pods[i], err = strconv.ParseFloat(strings.ReplaceAll(string(said[i+1]), ",", ""), 64); err != nil {
			t.Fatal(err)
		}
	}
	return pods[0] / pods[1]
}

// theHandbookShows checks that the commit in the handbook page on checkpoint files is in
// the repository of a run, with the same text.
func theHandbookShows(t *testing.T, repository string) {
	t.Helper()
	page, err := os.ReadFile("../docs/checkpoint.md")
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`(?m)^    commit ([0-9a-f]+)$`).FindSubmatch(page)
	if id == nil {
		t.Fatal("checkpoint.md shows no commit")
	}
	git := exec.CommandContext(t.Context(), "git", "-C", repository, "show", "--no-patch", "--abbrev-commit", "--format=medium", string(id[1]))
	out, err := git.CombinedOutput()
	if err != nil {
		t.Errorf("checkpoint.md shows commit %s, which no run makes: %s", id[1], out)
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "Date:") && !bytes.Contains(page, []byte(line)) {
			t.Errorf("checkpoint.md shows commit %s without its line %q", id[1], line)
		}
	}
}
