package demo

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
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
	Seconds int64 // until it is there, by the model of a drill
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
		if r.Manifests.add(w.Manifest, need) {
			r.Furthest = Behind{w.ID, need, w.Manifest, declared}
		}
		r.Checkpoint.add(declared, need)
	}
	return r
}

// add adds a workload, and reports whether it takes longer than those before.
func (o *Outcome) add(created, need int32) (longest bool) {
	o.Created += int64(created)
	o.Met += int64(min(created, need))
	if created < need {
		o.Short++
	}
	e := drill.Takes(created, need, true, 0, 0)
	longest = e.Rounds > o.Rounds
	if longest {
		o.Rounds = e.Rounds
		o.Seconds = e.Seconds
	}
	return longest
}
