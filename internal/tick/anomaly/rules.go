package anomaly

import (
	"fmt"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A rule is one kind of condition.
type rule struct {
	kind alert.Kind
	// hold is how long an episode must last until its condition is raised.
	hold time.Duration
	// see applies the rule to a workload. The episode is the running one, or nil.
	see func(*candidate, *latch.Episode) sight
	fix string // see alert.Condition; fixOf fills it in
}

// A sight is the result of a rule at one sample. The zero value means that the sample
// does not show whether the rule matches.
type sight struct {
	known, matches bool
	text           string // a sentence with the numbers
	fix            string // instead of the fix of the rule; "" uses the fix of the rule
	// from is the replica count at which the episode starts; 0 if the rule has no such
	// count. A different value starts another episode.
	from int32
}

var (
	unknown = sight{}
	no      = sight{known: true}
)

func yes(format string, args ...any) sight {
	return sight{known: true, matches: true, text: fmt.Sprintf(format, args...)}
}

// The holds. Each is longer than a condition of its kind that ends without help.
const (
	// An autoscaler replaces a replica count that someone else wrote with its next
	// syncs, which are 15 s apart.
	momentary = 5 * time.Minute
	// An autoscaler scales down after 5 minutes, and its metrics lag by a minute or two.
	overshoot = 15 * time.Minute
	// The longest stabilization window for scaling down that Kubernetes accepts, 3600 s.
	longestWindow = time.Hour
	// New minimum and maximum replicas from git have reached the cluster and the entry.
	deployed = time.Hour
	// On AWS, the restore function releases brakes every 15 minutes.
	unreleased = time.Hour
)

// rules are all rules, in the order of their kinds.
var rules = []rule{
	{alert.Mismatch, deployed, (*candidate).mismatch,
		"to accept the live values, write them to {key}_min and {key}_max in {file}. Otherwise, correct the minimum and maximum of the autoscaler"},
	{alert.BrakeLeft, unreleased, (*candidate).brakeLeft,
		"run \"gitlatch restore --release=expired --yes -c {site}.yaml\", which removes every expired brake"},
	{alert.Capped, momentary, (*candidate).capped,
		"before the next rebuild, set {key}_max in {file} to the live maximum"},
	{alert.Override, momentary, (*candidate).override,
		"to keep this replica count, set the minimum of the autoscaler to it. Otherwise, resume the autoscaler if it is paused. It then sets the replica count again"},
	{alert.NotLoad, longestWindow, (*candidate).notLoad,
		"run \"kubectl -n {namespace} describe hpa\", and look for a higher minReplicas, a schedule, a user or another autoscaler"},
	{alert.Zero, overshoot, (*candidate).zero,
		"run \"kubectl -n {namespace} scale {workload} --replicas={level}\", because an autoscaler with a minimum above 0 does not start the workload. If the workload should stay at 0 replicas, delete {key} and its other lines from {file}"},
	{alert.WorkPerRequest, overshoot, (*candidate).workPerRequest,
		"check {namespace}/{workload} for a new version, a high number of retries, or a metric of demand that now measures something else"},
}

const (
	// An autoscaler tolerates 10 % around its target. At a lower load than idle it wants
	// fewer pods, and at a higher load than busy more.
	idle, busy = 0.9, 1.1
	// A replica count that the autoscaler has not changed for so long is one that it
	// would write itself.
	confirmed = 24 * time.Hour
	// A growth is by a quarter, as an urgent raise, and by 4 pods, the smallest step of
	// an autoscaler, since the lowest sample of the past half hour.
	grown     = 1.25
	leastStep = 4
	past      = 30 * time.Minute
)

// zero matches a workload that has an entry and no pods, unless its autoscaler may scale
// it to zero.
func (c *candidate) zero(was *latch.Episode) sight {
	if !c.Whole {
		return unknown
	}
	s := c.scale
	declared := c.latch.Declared.Replicas
	mayRest := s.Min == 0 && autoscaled(s)
	if s.Desired != 0 || declared == 0 || mayRest {
		return no
	}
	if s.Min > 0 {
		return yes("it is scaled to zero, %s. Its autoscaler's minimum is %d, and its level in git is %d", c.span(was), s.Min, declared)
	}
	return yes("it is scaled to zero, %s. Its level in git is %d", c.span(was), declared)
}

func autoscaled(s workload.Scale) bool {
	return s.Driver == workload.DrivenByHPA || s.Driver == workload.DrivenByKEDA
}

// override matches a replica count that a user wrote although an autoscaler drives it,
// unless the autoscaler would write the same.
func (c *candidate) override(*latch.Episode) sight {
	s := c.scale
	old := !s.Handed.IsZero() && c.Now.Sub(s.Handed) >= confirmed
	if s.Hand == "" || !autoscaled(s) || s.Desired == 0 || old || agrees(s) {
		return no
	}
	by := s.Hand
	if !s.Handed.IsZero() {
		by += " at " + instant(s.Handed)
	}
	return yes("its replica count is %d, set by %s, although an autoscaler scales it", s.Desired, by)
}

// agrees reports whether the metrics of an autoscaler ask for the current replicas.
func agrees(s workload.Scale) bool {
	switch {
	case s.Load == 0:
		return false
	case s.Load < idle:
		return s.Desired <= s.Min
	case s.Load > busy:
		return s.Max > 0 && s.Desired >= s.Max
	}
	return true
}

// mismatch matches live minimum and maximum replicas that differ from the entry. If the
// maximum of the entry is too low, capped matches instead.
func (c *candidate) mismatch(*latch.Episode) sight {
	declared := c.latch.Declared
	live, tooLow := policy.CompareBounds(c.policy, declared, c.scale)
	if live == nil || tooLow || c.policy.Bounds != policy.ModeReport {
		return no
	}
	return yes("the cluster allows %s, but git allows %s", live, policy.Bounds{Min: declared.Min, Max: declared.Max})
}

// capped matches desired replicas above the maximum of the entry.
func (c *candidate) capped(*latch.Episode) sight {
	declared := c.latch.Declared
	if _, tooLow := policy.CompareBounds(c.policy, declared, c.scale); !tooLow {
		return no
	}
	return yes("the desired replica count is %d, but the maximum in git is %d", c.scale.Desired, declared.Max)
}

// brakeLeft matches a brake of a restore that is past its end, or whose end is unknown.
func (c *candidate) brakeLeft(*latch.Episode) sight {
	b := c.scale.Brake
	if b.On == "" || b.Until.After(c.Now) {
		return no
	}
	s := yes("%s", b)
	if b.Until.IsZero() {
		s.fix = fmt.Sprintf("set the scale-down setting of %s as in its manifest, and run \"kubectl -n {namespace} annotate %s %s-\"",
			b.On, strings.ToLower(strings.Replace(b.On, " ", "/", 1)), workload.BrakeAnnotation)
	}
	return s
}

// notLoad matches a workload that grew while its metrics asked for fewer pods. The episode
// lasts until the metrics ask for its pods, or a tenth of them is gone.
func (c *candidate) notLoad(was *latch.Episode) sight {
	s := c.scale
	low, _ := c.latch.Recent.Range(c.Now.Add(-past))
	switch {
	case s.Load == 0:
		return unknown
	case s.Load >= idle:
		return no
	case was != nil && float64(s.Desired) >= idle*float64(was.From):
		return c.grew(was, was.From)
	case low > 0 && s.Desired-low >= leastStep && float64(s.Desired) >= grown*float64(low):
		return c.grew(was, s.Desired)
	}
	return no
}

func (c *candidate) grew(was *latch.Episode, to int32) sight {
	s := yes("it grew to %d pods, %s, while its metrics were below %.1f of their targets. They are now at %.2f",
		c.scale.Desired, c.span(was), idle, c.scale.Load)
	s.from = to
	return s
}
