package simulate

import (
	"math/rand/v2"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A window is the time from one time of the trace until before another.
type window struct{ from, to time.Duration }

func (w window) holds(at time.Duration) bool { return at >= w.from && at < w.to }

// start is a Monday evening; the day is the Wednesday, 30 hours later.
var start = time.Date(2026, time.September, 14, 18, 0, 0, 0, time.UTC)

const (
	warmUp = 30 * time.Hour
	length = warmUp + 24*time.Hour
)

// wednesday returns the time of the trace at an hour and minute of the day.
func wednesday(hour, minute int) time.Duration {
	return warmUp + time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
}

// The incidents and their times.
var (
	// The edge in front of a third of the fleet fails, and then all its callers come back
	// at once.
	outage     = window{wednesday(13, 40), wednesday(14, 30)}
	behindEdge = map[string]bool{"shop": true, "search": true, "media": true, "ads": true, "mobile": true}

	// A campaign ends on Monday night.
	campaignEnd = 4*time.Hour + 30*time.Minute

	// The metrics of one workload are missing.
	metricsGone = window{wednesday(10, 20), wednesday(11, 0)}
	bidder      = workload.ID{Namespace: "ads", Kind: workload.Deployment, Name: "bidder"}

	// The controller manager fails over: in the meantime, no scale changes and no spec is
	// observed.
	failover = window{wednesday(5, 5), wednesday(5, 12)}

	// The new version of one workload never becomes ready. Its deadline passes, and about
	// two hours later a user rolls it back.
	refunds    = workload.ID{Namespace: "payments", Kind: workload.Deployment, Name: "refunds"}
	badVersion = window{wednesday(11, 5), wednesday(13, 10)}

	// These teams deploy every twenty minutes, day and night.
	continuous = map[workload.ID]bool{
		{Namespace: "shop", Kind: workload.Deployment, Name: "cart"}:      true,
		{Namespace: "search", Kind: workload.Deployment, Name: "suggest"}: true,
	}
)

// A rollout replaces the pods of a workload within a window: a quarter at a time, with a
// quarter more pods. A bad rollout stops at the first half, which never becomes ready,
// until it is rolled back at the end of the window.
type rollout struct {
	window
	bad bool
}

// deploys draws the rollouts of a workload. Most teams deploy once on a working day.
func deploys(id workload.ID, r *rand.Rand) []rollout {
	var all []rollout
	switch {
	case continuous[id]:
		for at := 7 * time.Minute; at+16*time.Minute < length; at += 20 * time.Minute {
			all = append(all, rollout{window: window{at, at + 16*time.Minute}})
		}
		return all
	case id == refunds:
		return []rollout{{window: badVersion, bad: true}}
	}
	for _, midnight := range []time.Duration{6 * time.Hour, warmUp} { // Tuesday, Wednesday
		if r.Float64() < 0.7 {
			at := (midnight + 9*time.Hour + time.Duration(r.Float64()*8*float64(time.Hour))).Truncate(step)
			all = append(all, rollout{window: window{at, at + seconds(r, 240, 960).Truncate(step)}})
		}
	}
	return all
}
