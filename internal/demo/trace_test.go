package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/skip"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
	"github.com/gitlatch/gitlatch/testdata/traces/simulate"
)

func TestTheShippedDayIsWhatItsGeneratorMakes(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		skip.Test(t, "not checked that the shipped day is what its generator makes: it was made on amd64, and floating point may differ here")
	}
	var workloads, changes bytes.Buffer
	if err := simulate.Day(traces.Seed).Encode(&workloads, &changes); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]byte{"workloads.csv": workloads.Bytes(), "changes.csv": changes.Bytes()} {
		got, err := os.ReadFile(filepath.Join("../../testdata/traces", file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what its generator makes; run go generate ./testdata/traces and look at the difference", file)
		}
	}
}

// The demo shows each of these.
func TestTheShippedDayHasItAll(t *testing.T) {
	t.Parallel()
	day, err := traces.Day()
	if err != nil {
		t.Fatal(err)
	}
	if day.WarmUp < 27*time.Hour || day.Length-day.WarmUp != 24*time.Hour || len(day.Workloads) < 30 {
		t.Errorf("a warm-up of %s, a day of %s and %d workloads", day.WarmUp, day.Length-day.WarmUp, len(day.Workloads))
	}

	has := map[string]int{}
	var tiers, tierChanges int
	for i, w := range day.Workloads {
		lowest, highest, deploys, changes := day.At(i, day.WarmUp).Desired, int32(0), 0, 0
		for j, c := range day.Changes[i] {
			if c.At < day.WarmUp || j == 0 {
				continue
			}
			before := day.Changes[i][j-1]
			lowest, highest = min(lowest, c.Desired), max(highest, c.Desired)
			if c.Desired != before.Desired {
				changes++
			}
			if c.Revision != before.Revision {
				deploys++
			}
			has[string(c.Note)]++
		}
		if w.Story == simulate.Web && highest >= 100 && highest <= 1000 {
			tiers, tierChanges = tiers+1, tierChanges+changes
		}
		if lowest == 3 && highest == 10_000 {
			has["surge"]++
		}
		if w.Driver == workload.DrivenByKEDA && lowest == 0 && highest > 0 {
			has["sleeper"]++
		}
		if deploys >= 71 {
			has["deploys every 20 minutes"]++
		}
		if w.Driver == workload.DrivenByNothing {
			has["undriven"]++
		}
		if w.ID.Kind == workload.StatefulSet && changes > 0 {
			has["stateful"]++
		}
		if highest > 0 && highest <= 5 {
			has["tiny"]++
		}
	}
	for _, what := range []string{"surge", "sleeper", "deploys every 20 minutes", "undriven", "stateful", "tiny", string(traces.Blind), string(traces.Stuck), string(traces.Unobserved)} {
		if has[what] == 0 {
			t.Errorf("the day has no %q", what)
		}
	}
	// Measured for a tier of 100 to 1,000 pods: 47 changes a day.
	if mean := float64(tierChanges) / float64(tiers); tiers < 20 || mean < 37 || mean > 57 {
		t.Errorf("%d large tiers change their scale %.0f times on average", tiers, mean)
	}

	down, back := 0, 0
	before, during, after := day.WarmUp+13*time.Hour+35*time.Minute, day.WarmUp+14*time.Hour, day.WarmUp+15*time.Hour
	for i := range day.Workloads {
		was := day.At(i, before).Desired
		if was > 1 && day.At(i, during).Desired <= was/2 {
			down++
			if day.At(i, after).Desired >= was*3/4 {
				back++
			}
		}
	}
	if 3*down < len(day.Workloads) || back != down {
		t.Errorf("of %d workloads %d are down in the outage, %d of them back after it", len(day.Workloads), down, back)
	}
}

func TestABrokenTraceSaysWhere(t *testing.T) {
	t.Parallel()
	const workloads = "span,2026-09-14T18:00:00Z,1h0m0s,2h0m0s\nworkload,story,driver,min,max,target,manifest\nshop/deployment/web,web,hpa,2,20,0.7,2\n"
	const changes = "seconds,workload,desired,ready,updated,old,revision,note\n0,0,4,4\n"
	for name, c := range map[string]struct{ workloads, changes, want string }{
		"no span":             {strings.Replace(workloads, "span", "time", 1), changes, "workloads: want a row"},
		"a name":              {strings.Replace(workloads, "shop/", "Shop/", 1), changes, "workloads: line 3: workload"},
		"bounds":              {strings.Replace(workloads, ",20,", ",many,", 1), changes, "workloads: line 3: "},
		"another workload":    {workloads, changes + "60,1,5,5\n", "changes: line 3: workload"},
		"time going back":     {workloads, changes + "60,0,5,5\n45,0,6,6\n", "changes: line 4: workload shop/deployment/web: changes must ascend"},
		"fewer than no pods":  {workloads, changes + "60,0,-5,5\n", "changes: line 3: -5 pods"},
		"nothing to begin at": {workloads, strings.Replace(changes, "\n0,", "\n15,", 1), "want a change at 0"},
	} {
		_, err := traces.Decode(strings.NewReader(c.workloads), strings.NewReader(c.changes))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
