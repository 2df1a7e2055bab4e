package backtest

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
)

// A Document is the result of a backtest for programs. Fields are only added, and never
// changed. Times are RFC 3339 in UTC, and spans are in the form of Go.
type Document struct {
	term.Document
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Workloads  int       `json:"workloads"`
	Samples    int64     `json:"samples"`
	Step       string    `json:"step"`    // usual time between samples; "0s" if it is unknown
	Period     string    `json:"period"`  // from one tick to the next
	Lasting    string    `json:"lasting"` // how long desired replicas must last to count for worst
	Wants      Wants     `json:"wants"`
	Candidates []Tried   `json:"candidates"`
	// Recommended is the name of a candidate; may be "".
	Recommended string `json:"recommended"`
	Why         string `json:"why"`
	// Pictures are only part of a page.
	Pictures *Pictures `json:"pictures,omitempty"`
}

// Tried is a candidate with its result.
type Tried struct {
	Name   string `json:"name"`
	Policy Rules  `json:"policy"` // the default policy
	Result
	Front       bool `json:"front"` // on the Pareto front
	Recommended bool `json:"recommended"`
}

// Rules are the fields of a policy that differ between candidates.
type Rules struct {
	Series   string  `json:"series"`
	Round    string  `json:"round"`
	HoldUp   int     `json:"holdUp"` // samples
	HoldDown string  `json:"holdDown"`
	Margin   float64 `json:"margin"` // from 0 to 1
}

// Document returns the verdict for programs.
func (v Verdict) Document() Document {
	from, to := v.Past.Span()
	d := Document{
		Document: term.DocumentOf("Backtest"), From: from, To: to, Workloads: len(v.Past.IDs()), Samples: v.Past.Samples(),
		Step: v.Past.Step().String(), Period: v.Period.String(), Lasting: v.Lasting.String(), Why: v.Why,
		Wants:      v.Wants,
		Candidates: make([]Tried, len(v.Results)),
	}
	for i, r := range v.Results {
		p := r.Candidate.Set.Default
		rules := Rules{Series: p.Series.String(), Round: string(p.Round), HoldUp: p.HoldUp, HoldDown: p.HoldDown.String(), Margin: p.Margin}
		d.Candidates[i] = Tried{Name: r.Candidate.Name, Policy: rules, Result: r, Front: v.Front[i], Recommended: i == v.Best}
	}
	if v.Best >= 0 {
		d.Recommended = v.Results[v.Best].Candidate.Name
	}
	return d
}
