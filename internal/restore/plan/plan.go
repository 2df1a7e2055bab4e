// Package plan plans a restore: the workloads to raise, their target replicas, the waves
// and the pace. It does no I/O.
package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Workload is a workload in the cluster.
type Workload struct {
	ID       workload.ID
	Replicas int32 // desired pods
	Ready    int32 // ready pods
	// Priority is the value of the PriorityClass of its pods; 0 if no class applies.
	Priority    int32
	Terminating bool
	OptOut      bool
	// Unknown is a phrase that explains why its replicas are unknown; "" for a workload
	// with known replicas.
	Unknown string
	Scalers []Scaler // its autoscalers; each gets a brake
	// Version changes with each write to the object that Runs returns. A workload with
	// Version "" cannot be written.
	Version string
	// Primary is the workload that Flagger runs in place of this one; zero if Flagger
	// does not promote it. Replicas, Ready and Scalers are then the primary's.
	Primary workload.ID
}

// Runs returns the workload with the live pods of w: its primary, or w itself.
func (w Workload) Runs() workload.ID { return cmp.Or(w.Primary, w.ID) }

// A Kind is a kind of autoscaler, in kubectl's spelling.
type Kind string

// The kinds of autoscalers. They do not include an HPA that belongs to a ScaledObject,
// because KEDA controls it.
const (
	HPA          Kind = "horizontalpodautoscaler"
	ScaledObject Kind = "scaledobject"
)

// A Scaler is one autoscaler of a workload.
type Scaler struct {
	Kind      Kind
	Namespace string
	Name      string
	Max       int32 // in pods; 0 means no maximum
	// Fixed is a phrase that explains why the autoscaler undoes any raise, such as
	// "paused at 3 replicas"; "" if it does not.
	Fixed string
	// Owner is another field manager of the field that a brake sets, such as a GitOps
	// tool. It may undo the brake. "" if no other manager sets the field.
	Owner string
}

// String returns the autoscaler's kind, namespace and name.
func (s Scaler) String() string { return string(s.Kind) + " " + s.Namespace + "/" + s.Name }

// MarshalText returns the same text as String.
func (s Scaler) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Options narrow a plan. The zero value restores every level in git.
type Options struct {
	Factor     float64 // part of each level to restore, rounded up: a ValidFactor, or 0 for 1
	Namespaces []string
	Workloads  []workload.ID
	// FromZero also raises workloads with 0 replicas, which a user may have suspended.
	FromZero bool
	Kinds    workload.Kinds // custom kinds that were listed
}

// ValidFactor reports whether a factor is above 0 and at most 1, for a smaller site. A
// restore never goes above the level in git. To go above it, a user edits the checkpoint
// file, where others review the change.
func ValidFactor(f float64) bool { return f > 0 && f <= 1 }

// CheckNamespaces returns an error if a user's list of namespaces has an invalid or a
// repeated name.
func CheckNamespaces(names []string) error {
	for i, name := range names {
		switch {
		case !workload.ValidLabel(name):
			return fmt.Errorf("%q is not a namespace name: must be %s", name, workload.MustLabel)
		case slices.Contains(names[:i], name):
			return fmt.Errorf("%s is named twice", name)
		}
	}
	return nil
}

// A Plan lists the workloads that a restore brakes, raises or skips. A restore brakes all
// workloads of Braked and of Waves, and then raises the workloads of Waves.
type Plan struct {
	Waves []Wave `json:"waves,omitempty"`
	// Braked are the workloads that a restore only brakes, in the order of
	// workload.Compare. They are at their level, above it, or at a maximum below it. The
	// latter are also in Left.
	Braked []Raise `json:"braked,omitempty"`
	Left   []Left  `json:"left,omitempty"` // in the order of workload.Compare

	// The inputs of the plan, for Judge.
	record  map[workload.ID]checkpoint.Entry
	options Options
}

// A Wave is raised together, after the previous wave.
type Wave struct {
	Name   string  `json:"name"`
	Raises []Raise `json:"raises"` // in the order of workload.Compare

	rank int64 // its position; the lowest comes first
}

// A Raise raises one workload, or only brakes it if To is not above From.
type Raise struct {
	ID       workload.ID `json:"workload"`
	From     int32       `json:"from"`               // present replicas, in pods
	To       int32       `json:"to"`                 // replicas that the workload needs; a restore never lowers to it
	Declared int32       `json:"declared,omitempty"` // level in git, in pods
	Capped   bool        `json:"capped,omitempty"`   // To is less than the level, because of the maximum of the entry or of an autoscaler
	Scalers  []Scaler    `json:"-"`
}

// A Left is a workload with a level in git that the restore does not raise.
type Left struct {
	ID     workload.ID `json:"workload"`
	Reason Reason      `json:"reason"`
	Text   string      `json:"text"` // a phrase
}

// Skips reports whether the restore does not even brake the workload.
func (l Left) Skips() bool { return l.Reason != "" && l.Reason != AtMax }

// A Reason is the reason why a workload is not raised.
type Reason string

// The reasons.
const (
	Absent      Reason = "absent"      // it does not exist
	Unknown     Reason = "unknown"     // its replicas are unknown
	NotRead     Reason = "not-read"    // gitlatch does not read its kind
	Suspended   Reason = "suspended"   // it has 0 replicas
	Terminating Reason = "terminating" // being deleted
	OptedOut    Reason = "opted-out"   // its annotation opts it out
	Fixed       Reason = "fixed"       // its autoscaler undoes any raise
	AtMax       Reason = "at-max"      // it is at a maximum that is below its level; it only gets a brake
)

// Passes reports whether the reason may end without a user. While a cluster comes up, its
// controllers create workloads and set their replicas.
func (r Reason) Passes() bool { return r == Absent || r == Unknown }

// All returns the workloads of Braked and of all waves.
func (p Plan) All() []Raise {
	all := slices.Clone(p.Braked)
	for _, wave := range p.Waves {
		all = append(all, wave.Raises...)
	}
	return all
}

// Make plans a restore of the entries onto the live workloads. It ignores entries without
// a level.
func Make(record map[workload.ID]checkpoint.Entry, live map[workload.ID]Workload, o Options) Plan {
	p := Plan{record: record, options: o}
	// The waves go by PriorityClass: the users of a cluster have stated there which pods
	// others need, and the scheduler preempts by it.
	waves := map[int32]*Wave{}
	for id, e := range record {
		if e.Replicas == 0 || !id.Among(o.Namespaces, o.Workloads) {
			continue
		}
		r, left := judge(id, e, live, o)
		if left.Reason != "" {
			p.Left = append(p.Left, left)
		}
		switch {
		case left.Skips():
		case r.To > r.From:
			at := live[id].Priority
			if waves[at] == nil {
				waves[at] = &Wave{Name: fmt.Sprintf("priority %d", at), rank: -int64(at)}
			}
			waves[at].Raises = append(waves[at].Raises, r)
		default:
			p.Braked = append(p.Braked, r)
		}
	}
	p.Waves = sorted(waves)
	slices.SortFunc(p.Braked, byID)
	slices.SortFunc(p.Left, func(a, b Left) int { return workload.Compare(a.ID, b.ID) })
	return p
}

// Judge applies the rules of the plan to the present workloads. It returns the rest of a
// raise, never above the planned replicas, and why the workload is skipped, if it is. A
// workload that is skipped has no raise, unless it is at its maximum.
func (p Plan) Judge(planned Raise, live map[workload.ID]Workload) (Raise, Left) {
	r, left := judge(planned.ID, p.record[planned.ID], live, p.options)
	r.To = min(r.To, planned.To)
	return r, left
}

// judge decides about one workload with an entry. It returns a raise if To is above From,
// or the reason to skip the workload.
func judge(id workload.ID, e checkpoint.Entry, live map[workload.ID]Workload, o Options) (Raise, Left) {
	w, lives := live[id]
	if left, is := leave(id, w, lives, o); is {
		return Raise{ID: id}, left
	}
	r := raise(e, w, o)
	if r.Capped && r.To <= r.From {
		return r, Left{id, AtMax, fmt.Sprintf("has %d replicas. Its maximum is %d and its level %d", r.From, r.To, r.Declared)}
	}
	return r, Left{}
}

// leave returns the reason to skip a workload, and whether there is one.
func leave(id workload.ID, w Workload, lives bool, o Options) (Left, bool) {
	_, looked := o.Kinds.Object(id.Kind)
	switch {
	case !looked:
		return Left{id, NotRead, fmt.Sprintf("has a kind that gitlatch does not read. Add %s to kinds of the policy", id.Kind)}, true
	case !lives:
		return Left{id, Absent, "does not exist in the cluster"}, true
	case w.Terminating:
		return Left{id, Terminating, "is being deleted"}, true
	case w.OptOut:
		return Left{id, OptedOut, "is opted out by its annotation"}, true
	case w.Unknown != "":
		return Left{id, Unknown, w.Unknown}, true
	case w.Replicas == 0 && !o.FromZero:
		return Left{id, Suspended, "is suspended (0 replicas). To raise it, use --from-zero."}, true
	}
	if s, fixed := lists.First(w.Scalers, func(s Scaler) bool { return s.Fixed != "" }); fixed {
		return Left{id, Fixed, s.String() + " is " + s.Fixed}, true
	}
	return Left{}, false
}

// raise returns the raise of a workload. If To is not above From, there is nothing to do.
func raise(e checkpoint.Entry, w Workload, o Options) Raise {
	r := Raise{ID: w.ID, From: w.Replicas, Declared: e.Replicas, Scalers: w.Scalers}
	need := math.Ceil(float64(e.Replicas)*cmp.Or(o.Factor, 1) - 1e-9) // 0.07 of 100 is 7
	r.To = int32(min(max(need, 1), math.MaxInt32))
	maxima := lists.Map(w.Scalers, func(s Scaler) int32 { return s.Max })
	if most := workload.Maximum(append(maxima, e.Max)...); most > 0 && most < r.To {
		r.To, r.Capped = most, true
	}
	return r
}

// sorted returns the waves, the highest priority first.
func sorted(waves map[int32]*Wave) []Wave {
	var all []Wave
	for _, priority := range slices.Backward(slices.Sorted(maps.Keys(waves))) {
		slices.SortFunc(waves[priority].Raises, byID)
		all = append(all, *waves[priority])
	}
	return all
}

func byID(a, b Raise) int { return workload.Compare(a.ID, b.ID) }
