package anomaly

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// A rule is how one kind of anomaly is told.
type rule struct {
	kind alert.Kind
	// of is the reading that it looks at, and whose decision says what was done.
	of policy.Reading
	// whole is set for what is missing, which a part of a cluster, or another
	// cluster, does not tell.
	whole bool
	// hold is how long it must be seen before people are told.
	hold time.Duration
	see  func(*candidate, *latch.Episode) sight
	do   string
}

// A sight is what a rule sees at one look.
type sight struct {
	seen seen
	text string // a sentence with the numbers, where it is seen
	// from and about go into an episode; one that has others is another episode.
	from  int32
	about string
	hold  time.Duration // where this one needs longer than its rule says
}

// seen is how much of what it looks for a rule sees.
type seen int

const (
	unknown seen = iota // it cannot be known
	nothing
	less // too little to begin an episode, too much to end one
	it
)

// The holds. Each is longer than what ends by itself.
const (
	// A count that a deploy resets, or a person writes, is written over by an
	// autoscaler's next syncs, 15 s apart, and its pods start: two looks in a row
	// are no such moment.
	momentary = 5 * time.Minute
	// An autoscaler looks back over 5 minutes on its way down, and its metrics lag
	// by a minute or two: what was overshot is over in a quarter of an hour.
	overshoot = 15 * time.Minute
	// A peak may touch a max. What stays at it for half an hour has no more to
	// give to the rest of that peak.
	atMax = 30 * time.Minute
	// On a ramp of 100 to 3,000 pods in 45 minutes, with 8 minutes to readiness,
	// pods are missing from the fifth minute to the last.
	ramp = time.Hour
	// The longest window that Kubernetes lets an autoscaler look back over before
	// it shrinks anything: 3600 s.
	longestWindow = time.Hour
	// A change of bounds by git has reached both the cluster and the record.
	deployed = time.Hour
	// A Deployment has 10 minutes for its next pod by default, and a tenth of a
	// StatefulSet of 200 pods, at 2 minutes each, takes 40.
	noProgress = 2 * time.Hour
	// Four of the runs that release on AWS, each 15 minutes, could have done it.
	unreleased = time.Hour
	// A rollout that somebody halted has had its working day.
	halted = 24 * time.Hour
)

// rules are all kinds that Judge tells, sorted.
var rules []rule

func init() {
	rules = []rule{
		{alert.Mismatch, policy.ReadingScale, false, deployed, (*candidate).mismatch,
			"accept the live bounds by editing the record, or give the autoscaler back those that git accepted"},
		{alert.BrakeLeft, policy.ReadingScale, false, unreleased, (*candidate).brakeLeft,
			"gitlatch restore release --expired --yes. If it says that the annotation cannot be read, set how the autoscaler scales down by hand, and remove the annotation"},
		{alert.Capped, policy.ReadingScale, false, momentary, (*candidate).capped,
			"accept the live bounds by editing the record: a rebuild now would start with too few pods"},
		{alert.Ceiling, policy.ReadingScale, false, atMax, (*candidate).ceiling,
			"see whether its load is real, then raise the max of its autoscaler"},
		{alert.Collapse, policy.ReadingScale, true, 2 * momentary, (*candidate).collapse,
			"see whether it has lost its traffic, or its metrics: what is in front of it, and its autoscaler's events"},
		{alert.Flapping, policy.ReadingScale, false, 0, (*candidate).flaps,
			"give its autoscaler a longer scaleDown.stabilizationWindowSeconds, or a metric that does not follow its own pods"},
		{alert.Override, policy.ReadingScale, false, momentary, (*candidate).override,
			"nothing, if that was meant: the autoscaler takes over by itself, unless it was paused. Else write back the count"},
		{alert.NotLoad, policy.ReadingScale, false, longestWindow, (*candidate).notLoad,
			"see what raised it: a higher minReplicas, a schedule, a person, another autoscaler"},
		{alert.RolloutFailed, policy.ReadingRollout, false, 0, (*candidate).failed,
			"undo the rollout, or roll forward"},
		{alert.RolloutStalled, policy.ReadingRollout, false, noProgress, (*candidate).stalled,
			"see why its pods do not get available; resume it, roll forward or undo it"},
		{alert.Zero, policy.ReadingScale, true, overshoot, (*candidate).zero,
			"scale it up; an autoscaler with a min above 0 does not by itself. If it is to stay so, delete its entry on the branch"},
		{alert.Unrealised, policy.ReadingScale, false, ramp, (*candidate).unrealised,
			"see the events of its pods: nodes, quota, images, readiness"},
		{alert.WorkPerRequest, policy.ReadingScale, false, overshoot, (*candidate).workPerRequest,
			"see what its pods do: a new version, a retry storm, a metric that counts something else"},
	}
}

func ruleOf(kind alert.Kind) rule {
	for _, r := range rules {
		if r.kind == kind {
			return r
		}
	}
	return rule{}
}
