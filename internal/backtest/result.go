package backtest

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Result is what came of a candidate. Its JSON is that of a Document.
type Result struct {
	Candidate Candidate `json:"-"`

	// Days is the time observed. A time in which no workload was sampled is none.
	Days float64 `json:"days"`
	// CommitsPerDay are the Commits, a day observed; 0 where none was.
	CommitsPerDay float64 `json:"commitsPerDay"`
	// Commits are those that changed a level, Firsts those that only declared
	// workloads which had none. Updates are the levels that were changed, of which
	// Reviews were left to a person.
	Commits int `json:"commits"`
	Firsts  int `json:"firsts"`
	Updates int `json:"updates"`
	Reviews int `json:"reviews"`

	// Workloads are those of the past, Declared those that ever had a level.
	Workloads int `json:"-"`
	Declared  int `json:"declared"`

	// Coverage is the part of the need that was declared, 1 at most, over all of
	// the time in which workloads had a need and a level. 0 where nothing was
	// declared.
	Coverage float64 `json:"coverage"`
	// Worst is the least that was declared of a need that lasted; zero where none
	// was measured.
	Worst Worst `json:"worst,omitzero"`
	// Waste is what was declared beyond the need, and Need all that was needed
	// while a level was declared, in pod hours.
	Waste float64 `json:"wastePodHours"`
	Need  float64 `json:"needPodHours"`
}

// Worst is how much of a need was declared at one instant. A Need of 0 is one
// that was never measured.
type Worst struct {
	Share    float64     `json:"share"` // 1 at most
	Workload workload.ID `json:"workload"`
	At       time.Time   `json:"at"`
	Need     int32       `json:"need"` // pods
	Declared int32       `json:"declared"`
}

// Measured reports whether some need lasted, so that the worst is one.
func (w Worst) Measured() bool { return w.Need > 0 }

// Excess is the waste as a part of the need; 0 where there was none.
func (r Result) Excess() float64 {
	if r.Need == 0 {
		return 0
	}
	return r.Waste / r.Need
}

// end returns what came of the candidate.
func (s *replay) end() Result {
	r := s.result
	r.Days = float64(s.observed) / 86400
	r.Workloads = len(s.rows)
	if r.Days > 0 {
		r.CommitsPerDay = float64(r.Commits) / r.Days
	}
	covered, seconds := 0.0, 0.0
	for _, row := range s.rows {
		m := row.meter
		covered += m.covered
		seconds += m.seconds
		r.Waste += m.waste / 3600
		r.Need += m.needed / 3600
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
