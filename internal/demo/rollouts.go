package demo

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A flight is a rollout as ticks saw it, and what git said of it.
type flight struct {
	id          workload.ID
	first, last time.Duration // of the ticks that saw it, since the start of the trace
	said        []word        // what git came to say of it, in order
}

// A word is what git says of a rollout, from an instant of the trace on.
type word struct {
	at        time.Duration
	side      checkpoint.Side
	milestone int32
}

// lasting is how long a rollout must be in flight to be recorded.
var lasting = policy.Presets()["cope"].RolloutAfter

func (f *flight) lasted() bool { return f.last-f.first >= lasting }

// fly follows the rollouts in flight by one tick, and what git then says of each.
func (d *day) fly(at time.Duration, r tick.Report) {
	open := map[workload.ID]*flight{}
	for _, s := range r.Samples {
		if s.Rollout == nil || !s.Rollout.InFlight || s.Rollout.Desired == 0 {
			continue
		}
		f := d.open[s.ID]
		if f == nil {
			f = &flight{id: s.ID, first: at}
			d.flights = append(d.flights, f)
		}
		open[s.ID] = f
		f.last = at
		f.hear(at, r.Latches.Get(s.ID).Declared.Rollout)
	}
	d.open = open
}

// hear notes what git says of the rollout, if that is new.
func (f *flight) hear(at time.Duration, r checkpoint.Rollout) {
	now := word{at, r.Returns, r.Milestone}
	n := len(f.said)
	if r != (checkpoint.Rollout{}) && (n == 0 || f.said[n-1].side != now.side || f.said[n-1].milestone != now.milestone) {
		f.said = append(f.said, now)
	}
}

// rollouts are those of the day itself, and of these the ones that lasted.
func (d *day) rollouts() (all, lasted []*flight) {
	for _, f := range d.flights {
		if f.first < d.trace.WarmUp {
			continue
		}
		all = append(all, f)
		if f.lasted() {
			lasted = append(lasted, f)
		}
	}
	return all, lasted
}

func (d *day) rolloutTable(s term.Style) string {
	all, lasted := d.rollouts()
	text := s.Heading("Rollouts on "+d.name()) + fmt.Sprintf("\n  %d rollouts, %d of them in flight for %.0f minutes or more\n", len(all), len(lasted), lasting.Minutes())
	var rows [][]string
	for _, f := range lasted {
		var said []string
		for _, w := range f.said {
			side := map[checkpoint.Side]string{checkpoint.SideFrom: "old", checkpoint.SideTo: "new"}[w.side]
			said = append(said, fmt.Sprintf("%s %s, at %d %%", d.clock(w.at).Format("15:04"), side, w.milestone))
		}
		rows = append(rows, []string{d.clock(f.first).Format("15:04"), f.id.Short(), fmt.Sprintf("%.0f min", (f.last - f.first).Minutes()), "in git: " + cmp.Or(strings.Join(said, "; "), "nothing")})
	}
	if len(rows) == 0 {
		return text
	}
	return text + term.Table("llrl", rows...)
}
