package backtest

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Result is the result of a candidate. Its JSON is part of a Document.
type Result struct {
	Candidate Candidate `json:"-"`

	// Days is the observed time. Time in which no workload was sampled does not count.
	Days float64 `json:"days"`
	// CommitsPerDay is Commits per observed day; 0 without observed time.
	CommitsPerDay float64 `json:"commitsPerDay"`
	// Commits is the number of commits that changed a level. Firsts is the number of
	// commits that only added entries. Updates is the number of changed levels, including
	// Reviews, the number of level changes for review.
	Commits int `json:"commits"`
	Firsts  int `json:"firsts"`
	Updates int `json:"updates"`
	Reviews int `json:"reviews"`

	// Workloads is the number of workloads in the past. Declared is the number with a
	// level.
	Workloads int `json:"-"`
	Declared  int `json:"declared"`

	// Coverage is the share of the desired replicas that the levels cover, at most 1,
	// over the time with a level and with desired replicas above 0. It is 0 without
	// levels.
	Coverage float64 `json:"coverage"`
	// Worst is the lowest coverage of desired replicas that lasted; zero if it was not
	// measured.
	Worst Worst `json:"worst,omitzero"`
	// Waste is the part of the levels above the desired replicas. Need is the desired
	// replicas during the time with a level. Both are pod hours.
	Waste float64 `json:"wastePodHours"`
	Need  float64 `json:"needPodHours"`
}

// Worst is the coverage of desired replicas at one time. Need is 0 if it was not
// measured.
type Worst struct {
	Share    float64     `json:"share"` // at most 1
	Workload workload.ID `json:"workload"`
	At       time.Time   `json:"at"`
	Need     int32       `json:"need"` // pods
	Declared int32       `json:"declared"`
}

// Measured reports whether some desired replicas lasted long enough for a measurement.
func (w Worst) Measured() bool { return w.Need > 0 }

// end returns the result of the candidate.
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
