package backtest

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
)

// A Document is the answer of a backtest for machines, in its stable shape: fields
// are added, never changed. Times are RFC 3339 in UTC, spans as Go writes them.
type Document struct {
	term.Document
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Workloads  int       `json:"workloads"`
	Samples    int64     `json:"samples"`
	Step       string    `json:"step"`    // usual time between samples; "0s" is unknown
	Period     string    `json:"period"`  // from tick to tick
	Lasting    string    `json:"lasting"` // how long a need lasted that counts for the worst
	Wants      Wants     `json:"wants"`
	Candidates []Tried   `json:"candidates"`
	// Recommended is the name of a candidate; "" is none.
	Recommended string `json:"recommended"`
	Why         string `json:"why"`
	// Pictures are in a page only.
	Pictures *Pictures `json:"pictures,omitempty"`
}

// Tried is a candidate, and what came of it.
type Tried struct {
	Name   string `json:"name"`
	Policy Rules  `json:"policy"` // the default one
	Result
	Front       bool `json:"front"` // the Pareto front
	Recommended bool `json:"recommended"`
}

// Rules are those of a policy that differ between candidates.
type Rules struct {
	Series   string  `json:"series"`
	Round    string  `json:"round"`
	HoldUp   int     `json:"holdUp"` // samples
	HoldDown string  `json:"holdDown"`
	Margin   float64 `json:"margin"` // a part of 1
}

// Document is the verdict for machines.
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
