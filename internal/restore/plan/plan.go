// Package plan says what a restore does: which workloads it raises, to what, in
// which waves and at which pace. It is values in and values out.
package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Workload is one that lives in the cluster.
type Workload struct {
	ID       workload.ID
	Replicas int32 // asked for, in pods
	Ready    int32 // in pods
	// Priority is the value of the PriorityClass of its pods; 0 is none.
	Priority    int32
	Terminating bool
	OptOut      bool
	// Unknown says, as a phrase, why its count is not known; "" where it is.
	Unknown string
	Scalers []Scaler // what scales it, each of which takes a brake
	// Version changes with each write to what it runs; "" is of no use for a write.
	Version string
	// Primary is the workload that Flagger runs in the place of this one, whose
	// counts and Scalers these are; the zero ID is none.
	Primary workload.ID
}

// Runs is the workload whose scale is that of w: its primary, or itself.
func (w Workload) Runs() workload.ID { return cmp.Or(w.Primary, w.ID) }

// A Kind is a kind of autoscaler, as kubectl spells it.
type Kind string

// The kinds of autoscalers. An HPA that belongs to a ScaledObject is KEDA's tool,
// and none of them.
const (
	HPA          Kind = "horizontalpodautoscaler"
	ScaledObject Kind = "scaledobject"
)

// A Scaler is one autoscaler of a workload.
type Scaler struct {
	Kind      Kind
	Namespace string
	Name      string
	Max       int32 // in pods; 0 is no bound
	// Fixed says, as a phrase, why the autoscaler undoes any raise: "paused at 3
	// replicas"; "" where it does not.
	Fixed string
	// Owner is who else states what a brake sets, such as a GitOps tool, which
	// may undo it; "" is nobody.
	Owner string
}

// String names the autoscaler as kubectl does, and its namespace.
func (s Scaler) String() string { return string(s.Kind) + " " + s.Namespace + "/" + s.Name }

// MarshalText returns what String does.
func (s Scaler) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Options narrow a plan. The zero value restores all that the record declares.
type Options struct {
	Factor     float64 // of each level, rounded up: a ValidFactor, or 0, which is 1
	Namespaces []string
	Workloads  []workload.ID
	// Order is namespaces in the order of their waves, the rest coming last; nil
	// has waves by priority, the highest first.
	Order []string
	// FromZero raises workloads at zero, too, which somebody suspended.
	FromZero bool
	Kinds    workload.Kinds // those that were looked for
}

// ValidFactor reports whether a factor is one for a smaller site: above 0 and at
// most 1. No restore goes above what git declares; who wants that edits the
// record, where it is reviewed.
func ValidFactor(f float64) bool { return f > 0 && f <= 1 }

// CheckNamespaces says what is wrong with names of namespaces that somebody gave;
// nil where nothing is.
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

// Named are the namespaces that the options name.
func (o Options) Named() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(o.Namespaces, o.Order))))
}

// A Plan is what a restore is to do, and what it leaves alone.
type Plan struct {
	Waves []Wave `json:"waves,omitempty"`
	Left  []Left `json:"left,omitempty"` // in the order of workload.Compare
	// Reached is how many workloads are at their level or above, so that there
	// is nothing to do.
	Reached int `json:"reached"`

	// The rules that made it, for Judge.
	record  map[workload.ID]checkpoint.Entry
	options Options
}

// A Wave is raised as one, after the wave before it.
type Wave struct {
	Name   string  `json:"name"`
	Raises []Raise `json:"raises"` // in the order of workload.Compare
}

// A Raise takes one workload up.
type Raise struct {
	ID       workload.ID `json:"workload"`
	From     int32       `json:"from"` // in pods
	To       int32       `json:"to"`
	Declared int32       `json:"declared,omitempty"` // the level in git, in pods
	Capped   bool        `json:"capped,omitempty"`   // To is less than the level asks, since an accepted or live max is
	Scalers  []Scaler    `json:"-"`
}

// A Left is a workload of the record that is left as it is.
type Left struct {
	ID     workload.ID `json:"workload"`
	Reason Reason      `json:"reason"`
	Text   string      `json:"text"` // a phrase
}

// A Reason is why a workload is left.
type Reason string

// The reasons.
const (
	Absent      Reason = "absent"      // it does not exist
	Unknown     Reason = "unknown"     // a restore does not raise its kind, or its count is not known
	Suspended   Reason = "suspended"   // at zero
	Terminating Reason = "terminating" // being deleted
	OptedOut    Reason = "opted-out"   // by its annotation
	Fixed       Reason = "fixed"       // its autoscaler undoes any raise
	AtMax       Reason = "at-max"      // a max is below its level, and reached
)

// Make plans the restore of a record onto what lives. Entries without a level
// are none of its business.
func Make(record map[workload.ID]checkpoint.Entry, live map[workload.ID]Workload, o Options) Plan {
	p := Plan{record: record, options: o}
	waves := map[place]*Wave{}
	for id, e := range record {
		if e.Replicas == 0 || !id.Among(o.Namespaces, o.Workloads) {
			continue
		}
		r, left := judge(id, e, live, o)
		switch {
		case left.Reason != "":
			p.Left = append(p.Left, left)
		case r.To > r.From:
			at := o.place(live[id])
			if waves[at] == nil {
				waves[at] = &Wave{Name: at.name}
			}
			waves[at].Raises = append(waves[at].Raises, r)
		default:
			p.Reached++
		}
	}
	p.Waves = sorted(waves)
	slices.SortFunc(p.Left, func(a, b Left) int { return workload.Compare(a.ID, b.ID) })
	return p
}

// Judge applies the rules that made the plan to what lives now: what is left to do
// of a raise, never to more than was planned, and why its workload is left, if it
// is. What is left is at its max, or else has no raise.
func (p Plan) Judge(planned Raise, live map[workload.ID]Workload) (Raise, Left) {
	r, left := judge(planned.ID, p.record[planned.ID], live, p.options)
	r.To = min(r.To, planned.To)
	return r, left
}

// judge says what becomes of one workload of a record: a raise if its To is above
// its From, or why it is left.
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

// leave says why a workload is not to be raised.
func leave(id workload.ID, w Workload, lives bool, o Options) (Left, bool) {
	_, looked := o.Kinds.Object(id.Kind)
	switch {
	case !looked:
		return Left{id, Unknown, fmt.Sprintf("has a kind that gitlatch does not read. Add %s to kinds of the policy", id.Kind)}, true
	case !lives:
		return Left{id, Absent, "does not exist in the cluster"}, true
	case w.Terminating:
		return Left{id, Terminating, "is being deleted"}, true
	case w.OptOut:
		return Left{id, OptedOut, "is opted out by its annotation"}, true
	case w.Unknown != "":
		return Left{id, Unknown, w.Unknown}, true
	case w.Replicas == 0 && !o.FromZero:
		return Left{id, Suspended, "has 0 replicas, as if suspended. Use --from-zero to raise it"}, true
	}
	for _, s := range w.Scalers {
		if s.Fixed != "" {
			return Left{id, Fixed, s.String() + " is " + s.Fixed}, true
		}
	}
	return Left{}, false
}

// raise returns what would become of a workload, which may be no raise at all.
func raise(e checkpoint.Entry, w Workload, o Options) Raise {
	r := Raise{ID: w.ID, From: w.Replicas, Declared: e.Replicas, Scalers: w.Scalers}
	need := math.Ceil(float64(e.Replicas)*cmp.Or(o.Factor, 1) - 1e-9) // 0.07 of 100 is 7
	r.To = int32(min(max(need, 1), math.MaxInt32))
	bounds := []int32{e.Max}
	for _, s := range w.Scalers {
		bounds = append(bounds, s.Max)
	}
	for _, most := range bounds {
		if most > 0 && most < r.To {
			r.To, r.Capped = most, true
		}
	}
	return r
}

// A place is that of a wave among the others, the lowest first.
type place struct {
	rank int64
	name string
}

func (o Options) place(w Workload) place {
	if len(o.Order) == 0 {
		return place{-int64(w.Priority), fmt.Sprintf("priority %d", w.Priority)}
	}
	if i := slices.Index(o.Order, w.ID.Namespace); i >= 0 {
		return place{int64(i), "namespace " + w.ID.Namespace}
	}
	return place{int64(len(o.Order)), "the rest"}
}

func sorted(waves map[place]*Wave) []Wave {
	places := slices.SortedFunc(maps.Keys(waves), func(a, b place) int { return cmp.Compare(a.rank, b.rank) })
	return each.Of(places, func(at place) Wave {
		slices.SortFunc(waves[at].Raises, func(a, b Raise) int { return workload.Compare(a.ID, b.ID) })
		return *waves[at]
	})
}
