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
	Round  Rounding

	// HoldUp is how many consecutive samples a raise needs; at least 1.
	HoldUp int
	// HoldDown is the observed, unfrozen time that a lowering needs, beside HoldUp
	// samples; 0 makes the holds symmetric.
	HoldDown time.Duration
	// Margin is the hysteresis of a lowering, 0.1 for 10 %. An autoscaler's own
	// tolerance replaces a smaller margin.
	Margin float64

	// Urgent is a ratio of need to declared level. A raise above Urgent does not wait
	// for the budget.
	Urgent float64
	// Surge is a ratio of need to declared level. A raise above Surge is out of the
	// ordinary. With Review such a raise waits for a user to merge it.
	Surge  float64
	Review bool

	// Scale, Bounds and Rollout are what is done with the scale, the autoscaler's
	// bounds and a rollout in flight.
	Scale, Bounds, Rollout Mode
	// RolloutAfter is how long a rollout must be in flight before its record begins;
	// 0 is from the first sample. A rollout that fails is recorded at once.
	RolloutAfter time.Duration
	// ProgressDeadline is how long pods may be missing without a new one, before the
	// rollout has failed. It is also how long samples must be healthy to end a failure.
	ProgressDeadline time.Duration
	// Milestones are the percentages that a record steps through, ascending.
	Milestones []int32
	// Cut is a percentage. From two healthy samples in a row at Cut or above, a rebuild
	// should begin with the new template.
	Cut int32
	// Undriven lets the policy latch a workload that no autoscaler drives.
	Undriven bool
	// AcceptRisk lets a level be written although nothing is known to keep it
	// from acting on the live cluster.
	AcceptRisk bool
}

// Rounding is how a need becomes a level.
type Rounding string

// The ways of rounding.
const (
	// RoundUp never declares less than was needed.
	RoundUp Rounding = "up"
	// RoundNearest declares the nearest level; two levels part at their geometric mean.
	RoundNearest Rounding = "nearest"
	// RoundHeadroom declares the smallest level at or above the need times the
	// autoscaler's target utilisation: the declared pods run at 100 % at most. Without
	// such a target it is RoundUp.
	RoundHeadroom Rounding = "headroom"
)

// Rounds returns all ways of rounding.
func Roundings() []Rounding { return []Rounding{RoundUp, RoundNearest, RoundHeadroom} }

// Mode is what is done with a reading of a workload.
type Mode string

// The modes of a reading.
const (
	ModeLatch  Mode = "latch"  // git follows it
	ModeReport Mode = "report" // a difference is reported, git stays
	ModeIgnore Mode = "ignore" // nothing is reported
)

// Modes returns all modes.
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
	closest.Name = "closest"
	closest.Round = RoundNearest
	closest.HoldDown = 0
	weekly := cope
	weekly.Name, weekly.HoldDown = "weekly", 8*24*time.Hour
	tight := cope
	tight.Name = "tight"
	tight.Series = R10
	tight.Round = RoundHeadroom
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

// Problems lists all that is wrong with a policy; nil means that the policy is valid.
func (p Policy) Problems() []Problem {
	var found []Problem
	check := func(ok bool, field, format string, args ...any) {
		if !ok {
			found = append(found, Problem{field, fmt.Sprintf(format, args...)})
		}
	}
	check(p.Series.name != "" || p.Series.list != nil, "series", "must have at least one level")
	check(slices.Contains(Roundings(), p.Round), "round", "must be one of %s, got %q", list(Roundings()), p.Round)
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

// ascending reports whether the numbers are at least one, ascend strictly and lie
// from low to high.
func ascending(numbers []int32, low, high int32) bool {
	for i, n := range numbers {
		if n < low || n > high || i > 0 && n <= numbers[i-1] {
			return false
		}
	}
	return len(numbers) > 0
}

func list[S ~string](names []S) string {
	text := make([]string, len(names))
	for i, s := range names {
		text[i] = string(s)
	}
	return strings.Join(text, ", ")
}

// A Match chooses the workloads that all of its fields match. An empty field matches
// every workload. Namespaces and Names hold patterns of path.Match, any of which may
// match: * is any run of characters, ? is any one. A workload must have all Labels.
type Match struct {
	Namespaces []string
	Names      []string
	Kinds      []workload.Kind
	Labels     map[string]string
}

// Matches reports whether the workload of a sample is chosen.
func (m Match) Matches(s workload.Sample) bool {
	for key, value := range m.Labels {
		if !s.Labels.Has(key, value) {
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
	// Latch is true if crossings are written to git. Otherwise they are only computed
	// and reported, as in a new site.
	Latch bool
	// Rules are tried in order, and the first that matches gives the policy. Default
	// is the policy of a workload that no rule matches.
	Rules   []Rule
	Default Policy
	Guards  Guards
	// NoReview is true if the repository's host has no pull requests. A surge that a
	// policy wants reviewed is then committed like any other surge.
	NoReview bool
	Kinds    workload.Kinds // those that are sampled beside those that gitlatch knows
	// InPlace are the files, from the root of the repository, in which counts that are
	// marked follow the record; nil is none.
	InPlace []string
}

// DefaultSet is the set of a site without a gitlatch.yaml.
func DefaultSet() Set {
	return Set{Default: Presets()["cope"], Guards: DefaultGuards()}
}

// Guards are the limits over a whole site. The zero value is not valid; start
// from DefaultGuards.
type Guards struct {
	// Period is the time from one look to the next. A gap of more than three periods
	// restarts hold.up, and does not count towards hold.down.
	Period time.Duration
	// Yield is how long gitlatch leaves alone what a person changed.
	Yield time.Duration
	// CommitsPerDay fills the token bucket for lowerings and raises that are not
	// urgent.
	CommitsPerDay int

	// A mass drop is DropShare of the workloads, and at least DropLeast, with at most
	// half of the peak that they had within DropWithin.
	DropShare  float64
	DropLeast  int
	DropWithin time.Duration

	// RetireAfter is how long a workload must be absent before its entry is removed.
	// While more than RetireShare of the entries are of absent workloads, no entry is
	// removed.
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

// Problems lists all that is wrong with the guards; nil means that they are valid.
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
