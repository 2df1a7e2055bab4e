package policy

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Policy contains the settings for one workload. The zero value is not valid: start from a
// preset.
type Policy struct {
	Name string

	Series Series
	Round  Rounding

	// HoldUp is the number of consecutive samples for a raise; at least 1.
	HoldUp int
	// HoldDown is the observed, unfrozen time for a lowering, which also needs HoldUp samples.
	// Until twice HoldDown, the lowering waits for a commit that is made anyway. 0 makes
	// raises and lowerings symmetric.
	HoldDown time.Duration
	// Margin is the hysteresis of a lowering, 0.1 for 10 %. An autoscaler's own
	// tolerance replaces a smaller margin.
	Margin float64

	// Review makes a surge wait until a user merges it.
	Review bool

	// Scale, Bounds and Rollout are the modes for the scale, the autoscaler's bounds and a
	// rollout in flight.
	Scale, Bounds, Rollout Mode
	// RolloutAfter is the time in flight before a rollout gets an entry; 0 is the first
	// sample. A rollout that fails gets an entry at once.
	RolloutAfter time.Duration
	// ProgressDeadline is the time without a newly available pod, while pods are missing,
	// after which a rollout has failed. It is also the healthy time that ends a failure.
	ProgressDeadline time.Duration
	// Cut is a percentage. After two healthy samples in a row at or above Cut, a rebuild
	// starts with the new template.
	Cut int32
	// Undriven also latches workloads without an autoscaler.
	Undriven bool
}

// Rounding is the method of rounding a need to a level.
type Rounding string

// The methods of rounding.
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

// Rounds returns all methods of rounding.
func Roundings() []Rounding { return []Rounding{RoundUp, RoundNearest, RoundHeadroom} }

// Mode is the effect of a reading of a workload.
type Mode string

// The modes of a reading.
const (
	ModeLatch  Mode = "latch"  // gitlatch commits changes
	ModeReport Mode = "report" // gitlatch reports a difference
	ModeIgnore Mode = "ignore" // gitlatch reports nothing
)

// Modes returns all modes.
func Modes() []Mode { return []Mode{ModeLatch, ModeReport, ModeIgnore} }

// Presets by name. "cope" is the default: rebuilt from git, the cluster copes.
// "closest" is the article to the letter: nearest level of 1-2-5, symmetric holds.
func Presets() map[string]Policy {
	cope := Policy{
		Name:     "cope",
		Series:   Steps,
		Round:    RoundUp,
		HoldUp:   2,
		HoldDown: 26 * time.Hour,
		Margin:   0.1,
		Scale:    ModeLatch,
		Bounds:   ModeReport,

		Rollout:      ModeLatch,
		RolloutAfter: 15 * time.Minute,
		// As a Deployment's progressDeadlineSeconds, which is 600 by default
		// (SetDefaults_Deployment in k8s.io/kubernetes, pkg/apis/apps/v1).
		ProgressDeadline: 10 * time.Minute,
		Cut:              50,
	}
	closest := cope
	closest.Name = "closest"
	closest.Series = OneTwoFive
	closest.Round = RoundNearest
	closest.HoldDown = 0
	return map[string]Policy{"cope": cope, "closest": closest}
}

// Urgent is a ratio of need to declared level. A raise above Urgent does not wait for the
// budget: a workload at its usual target utilisation of 80 % survives a need of up to 1.25
// times its pods.
const Urgent = 1.25

// Surge is a ratio of need to declared level. A raise above Surge is a surge: a tenfold need
// within one hold is more often a fault than traffic. A user who knows such traffic has no
// other ratio to choose, because a surge is committed, unless Policy.Review is set.
const Surge = 10

// Milestones are the percentages of progress at which an entry changes, ascending. A
// milestone rides with another commit, so more of them would cost no commit and show
// nothing: a rebuild depends on Policy.Cut alone.
func Milestones() []int32 { return []int32{25, 50, 75} }

// PresetNames returns the names of the presets, sorted.
func PresetNames() []string { return slices.Sorted(maps.Keys(Presets())) }

// A Problem is an invalid field of a policy.
type Problem struct {
	Field string // the name in gitlatch.yaml: "hold.up"
	Text  string // "must be at least 1 sample, got 0"
}

// A checker collects problems.
type checker []Problem

// check adds a problem of a field if it is not ok.
func (c *checker) check(ok bool, field, format string, args ...any) {
	if !ok {
		*c = append(*c, Problem{field, fmt.Sprintf(format, args...)})
	}
}

// Problems returns every problem of a policy; nil if the policy is valid.
func (p Policy) Problems() []Problem {
	var found checker
	check := found.check
	check(len(p.Series.list) > 0, "series", "must have at least one level")
	check(slices.Contains(Roundings(), p.Round), "round", "must be one of %s, got %q", list(Roundings()), p.Round)
	check(p.HoldUp >= 1, "hold.up", "must be at least 1 sample, got %d", p.HoldUp)
	check(p.HoldDown >= 0, "hold.down", "must not be negative, got %s", p.HoldDown)
	check(p.Margin >= 0 && p.Margin < p.Series.MaxMargin(), "margin",
		"must be at least 0 and below %.3g, or levels of series %s would be skipped; got %.3g", p.Series.MaxMargin(), p.Series, p.Margin)
	check(slices.Contains(Modes(), p.Scale), "scale", "must be one of %s, got %q", list(Modes()), p.Scale)
	check(slices.Contains(Modes(), p.Bounds), "bounds", "must be one of %s, got %q", list(Modes()), p.Bounds)
	check(slices.Contains(Modes(), p.Rollout), "rollout.mode", "must be one of %s, got %q", list(Modes()), p.Rollout)
	check(p.RolloutAfter >= 0, "rollout.after", "must not be negative, got %s", p.RolloutAfter)
	check(p.ProgressDeadline > 0, "rollout.progressDeadline", "must be above 0, got %s", p.ProgressDeadline)
	check(p.Cut >= 1 && p.Cut <= 99, "rollout.cut", "must be from 1 to 99 %%, got %d", p.Cut)
	return found
}

func list[S ~string](names []S) string {
	return strings.Join(lists.Map(names, func(s S) string { return string(s) }), ", ")
}

// A Match selects the workloads that match all of its fields. An empty field matches
// every workload. Namespaces and Names are lists of patterns of path.Match, and one of
// them must match: * is any sequence of characters, ? is one character. A workload must
// have all Labels.
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

// Empty reports whether m has no condition, so that it selects every workload.
func (m Match) Empty() bool {
	return len(m.Namespaces) == 0 && len(m.Names) == 0 && len(m.Kinds) == 0 && len(m.Labels) == 0
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

// A Set is the content of a site's gitlatch.yaml.
type Set struct {
	// Latch is true if gitlatch writes level changes to git. Otherwise it only reports them, as
	// in a new site.
	Latch bool
	// Rules are tried in order, and the first that matches gives the policy. Default is
	// the site's preset, the policy of a workload that no rule matches.
	Rules   []Rule
	Default Policy
	Guards  Guards
	// NoReview is true if the repository's host has no pull requests. A surge that a
	// policy wants reviewed is then committed like any other surge.
	NoReview bool
	Kinds    workload.Kinds // kinds to sample in addition to the built-in ones
	Images   bool           // whether the admission policy replaces images
	First    bool           // a user states that a rebuild applies the levels before the workloads
	Subject  string         // template of the subject of commits and pull requests, see ledger.FillSubject
}

// DefaultSet is the set of a site without a gitlatch.yaml.
func DefaultSet() Set {
	return Set{Default: Presets()["cope"], Guards: DefaultGuards()}
}

// Guards are the limits of a site. Start from DefaultGuards. A site sets CommitsPerDay and
// the period. The other limits are values here, and not constants, because a test plays a week
// in an hour.
type Guards struct {
	// Period is the time from one sample to the next. A gap of more than three periods
	// restarts hold.up, and does not count towards hold.down.
	Period time.Duration
	// CommitsPerDay fills the token bucket for lowerings and raises that are not
	// urgent.
	CommitsPerDay int

	// Yield is the edit grace period: after a user's edit, gitlatch does not change the entry.
	Yield time.Duration

	// A mass drop is DropShare of the workloads, and at least DropLeast, with at most
	// half of the peak that they had within DropWithin.
	DropShare  float64
	DropLeast  int
	DropWithin time.Duration

	// RetireAfter is the time of absence after which gitlatch removes an entry. While more
	// than RetireShare of the entries belong to absent workloads, it removes no entry.
	RetireAfter time.Duration
	RetireShare float64
}

// DefaultGuards are the guards of a site without a setting.
func DefaultGuards() Guards {
	return Guards{
		Period:        5 * time.Minute,
		CommitsPerDay: 24,

		// A day, so that an edit of one on-call shift survives until the next one. For a
		// longer time, a user pauses the workload.
		Yield: 24 * time.Hour,

		// Deployments and nightly scale-downs touch fewer workloads at once. A site of one or
		// two workloads has no mass. Autoscalers need up to half an hour to halve a workload
		// that lost its traffic, and two samples must fit.
		DropShare:  0.3,
		DropLeast:  3,
		DropWithin: 30 * time.Minute,

		// A week contains each weekly job once. A clean-up of more than a tenth of a site is
		// rarer than a namespace that was deleted by mistake, and a user can remove the
		// entries in a commit.
		RetireAfter: 7 * 24 * time.Hour,
		RetireShare: 0.1,
	}
}

// Problems returns every problem of the fields that a site sets; nil if they are valid.
func (g Guards) Problems() []Problem {
	var found checker
	found.check(g.CommitsPerDay >= 1, "commitsPerDay", "must be at least 1, got %d", g.CommitsPerDay)
	return found
}
