package backtest

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
)

// A Row has the figures of rebuilds from the levels of one policy.
type Row struct {
	Name          string  `json:"name"`
	Days          float64 `json:"days"` // observed; time in which no workload was sampled does not count
	CommitsPerDay float64 `json:"commitsPerDay"`
	// Commits is the number of commits that changed a level. A commit that only adds
	// workloads is the start of a site, and does not count.
	Commits int `json:"commits"`
	// Levels is the number of workloads that got a level.
	Levels int `json:"levels"`
	// Coverage is null if no workload had a level for some time.
	Coverage *Coverage `json:"coverage"`
}

// Coverage describes the rebuilds at each instant. A workload counts while it is sampled
// and has a level.
type Coverage struct {
	Worst   Rebuild `json:"worst"`          // the first one with the lowest share
	Mean    float64 `json:"mean"`           // of the shares over the time, from 0 to 1
	Below   float64 `json:"minutesBelow95"` // minutes with a share below 95 %
	Surplus float64 `json:"surplus"`        // pods beyond the needed pods, as a share of the needed pods over the time
	Busiest Rebuild `json:"busiest"`        // the first one with the most needed pods
}

// A Rebuild is the start of a rebuild from git at one time, in pods of all workloads. The
// surplus of one workload does not offset the missing pods of another.
type Rebuild struct {
	At      time.Time `json:"at"`
	Needed  int64     `json:"needed"` // desired replicas
	Created int64     `json:"created"`
	Met     int64     `json:"met"` // part of Needed that is created
}

// Share returns the share of the needed pods that the rebuild starts; 1 without needed
// pods.
func (r Rebuild) Share() float64 {
	if r.Needed == 0 {
		return 1
	}
	return float64(r.Met) / float64(r.Needed)
}

// enough is the share of the needed pods that serves the load of a rebuild.
const enough = 0.95

// A part is the part of one workload in a rebuild.
type part struct {
	observed, levelled bool
	need, level        int32
}

// A meter measures the rebuilds of a site over time.
type meter struct {
	from, at time.Time
	now      Rebuild
	observed int // workloads
	counted  int // workloads that are observed and have a level

	time                                  time.Duration // observed so far
	seconds, mean, below, needed, surplus float64       // with a level; pod seconds for pods
	worst                                 *Rebuild
	busiest                               Rebuild
}

// change replaces the part of a workload from a time on. Times must not descend.
func (m *meter) change(at time.Time, of *part, to part) {
	m.pass(at)
	m.add(*of, -1)
	m.add(to, 1)
	*of = to
}

func (m *meter) add(p part, sign int) {
	if p.observed {
		m.observed += sign
	}
	if p.observed && p.levelled {
		m.counted += sign
		m.now.Needed += int64(sign) * int64(p.need)
		m.now.Created += int64(sign) * int64(p.level)
		m.now.Met += int64(sign) * int64(min(p.need, p.level))
	}
}

// pass measures up to a time with the present parts.
func (m *meter) pass(to time.Time) {
	if m.at.Before(m.from) {
		m.at = m.from
	}
	elapsed := to.Sub(m.at).Seconds()
	if elapsed <= 0 {
		return
	}
	m.now.At = m.at
	m.at = to
	if m.observed > 0 {
		m.time += to.Sub(m.now.At)
	}
	if m.counted == 0 {
		return
	}
	share := m.now.Share()
	m.seconds += elapsed
	m.mean += share * elapsed
	m.needed += float64(m.now.Needed) * elapsed
	m.surplus += float64(m.now.Created-m.now.Met) * elapsed
	if share < enough {
		m.below += elapsed / 60
	}
	if m.now.Needed > m.busiest.Needed {
		m.busiest = m.now
	}
	if m.worst == nil || share < m.worst.Share() {
		worst := m.now
		m.worst = &worst
	}
}

// coverage returns the figures so far; nil without needed pods.
func (m *meter) coverage() *Coverage {
	if m.needed == 0 {
		return nil
	}
	return &Coverage{Worst: *m.worst, Mean: m.mean / m.seconds, Below: m.below, Surplus: m.surplus / m.needed, Busiest: m.busiest}
}

// Table returns the figures of some policies for users, and explains the columns.
func Table(s term.Style, rows []Row) string {
	cells := [][]string{{"", "commits/day", "worst", "at", "below 95 %", "mean", "surplus"}}
	for _, r := range rows {
		cells = append(cells, r.Cells())
	}
	head, body, _ := strings.Cut(term.Table("lrrlrrr", cells...), "\n")
	return s.Faint(head) + "\n" + body + s.Faint(
		"  \"worst\" and \"mean\" show the share of needed pods that a rebuild starts.\n"+
			"  \"surplus\" shows the additional pods, relative to the needed pods.") + "\n"
}

// Cells returns the name and the figures as texts: commits a day, worst share and its
// time, time below 95 %, mean share and surplus. A figure that was not measured is "-".
func (r Row) Cells() []string {
	cells := []string{r.Name, strconv.FormatFloat(math.Round(100*r.CommitsPerDay)/100, 'f', -1, 64), "-", "-", "-", "-", "-"}
	if c := r.Coverage; c != nil {
		copy(cells[2:], []string{term.Percent(c.Worst.Share()), c.Worst.At.Format("01-02 15:04"),
			term.Number(int64(math.Round(c.Below))) + " min", term.Percent(c.Mean), term.Percent(c.Surplus)})
	}
	return cells
}
