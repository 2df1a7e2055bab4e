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
}

// accepted are all figures, in the order of the table.
var accepted = []figure{
	{name: "sample_ratio_10k", what: "time to sample 10,000 Deployments, 5,000 HPAs and 500 rollouts in flight / to drain the same answers", most: 1.4},
	{name: "sample_cpu_ratio_10k", what: "CPU seconds of the same two clients", most: 2},
	{name: "tick_rss_mib_10k", what: "MiB of memory of a whole quiet tick at 10,000 workloads, Lambda build", most: 64, alone: true},
	{name: "tick_rss_mib_50k", what: "the same at 50,000", most: 165, alone: true}, // the program has 33 MiB, and a workload 2 KB, a fifth more until the garbage is collected
	{name: "head_kib_50k", what: "KiB of the stored head in a mass drop of 50,000 workloads", most: 64, alone: true},
	{name: "quiet_git_bytes", what: "bytes to and from git of a quiet look: 200,000 files, 200 MB, 30,000 refs", most: 256, alone: true},
	{name: "quiet_git_requests", what: "its requests", most: 1, alone: true},
	{name: "crossing_bytes_200", what: "bytes to and from git of a level change by a new process, in that repository with 200 refs", most: 5000, alone: true},
	{name: "crossing_bytes_30k", what: "the same with 30,000 refs", most: 5000, alone: true},
	{name: "crossing_requests_200", what: "its requests with 200 refs", most: 4, alone: true},
	{name: "crossing_requests_30k", what: "its requests with 30,000 refs", most: 4, alone: true},
	{name: "first_tick_10k", what: "time of the first commit, of 10,000 workloads / of the bare push and writes", most: 1.6},       // half of the excess is the AWS SDK, which signs each request and parses its answer
	{name: "growth_1k_50k", what: "time or memory of a quiet tick for each workload, the larger: at 50,000 / at 1,000", most: 1.7}, // the names of 1,000 workloads fit into the processor's cache, and those of 50,000 do not
	{name: "noise_300", what: "changes that a mirror would commit / our commits: noisy days of 300 workloads", least: 2000},
	{name: "noise_1000", what: "the same: of 1,000 workloads", least: 2000},
	{name: "cold_ratio", what: "time of a cold start / of an idle bootstrap's", most: 1.2},
	{name: "package_init_ms", what: "ms to initialise the packages of the latch function, the best of 15", most: 12, alone: true},
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

// holds reports whether a figure is within its bound.
func (f figure) holds(value float64) bool {
	return (f.most == 0 || value <= f.most) && value >= f.least
}

func (f figure) bound() string {
	if f.most > 0 {
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
			fmt.Fprintf(&text, "| `%s` | %s | %.4g | %s | %s | %s | %s |\n", f.name, f.what, m.value, f.bound(), map[bool]string{true: "holds", false: "beyond"}[f.holds(m.value)], cmp.Or(m.ours, "-"), cmp.Or(m.theirs, "-"))
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
		within, beyond := f.most, f.most*1.01
		if f.least > 0 {
			within, beyond = f.least, f.least*0.99
		}
		if !f.holds(within) || f.holds(beyond) {
			t.Errorf("%s, %s: %v holds: %v, %v holds: %v", f.name, f.bound(), within, f.holds(within), beyond, f.holds(beyond))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
