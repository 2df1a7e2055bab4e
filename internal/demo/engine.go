package demo

import (
	"context"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Ticker is the engine that a demo shows.
type Ticker interface {
	// Tick takes one look at the site, at an instant, and does what follows from
	// it.
	Tick(ctx context.Context, at time.Time) (Result, error)

	// Close gives back what the engine holds, its state file above all.
	Close() error
}

// Result is what a demo wants to know of one tick.
type Result struct {
	// Commit is the id of the commit that the tick made; "" is none.
	Commit string
	// Declared are the levels that git declares after the tick.
	Declared map[workload.ID]int32
	// Frozen counts, by reason, the workloads whose timers stand still.
	Frozen map[string]int
}

// Place is where an engine finds what it works on.
type Place struct {
	Site       string
	API        string // address of the Kubernetes API: http://127.0.0.1:8080
	Repository string // path of the bare repository
	Branch     string
	State      string // path of the state file, which does not exist yet
	Period     time.Duration
}

// Opening makes an engine for a place.
type Opening func(ctx context.Context, at Place) (Ticker, error)
