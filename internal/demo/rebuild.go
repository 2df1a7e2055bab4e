package demo

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
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
	Seconds int64 // time until this autoscaler reaches its desired pods, by the model of drills
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
		if r.Manifests.add(w.Manifest, need) {
			r.Furthest = Behind{w.ID, need, w.Manifest, declared}
		}
		r.Checkpoint.add(declared, need)
	}
	return r
}

// add adds a workload, and reports whether its autoscaler needs the most rounds so far.
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
