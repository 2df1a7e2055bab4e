package demo

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// Rebuild is what the cluster would have come back with, had it been built
// anew at one instant, against what was needed then.
type Rebuild struct {
	At         time.Duration
	Needed     int64   // pods asked for, of all workloads
	Manifests  Outcome // from the team's manifests alone
	Checkpoint Outcome // with the checkpoint of the instant over them

	// Furthest is the workload that the manifests alone would have left furthest
	// behind, in rounds of its autoscaler.
	Furthest Behind
}

// Outcome is what one way of rebuilding gives.
type Outcome struct {
	Created int64 // pods
	Met     int64 // of the pods needed
	Short   int   // workloads with fewer pods than they need
	Rounds  int   // of the autoscaler that takes longest
}

// Behind is a workload that begins with fewer pods than it needs.
type Behind struct {
	Workload   workload.ID
	Need       int32
	Manifest   int32
	Checkpoint int32
}

// WorstMoment returns the rebuild at that instant of the span at which the
// manifests alone would leave most pods missing; the first of several such.
func WorstMoment(t *traces.Trace, h History, s Span) Rebuild {
	at, most := s.From, int64(-1)
	for now := s.From; now < s.To; now += grain {
		missing := int64(0)
		for i, w := range t.Workloads {
			missing += int64(max(0, t.At(i, now).Desired-w.Manifest))
		}
		if missing > most {
			at, most = now, missing
		}
	}
	return rebuildAt(t, h, at)
}

func rebuildAt(t *traces.Trace, h History, at time.Duration) Rebuild {
	r := Rebuild{At: at}
	for i, w := range t.Workloads {
		need, declared := t.At(i, at).Desired, w.Manifest
		if level := h.At(i, at); level > 0 {
			declared = level
		}
		r.Needed += int64(need)
		if Rounds(w.Manifest, need) > r.Manifests.Rounds {
			r.Furthest = Behind{w.ID, need, w.Manifest, declared}
		}
		r.Manifests.add(w.Manifest, need)
		r.Checkpoint.add(declared, need)
	}
	return r
}

func (o *Outcome) add(created, need int32) {
	o.Created += int64(created)
	o.Met += int64(min(created, need))
	if created < need {
		o.Short++
	}
	o.Rounds = max(o.Rounds, Rounds(created, need))
}

// Rounds returns how often an autoscaler with the default behaviour has to
// raise its target from one count to reach another: each time to the double,
// or by four pods, whichever is more.
func Rounds(from, to int32) int {
	n := 0
	for have := int64(from); have < int64(to); n++ {
		have = max(2*have, have+4)
	}
	return n
}

// A round has to wait until the pods of the one before are placed, pulled,
// ready and measured. How long that takes is assumed, not measured.
const (
	quickRound = time.Minute
	slowRound  = 3 * time.Minute
)
