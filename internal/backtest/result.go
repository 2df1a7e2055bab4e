package backtest

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Result is what came of a candidate.
type Result struct {
	Candidate Candidate

	// Days is the time observed. A time in which no workload was sampled is none.
	Days float64
	// Commits are those that changed a level, Firsts those that only declared
	// workloads which had none. Updates are the levels that were changed, of which
	// Reviews were left to a person.
	Commits, Firsts, Updates, Reviews int

	// Coverage is the part of the need that was declared, 1 at most, over all of
	// the time in which workloads had a need and a level. 0 where nothing was
	// declared.
	Coverage float64
	// Worst is the least that was declared of a need that lasted.
	Worst Worst
	// Waste is what was declared beyond the need, and Need all that was needed
	// while a level was declared, in pod hours.
	Waste, Need float64

	// Workloads are those of the past, Declared those that ever had a level.
	Workloads, Declared int
}

// Worst is how much of a need was declared at one instant. A Need of 0 is one
// that was never measured.
type Worst struct {
	Share          float64 // 1 at most
	Workload       workload.ID
	At             time.Time
	Need, Declared int32
}

// Measured reports whether some need lasted, so that the worst is one.
func (w Worst) Measured() bool { return w.Need > 0 }

// CommitsPerDay are the commits that changed a level, a day.
func (r Result) CommitsPerDay() float64 {
	if r.Days == 0 {
		return 0
	}
	return float64(r.Commits) / r.Days
}

// Excess is the waste as a part of the need; 0 where there was none.
func (r Result) Excess() float64 {
	if r.Need == 0 {
		return 0
	}
	return r.Waste / r.Need
}

func (s *replay) result() Result {
	r := Result{
		Candidate: Candidate{s.name, s.set}, Days: float64(s.observed) / 86400,
		Commits: s.commits, Firsts: s.firsts, Updates: s.updates, Reviews: s.reviews, Workloads: len(s.rows),
	}
	covered, seconds := 0.0, 0.0
	for _, row := range s.rows {
		m := row.meter
		covered, seconds = covered+m.covered, seconds+m.seconds
		r.Waste, r.Need = r.Waste+m.waste/3600, r.Need+m.needed/3600
		if m.declared > 0 {
			r.Declared++
		}
		if m.worst.Need > 0 && (r.Worst.Need == 0 || m.worst.Share < r.Worst.Share) {
			r.Worst = m.worst
			r.Worst.Workload = row.id
		}
	}
	if seconds > 0 {
		r.Coverage = covered / seconds
	}
	return r
}

func instant(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
