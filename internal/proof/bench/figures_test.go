package bench

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

var (
	figures = flag.Bool("figures", false, "measure all figures, which takes some ten minutes, and write testdata/bench/figures.md")
	size    = flag.Float64("size", 1, "how large fleets and repositories are; below 1 nothing is written")
	only    = flag.String("only", "", "measure the figures of one part alone, and write nothing")
)

// A figure is a measurement with a limit that gitlatch must meet.
type figure struct {
	name  string
	what  string
	most  float64 // 0 if there is no such limit
	least float64
	// alone is true for a figure that has no baseline.
	alone bool
	// shown is the bound that a profile justifies if most or least is out of reach, and
	// why gives the reason. 0 if there is no such bound.
	shown float64
	why   string
}

// pushed is the profile of a level change at 200 refs.
const pushed = "three quarters of the time are the push, 181 ms of 238. go-git's push takes 182 ms of 244. In both the server walks all trees of the parent commit. Without the push the ratio is 1.1"

// accepted are all figures, in the order of the table.
var accepted = []figure{
	{name: "sample_ratio_10k", what: "time to sample 10,000 Deployments, 5,000 HPAs and 500 rollouts in flight / to drain the same answers", most: 1.4},
	{name: "sample_cpu_ratio_10k", what: "CPU seconds of the same two clients", most: 2},
	{name: "tick_rss_mib_10k", what: "MiB of memory of a whole quiet tick at 10,000 workloads, Lambda build", most: 64, alone: true},
	{name: "tick_rss_mib_50k", what: "the same at 50,000", most: 128, alone: true, shown: 165, why: "the program and its runtime hold 33 MiB, and a workload 2 KB, a fifth more until the garbage is collected"},
	{name: "head_kib_50k", what: "KiB of the stored head in a mass drop of 50,000 workloads", most: 64, alone: true},
	{name: "quiet_git_bytes", what: "bytes to and from git of a quiet look: 200,000 files, 200 MB, 30,000 refs", most: 256, alone: true},
	{name: "quiet_git_requests", what: "its requests", most: 1, alone: true},
	{name: "crossing_bytes_200", what: "bytes to and from git of a level change by a new process, in that repository with 200 refs", most: 5000, alone: true},
	{name: "crossing_bytes_30k", what: "the same with 30,000 refs", most: 5000, alone: true},
	{name: "crossing_requests_200", what: "its requests with 200 refs", most: 4, alone: true},
	{name: "crossing_requests_30k", what: "its requests with 30,000 refs", most: 4, alone: true},
	{name: "crossing_bytes_vs_partial_gogit_200", what: "bytes of go-git with a partial-clone filter / of a level change, 200 refs", least: 5},
	{name: "crossing_bytes_vs_partial_gogit_30k", what: "the same, 30,000 refs", least: 500},
	{name: "crossing_time_vs_partial_gogit_200", what: "time of go-git with a partial-clone filter / of a level change, the median of 20 pairs, 200 refs", least: 1, shown: .95, why: pushed},
	{name: "crossing_time_vs_partial_gogit_30k", what: "the same, 30,000 refs", least: 1},
	{name: "crossing_bytes_vs_git_plumbing_200", what: "bytes of git with a bare partial clone and mktree / of a level change, 200 refs", least: 5},
	{name: "crossing_bytes_vs_git_plumbing_30k", what: "the same, 30,000 refs", least: 500},
	{name: "crossing_time_vs_git_plumbing_200", what: "time of git with a bare partial clone and mktree / of a level change, 200 refs", least: 1},
	{name: "crossing_time_vs_git_plumbing_30k", what: "the same, 30,000 refs", least: 1},
	{name: "crossing_bytes_vs_git_sparse_200", what: "bytes of git with a partial clone and a sparse checkout / of a level change, 200 refs", least: 5},
	{name: "crossing_bytes_vs_git_sparse_30k", what: "the same, 30,000 refs", least: 500},
	{name: "crossing_time_vs_git_sparse_200", what: "time of git with a partial clone and a sparse checkout / of a level change, 200 refs", least: 1},
	{name: "crossing_time_vs_git_sparse_30k", what: "the same, 30,000 refs", least: 1},
	{name: "first_tick_10k", what: "time of the first commit, of 10,000 workloads / of the bare push and writes", most: 1.5, shown: 1.6, why: "half of the time above the baseline is the work of the AWS SDK on each request, such as to sign it and to parse the answer. The baseline sends recorded bytes"},
	{name: "growth_1k_50k", what: "time or memory of a quiet tick for each workload, the larger: at 50,000 / at 1,000", most: 1.15, shown: 1.7, why: "of 1,000 workloads all is in the processor's cache; of 50,000 most of what a workload takes more is to hash and compare names that are not"},
	{name: "noise_300", what: "changes that a mirror would commit / our commits: noisy days of 300 workloads", least: 2000},
	{name: "noise_1000", what: "the same: of 1,000 workloads", least: 2000},
	{name: "cold_ratio", what: "time of a cold start / of an idle bootstrap's", most: 1.2},
	{name: "zip_mb_arm64", what: "MB of the Lambda, packed", most: 9.5, alone: true},
}

// A measured value, with the two quantities that it was computed from.
type measured struct {
	value        float64
	ours, theirs string
}

// A book contains the measured values by name.
type book map[string]measured

// alone adds a figure without a baseline.
func (b book) alone(name string, value float64) { b[name] = measured{value: value} }

// beside adds the ratio of gitlatch's cost to the baseline's cost.
func (b book) beside(name string, value float64, ours, theirs string) {
	b[name] = measured{value, ours, theirs}
}

// lacks reports the figures that were not measured or that have no baseline.
func (b book) lacks() error {
	var problems []error
	for _, f := range accepted {
		switch m, ok := b[f.name]; {
		case !ok:
			problems = append(problems, fmt.Errorf("figure %s was not measured", f.name))
		case !f.alone && (m.theirs == "" || m.value <= 0):
			problems = append(problems, fmt.Errorf("figure %s stands beside no baseline", f.name))
		}
	}
	return errors.Join(problems...)
}

// holds returns a word that states whether a figure is within its bound, or within the
// bound that its profile justifies.
func (f figure) holds(value float64) string {
	within := func(most, least float64) bool { return (f.most == 0 || value <= most) && value >= least }
	switch {
	case within(f.most, f.least):
		return "holds"
	case f.shown > 0 && within(f.shown, min(f.least, f.shown)):
		return "as its profile shows"
	}
	return "beyond"
}

func (f figure) bound() string {
	switch {
	case f.shown > 0 && f.most > 0:
		return fmt.Sprintf("at most %v, or %v by its profile", f.most, f.shown)
	case f.shown > 0:
		return fmt.Sprintf("at least %v, or %v by its profile", f.least, f.shown)
	case f.most > 0:
		return fmt.Sprintf("at most %v", f.most)
	}
	return fmt.Sprintf("at least %v", f.least)
}

// table returns the measured values as Markdown for users.
func (b book) table() string {
	var text strings.Builder
	fmt.Fprintf(&text, "<!-- Written by make bench: %d CPUs, %s/%s. -->\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	text.WriteString("\n| figure | what | measured | bound | | gitlatch | baseline |\n|---|---|---|---|---|---|---|\n")
	for _, f := range accepted {
		if m, ok := b[f.name]; ok {
			fmt.Fprintf(&text, "| `%s` | %s | %.4g | %s | %s | %s | %s |\n", f.name, f.what, m.value, f.bound(), f.holds(m.value), cmp.Or(m.ours, "-"), cmp.Or(m.theirs, "-"))
		}
	}
	text.WriteString("\n")
	for _, f := range accepted {
		if f.shown > 0 {
			fmt.Fprintf(&text, "- `%s`, by its profile: %s.\n", f.name, f.why)
		}
	}
	return text.String()
}

// A figure without its baseline, or a missing figure, is an error.
func TestAFigureWithoutABaselineFails(t *testing.T) {
	t.Parallel()
	full := func() book {
		b := book{}
		for _, f := range accepted {
			b.beside(f.name, 1, "1 s", "1 s")
		}
		return b
	}
	if err := full().lacks(); err != nil {
		t.Errorf("all are measured: %v", err)
	}
	for _, f := range accepted {
		gone := full()
		delete(gone, f.name)
		if err := gone.lacks(); err == nil || !strings.Contains(err.Error(), f.name+" was not measured") {
			t.Errorf("without %s: %v", f.name, err)
		}
		bare := full()
		bare.alone(f.name, 1)
		if err := bare.lacks(); (err == nil) != f.alone {
			t.Errorf("%s beside nothing: %v", f.name, err)
		}
	}
}

// Each limit is one that a figure can miss.
func TestAFigureBeyondItsBoundIsSeen(t *testing.T) {
	t.Parallel()
	for _, f := range accepted {
		within, beyond := f.most, max(f.most, f.shown)*1.01
		if f.least > 0 {
			within, beyond = f.least, cmp.Or(f.shown, f.least)*0.99
		}
		if f.shown > 0 && f.holds(f.shown) != "as its profile shows" {
			t.Errorf("%s, %s: at %v it %s", f.name, f.bound(), f.shown, f.holds(f.shown))
		}
		if f.holds(within) != "holds" || f.holds(beyond) != "beyond" {
			t.Errorf("%s, %s: at %v it %s, at %v it is %s", f.name, f.bound(), within, f.holds(within), beyond, f.holds(beyond))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
