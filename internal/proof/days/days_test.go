//go:build long

package days

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/skip"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/testdata/traces"
	"github.com/gitlatch/gitlatch/testdata/traces/simulate"
)

var length = flag.Float64("days", 0.35, "how many days pass; 30 is the whole test, which takes some fifteen minutes")

// In a month the process does not grow, and no day has more commits than its budget. The
// test checks the growth only if days follow the fifth.
func TestAMonthOfAThousandWorkloads(t *testing.T) {
	t.Parallel()
	look := 0
	clock := func() time.Time { return start.Add(time.Duration(look) * period) }
	origin := gitserver.NewOrigin(t, filepath.Join(t.TempDir(), "site.git"), map[string]string{"gitlatch.yaml": latching})
	repository, err := gitwire.Open(gitwire.Options{URL: origin.Dir, Branch: "main"})
	must(t, err)
	defer func() { must(t, repository.Close()) }()
	store := mem.New()

	fleet := newFleet(workloads, simulate.Week(traces.Seed, period))
	set, err := config.ParsePolicy("gitlatch.yaml", []byte(latching), period)
	must(t, err)
	spent := budget{}
	var peaks []int64 // by day
	for last := int(*length * float64(dayLooks)); look < last; look++ {
		report, err := (&tick.Tick{
			Site: "prod", Owner: fmt.Sprint("run-", look), Period: period, Lease: period - time.Minute,
			Sampler: seen{fleet, look, clock()}, Store: store, Repository: repository, Clock: clock,
			PolicyFile:  "gitlatch.yaml",
			ParsePolicy: func(string, []byte) (policy.Set, error) { return set, nil },
		}).Run(context.Background())
		if err := errors.Join(err, report.Err()); err != nil || report.NotRun != "" {
			t.Fatalf("%s: %v %s", clock(), err, report.NotRun)
		}
		must(t, spent.add(look, report))
		day := look / dayLooks
		if look%dayLooks == 0 {
			peaks = append(peaks, 0)
		}
		if (look+1)%(dayLooks/8) == 0 {
			peaks[day] = max(peaks[day], rss(t))
		}
		if (look+1)%dayLooks == 0 {
			t.Logf("day %d: %d MiB, %d commits, %d of them urgent", day+1, peaks[day]>>20, len(spent.waited)+spent.urgent, spent.urgent)
		}
	}
	if len(spent.waited) == 0 || spent.urgent == 0 {
		t.Errorf("%d commits that wait for the budget, and %d that do not: the test says nothing", len(spent.waited), spent.urgent)
	}
	growth, known := growth(peaks)
	if !known {
		return
	}
	fmt.Printf("figure days_rss_growth %.2f\n", growth)
	if growth > mostGrowth {
		t.Errorf("the process is %.2f times what it was: by day it had %d bytes", growth, peaks)
	}
}

// budget records the commits: the samples whose commit had to wait for the budget, and
// the number of urgent ones.
type budget struct {
	waited []int
	urgent int
}

// add adds a tick's commit. The 24 hours up to the tick may have no more commits than a
// day's budget and a full bucket.
func (b *budget) add(look int, r tick.Report) error {
	if r.Commit == nil {
		return nil
	}
	for _, d := range r.Decisions {
		if d.Crosses() && d.Urgent {
			b.urgent++
			return nil
		}
	}
	b.waited = append(b.waited, look)
	perDay := policy.DefaultGuards().CommitsPerDay
	most := perDay + perDay/4
	if n := len(b.waited) - most - 1; n >= 0 && look-b.waited[n] < dayLooks {
		return fmt.Errorf("look %d: %d commits in a day that were not urgent, and the budget is %d", look, most+1, perDay)
	}
	return nil
}

// rss returns the resident memory of the process in bytes, after a garbage collection.
func rss(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if errors.Is(err, os.ErrNotExist) {
		skip.Test(t, "no /proc/self/statm on %s: the memory of a process is measured on Linux alone", runtime.GOOS)
	}
	must(t, err)
	pages, err := strconv.ParseInt(string(bytes.Fields(text)[1]), 10, 64)
	must(t, err)
	return pages * int64(os.Getpagesize())
}
