package demo

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// Rebuild compares the pods of a cluster that is rebuilt at one time with the desired
// replicas at that time.
type Rebuild struct {
	At         time.Duration
	Needed     int64   // desired pods of all workloads
	Manifests  Outcome // with the team's manifests only
	Checkpoint Outcome // with the manifests and the checkpoint of that time

	// Furthest is the workload that needs the most rounds of its autoscaler with the
	// manifests only.
	Furthest Behind
}

// Outcome is the result of a rebuild.
type Outcome struct {
	Created int64 // pods
	Met     int64 // of the desired pods
	Short   int   // workloads with fewer pods than desired
	Rounds  int   // of the autoscaler with the most rounds
}

// Behind is a workload that starts with fewer pods than desired.
type Behind struct {
	Workload   workload.ID
	Need       int32
	Manifest   int32
	Checkpoint int32
}

// WorstMoment returns the rebuild at the time of the span at which most pods would be
// missing with the manifests only. If there are several, it returns the first.
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

// Rounds returns how often an autoscaler with the default behaviour must raise its target
// to get from one number of pods to another. Each round doubles the target, or adds four
// pods if that is more.
func Rounds(from, to int32) int {
	n := 0
	for have := int64(from); have < int64(to); n++ {
		have = max(2*have, have+4)
	}
	return n
}

// A round lasts until the pods of the round before are scheduled, pulled, ready and
// measured. These times are assumptions, not measurements.
const (
	quickRound = time.Minute
	slowRound  = 3 * time.Minute
)
