package policy

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Policy says how one workload is latched. The zero value is not valid;
// start from a preset.
type Policy struct {
	Name string

	Series Series
	Round  Round

	// HoldUp is how many consecutive samples a raise needs; at least 1.
	HoldUp int
	// HoldDown is the observed, unfrozen time that a lowering needs, on top of
	// HoldUp samples; 0 makes the holds symmetric.
	HoldDown time.Duration
	// Margin is the hysteresis of a lowering, 0.1 for 10 %. A workload whose
	// autoscaler tolerates more uses that.
	Margin float64

	// Urgent is the need over declared above which a raise waits for no budget.
	Urgent float64
	// Surge is the need over declared above which one crossing is out of the
	// ordinary. Review withholds such a crossing for a person to make.
	Surge  float64
	Review bool

	// Scale and Bounds are what is done with a scale and its bounds, Rollout
	// with a rollout in flight.
	Scale, Bounds, Rollout Mode
	// RolloutAfter is how long a rollout must be in flight for its record to begin, 0
	// from its first sample on. One that fails is recorded at once.
	RolloutAfter time.Duration
	// ProgressDeadline is for how long no pod of a rollout comes, of those that are
	// missing, until it has failed; and for how long it is healthy until the failure
	// is over.
	ProgressDeadline time.Duration
	// Milestones are those that a record passes, in percent, ascending.
	Milestones []int32
	// Cut is the percentage from which on, in two healthy samples in a row, a rebuild
	// should begin with the new template.
	Cut int32
	// Undriven lets the policy latch a workload that no autoscaler drives.
	Undriven bool
	// AcceptRisk lets a level be written although nothing is known to keep it
	// from acting on the live cluster.
	AcceptRisk bool
}

// Round is how a need becomes a level.
type Round string

// The ways of rounding.
const (
	// RoundUp never declares less than was needed.
	RoundUp Round = "up"
	// RoundNearest declares the nearest level, neighbours parting at their
	// geometric mean.
	RoundNearest Round = "nearest"
	// RoundHeadroom declares the smallest level at or above the need times the
	// autoscaler's target utilisation, so that the declared fleet would run at
	// no more than 100 %. Where there is no such target it is RoundUp.
	RoundHeadroom Round = "headroom"
)

// Rounds are the ways of rounding, for those who list them.
func Rounds() []Round { return []Round{RoundUp, RoundNearest, RoundHeadroom} }

// Mode is what is done with a reading of a workload.
type Mode string

// The modes of a reading.
const (
	ModeLatch  Mode = "latch"  // git follows it
	ModeReport Mode = "report" // a difference is said, git stays
	ModeIgnore Mode = "ignore" // nothing is said
)

// Modes are the modes, for those who list them.
func Modes() []Mode { return []Mode{ModeLatch, ModeReport, ModeIgnore} }

// Presets by name. "cope" is the default: rebuilt from git, the cluster copes.
// "closest" is the article to the letter: nearest level, symmetric holds.
// "weekly" keeps the peak of a week. "tight" wastes least.
func Presets() map[string]Policy {
	cope := Policy{
		Name:     "cope",
		Series:   OneTwoFive,
		Round:    RoundUp,
		HoldUp:   2,
		HoldDown: 26 * time.Hour,
		Margin:   0.1,
		Urgent:   1.25,
		Surge:    10,
		Scale:    ModeLatch,
		Bounds:   ModeReport,

		Rollout:      ModeLatch,
		RolloutAfter: 15 * time.Minute,
		// As a Deployment's progressDeadlineSeconds, which is 600 by default
		// (SetDefaults_Deployment in k8s.io/kubernetes, pkg/apis/apps/v1).
		ProgressDeadline: 10 * time.Minute,
		Milestones:       DefaultMilestones(),
		Cut:              50,
	}
	closest := cope
	closest.Name, closest.Round, closest.HoldDown = "closest", RoundNearest, 0
	weekly := cope
	weekly.Name, weekly.HoldDown = "weekly", 8*24*time.Hour
	tight := cope
	tight.Name, tight.Series, tight.Round = "tight", R10, RoundHeadroom
	return map[string]Policy{"cope": cope, "closest": closest, "weekly": weekly, "tight": tight}
}

// DefaultMilestones are the milestones of the presets, in percent.
func DefaultMilestones() []int32 { return []int32{25, 50, 75} }

// PresetNames are the names of the presets, sorted.
func PresetNames() []string { return slices.Sorted(maps.Keys(Presets())) }

// A Problem is one thing wrong with a policy, at a field of it.
type Problem struct {
	Field string // as gitlatch.yaml spells it: "hold.up"
	Text  string // "must be at least 1 sample, got 0"
}

// Problems says all that is wrong with a policy; nil is a valid one.
func (p Policy) Problems() []Problem {
	var found []Problem
	check := func(ok bool, field, format string, args ...any) {
		if !ok {
			found = append(found, Problem{field, fmt.Sprintf(format, args...)})
		}
	}
	check(p.Series.name != "" || p.Series.list != nil, "series", "must have at least one level")
	check(slices.Contains(Rounds(), p.Round), "round", "must be one of %s, got %q", list(Rounds()), p.Round)
	check(p.HoldUp >= 1, "hold.up", "must be at least 1 sample, got %d", p.HoldUp)
	check(p.HoldDown >= 0, "hold.down", "must not be negative, got %s", p.HoldDown)
	check(p.Margin >= 0 && p.Margin < p.Series.MaxMargin(), "margin",
		"must be at least 0 and below %.3g, or levels of series %s would be skipped; got %.3g", p.Series.MaxMargin(), p.Series, p.Margin)
	check(p.Urgent >= 1, "urgent", "must be at least 1, got %.3g", p.Urgent)
	check(p.Surge > 1, "surge.ratio", "must be above 1, got %.3g", p.Surge)
	check(slices.Contains(Modes(), p.Scale), "scale", "must be one of %s, got %q", list(Modes()), p.Scale)
	check(slices.Contains(Modes(), p.Bounds), "bounds", "must be one of %s, got %q", list(Modes()), p.Bounds)
	check(slices.Contains(Modes(), p.Rollout), "rollout.mode", "must be one of %s, got %q", list(Modes()), p.Rollout)
	check(p.RolloutAfter >= 0, "rollout.after", "must not be negative, got %s", p.RolloutAfter)
	check(p.ProgressDeadline > 0, "rollout.progressDeadline", "must be above 0, got %s", p.ProgressDeadline)
	check(ascending(p.Milestones, 1, 99), "rollout.milestones", "must be one or more of 1 to 99 %%, ascending, got %v", p.Milestones)
	check(p.Cut >= 1 && p.Cut <= 99, "rollout.cut", "must be from 1 to 99 %%, got %d", p.Cut)
	return found
}

// ascending reports whether there are numbers, each above the one before and all
// of them from low to high.
func ascending(numbers []int32, low, high int32) bool {
	for i, n := range numbers {
		if n < low || n > high || i > 0 && n <= numbers[i-1] {
			return false
		}
	}
	return len(numbers) > 0
}

func list[S ~string](of []S) string {
	text := make([]string, len(of))
	for i, s := range of {
		text[i] = string(s)
	}
	return strings.Join(text, ", ")
}

// A Match chooses workloads: those that each of its fields matches. An empty field
// matches all. Namespaces and Names match by any of their patterns, which are those
// of path.Match: * stands for any run of characters, and ? for any one. Labels must
// all be there, with these values.
type Match struct {
	Namespaces []string
	Names      []string
	Kinds      []workload.Kind
	Labels     map[string]string
}

// Matches reports whether the workload of a sample is chosen.
func (m Match) Matches(s workload.Sample) bool {
	for key, want := range m.Labels {
		if got, ok := s.Labels[key]; !ok || got != want {
			return false
		}
	}
	return anyOf(m.Namespaces, s.ID.Namespace) && anyOf(m.Names, s.ID.Name) &&
		(len(m.Kinds) == 0 || slices.Contains(m.Kinds, s.ID.Kind))
}

func anyOf(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// A Rule gives a policy to the workloads that it matches.
type Rule struct {
	Match  Match
	Policy Policy
}

// A Set is all that one site's gitlatch.yaml says.
type Set struct {
	// Latch is true where crossings are written to git; without it they are
	// computed and reported only, which is what a new site does.
	Latch bool
	// Rules are tried in order; the first that matches gives the policy, and
	// Default is for what none matches.
	Rules   []Rule
	Default Policy
	Guards  Guards
	// Ignored are the fields that the policy file still has and that say nothing any
	// more, each with its line and what to do.
	Ignored []string
}

// DefaultSet is what a site without a gitlatch.yaml is run by.
func DefaultSet() Set {
	return Set{Default: Presets()["cope"], Guards: DefaultGuards()}
}

// Guards are the limits over a whole site. The zero value is not valid; start
// from DefaultGuards.
type Guards struct {
	// Period is the time from one look to the next. A gap of more than three
	// restarts hold.up and counts nothing towards hold.down.
	Period time.Duration
	// Yield is how long gitlatch leaves alone what a person changed.
	Yield time.Duration
	// CommitsPerDay fills the token bucket that lowering and raises that are not
	// urgent draw from.
	CommitsPerDay int

	// A mass drop is when DropShare of the workloads, and at least DropLeast of
	// them, have at most half of what they had DropWithin ago.
	DropShare  float64
	DropLeast  int
	DropWithin time.Duration

	// RetireAfter is how long a workload must be absent before its entry goes.
	// While more than RetireShare of the site is absent, no entry goes.
	RetireAfter time.Duration
	RetireShare float64
}

// DefaultGuards are the guards of a site that configures none.
func DefaultGuards() Guards {
	return Guards{
		Period:        5 * time.Minute,
		Yield:         24 * time.Hour,
		CommitsPerDay: 24,
		DropShare:     0.3,
		DropLeast:     3,
		DropWithin:    30 * time.Minute,
		RetireAfter:   7 * 24 * time.Hour,
		RetireShare:   0.1,
	}
}

// Problems says all that is wrong with the guards; nil is valid.
func (g Guards) Problems() []Problem {
	var found []Problem
	check := func(ok bool, field, format string, args ...any) {
		if !ok {
			found = append(found, Problem{field, fmt.Sprintf(format, args...)})
		}
	}
	share := func(s float64) bool { return s > 0 && s <= 1 && !math.IsNaN(s) }
	check(g.Period > 0, "period", "must be above 0, got %s", g.Period)
	check(g.Yield >= 0, "yield", "must not be negative, got %s", g.Yield)
	check(g.CommitsPerDay >= 1, "budget.commitsPerDay", "must be at least 1, got %d", g.CommitsPerDay)
	check(share(g.DropShare), "massDrop.share", "must be above 0 and at most 100 %%, got %.3g", g.DropShare)
	check(g.DropLeast >= 1, "massDrop.least", "must be at least 1 workload, got %d", g.DropLeast)
	check(g.DropWithin >= g.Period, "massDrop.within", "must be at least the period of %s, got %s", g.Period, g.DropWithin)
	check(g.RetireAfter > 0, "retire.after", "must be above 0, got %s", g.RetireAfter)
	check(share(g.RetireShare), "retire.share", "must be above 0 and at most 100 %%, got %.3g", g.RetireShare)
	return found
}
