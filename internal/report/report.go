// Package report turns what a tick saw, decided and did into what people and
// machines read: a table, JSON or YAML of a stable shape, and log lines.
package report

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Document is a report in its stable shape.
type Document struct {
	term.Document
	Build   string    `json:"build,omitempty"` // the version of gitlatch that ticked
	Site    string    `json:"site"`
	Cluster string    `json:"cluster"` // UID of the kube-system namespace
	At      time.Time `json:"at"`      // of the sample
	Mode    string    `json:"mode"`    // latch or observe
	DryRun  bool      `json:"dryRun"`

	// Held says who holds the lease, or when the turn was taken, where the tick
	// ended because of that.
	Held string `json:"held,omitempty"`
	// Unread names the parts of the cluster that could not be read.
	Unread []string `json:"unread"`
	// Stop is why nothing in the site was lowered, or changed at all.
	Stop policy.Stop `json:"stop,omitzero"`

	Workloads []Workload `json:"workloads"`
	// InPlace is what files edited in place say; left out where none is named.
	InPlace []inplace.Mark `json:"inPlace,omitempty"`
	Notices []tick.Notice  `json:"notices"`
	Commit  *Commit        `json:"commit"` // null where there was nothing to say
	// Proposal is what people were asked for, where anything about it changed.
	Proposal *Proposal `json:"proposal,omitempty"`
	// Conditions are what people should know as of this tick.
	Conditions []Condition `json:"conditions"`
	// Alerts are the messages that followed, in a line each.
	Alerts   []string `json:"alerts"`
	Problems []string `json:"problems"`
}

// Workload is what was sampled of one workload, and the decision. Counts are
// pods; null is unknown.
type Workload struct {
	term.Named

	Replicas *int32 `json:"replicas"`
	Ready    *int32 `json:"ready"`
	Driver   string `json:"driver,omitempty"`
	Min      int32  `json:"min,omitempty"`
	Max      int32  `json:"max,omitempty"`
	InFlight *bool  `json:"rolloutInFlight"`

	Decided
	Surge    bool           `json:"surge,omitempty"`
	Capped   bool           `json:"cappedByGit,omitempty"`
	Mismatch *policy.Bounds `json:"liveBoundsDiffer,omitempty"`

	// Rollout is what was decided of a rollout in flight, or of one that git
	// still declares; left out where there is neither.
	Rollout *Rollout `json:"rollout,omitempty"`
}

// Rollout is what was sampled of a rollout, and the decision on it. Milestones
// are percent; null is a rollout that git does not declare.
type Rollout struct {
	Target    string `json:"target,omitempty"`  // hash of the template it is on its way to
	Desired   *int32 `json:"desired"`           // pods, of all templates; null is unknown
	Available *int32 `json:"available"`         // pods of the target
	Failure   string `json:"failure,omitempty"` // the condition by which it failed
	Halted    string `json:"halted,omitempty"`  // what keeps it where it is by somebody's wish

	Returns string `json:"returns,omitempty"` // with which template a rebuild should begin, as declared: from or to
	Decided
}

// Decided is the decision about one reading of a workload. Declared and To are pods or
// percent; null is no entry.
type Decided struct {
	Policy   string         `json:"policy,omitempty"`
	Declared *int32         `json:"declared"` // before the tick
	Verdict  policy.Verdict `json:"verdict"`
	Reason   policy.Reason  `json:"reason,omitempty"`
	Text     string         `json:"text"`
	To       *int32         `json:"to"` // the level after a level change, if it were made
	Urgent   bool           `json:"urgent,omitempty"`
	Proposed bool           `json:"proposed,omitempty"` // true if the open proposal contains the change
}

// Condition is one thing that people should know of: a kind of the
// handbook's table of alerts, what it is about, and in sentences what there is, what
// gitlatch does about it, and what to do.
type Condition struct {
	alert.Condition
	Severity alert.Severity `json:"severity"`
}

// Commit is what was published, or in a dry run would have been.
type Commit struct {
	ID        string `json:"id,omitempty"`
	Subject   string `json:"subject"`
	Message   string `json:"message"`
	Crossings int    `json:"crossings"`
}

// Proposal is a proposal as the tick left it.
type Proposal struct {
	URL       string `json:"url,omitempty"` // "" in a dry run
	Subject   string `json:"subject"`
	Crossings int    `json:"crossings"`
}

// New returns a report in its stable shape.
func New(r tick.Report) Document { return of(r, func(Workload) bool { return true }) }

// Brief returns it without the workloads of which there is nothing to say: those that
// are quiet, and those that are not latched.
func Brief(r tick.Report) Document {
	return of(r, func(w Workload) bool { return w.told() || w.Rollout != nil && w.Rollout.told() })
}

func of(r tick.Report, told func(Workload) bool) Document {
	d := Document{
		Document: term.DocumentOf("TickReport"),
		Site:     r.Site, Cluster: r.Cluster, At: r.At, Mode: "latch", DryRun: r.DryRun, Held: r.NotRun, Stop: r.Stop,
		Unread:  workload.Texts(r.Unread),
		InPlace: r.InPlace, Notices: append([]tick.Notice{}, r.Notices...),
		Workloads:  []Workload{},
		Conditions: each.Of(r.Conditions, func(c alert.Condition) Condition { return Condition{c, c.Kind.Severity()} }),
		Alerts:     each.Of(r.Alerts, alert.Alert.Headline),
		Problems:   each.Of(r.Problems, error.Error),
	}
	if r.Observe {
		d.Mode = "observe"
	}
	samples := make(map[workload.ID]*workload.Sample, len(r.Samples))
	for i, s := range r.Samples {
		samples[s.ID] = &r.Samples[i]
	}
	rollouts := map[workload.ID]*Rollout{}
	for _, one := range r.Decisions {
		if !ofScale(one) {
			rollouts[one.ID] = newRollout(one, newDecided(one, r.Latches.Get(one.ID)), samples[one.ID])
		}
	}
	for _, one := range r.Decisions {
		if !ofScale(one) {
			continue
		}
		w := newWorkload(one, newDecided(one, r.Latches.Get(one.ID)), samples[one.ID])
		w.Rollout = rollouts[one.ID]
		if told(w) {
			d.Workloads = append(d.Workloads, w)
		}
	}
	if c := r.Commit; c != nil {
		d.Commit = &Commit{c.ID, ledger.Subject(c.Message), c.Message, len(c.Changes)}
	}
	if p := r.Proposal; p != nil {
		d.Proposal = &Proposal{p.URL, ledger.Subject(p.Message), len(p.Changes)}
	}
	return d
}

// told reports whether there is anything to say of a workload's scale.
func (w Workload) told() bool {
	return w.Verdict != policy.Skip && (w.Verdict != policy.Quiet || w.Mismatch != nil)
}

// told reports whether there is anything to say of a rollout.
func (r Rollout) told() bool { return r.Verdict != policy.Quiet }

// newDecided returns the decision about a workload with a latch.
func newDecided(d policy.Decision, l latch.Latch) Decided {
	_, open := l.Change()
	return Decided{
		Policy: d.Policy, Declared: d.Reading.Of(d.From), To: d.Reading.Of(d.To),
		Verdict: d.Verdict, Reason: d.Reason, Text: d.Text, Urgent: d.Urgent,
		Proposed: open && (d.Verdict == policy.Cross || d.Verdict == policy.Review),
	}
}

func newRollout(d policy.Decision, made Decided, s *workload.Sample) *Rollout {
	r := &Rollout{Decided: made, Returns: string(d.From.Rollout.Returns)}
	if s != nil && s.Rollout != nil && len(s.Rollout.Templates) > 0 {
		target := s.Rollout.Templates[0]
		r.Target = target.Hash
		r.Desired = &s.Rollout.Desired
		r.Available = &target.Available
		r.Failure, r.Halted = s.Rollout.Failure, s.Rollout.Halted
	}
	return r
}

func newWorkload(d policy.Decision, made Decided, s *workload.Sample) Workload {
	w := Workload{Named: term.NamedBy(d.ID), Decided: made, Surge: d.Surge, Capped: d.Capped, Mismatch: d.Mismatch}
	if s == nil {
		return w
	}
	if s.Scale != nil {
		w.Replicas, w.Ready = &s.Scale.Desired, &s.Scale.Ready
		w.Driver = string(s.Scale.Driver)
		w.Min = s.Scale.Min
		w.Max = s.Scale.Max
	}
	if s.Rollout != nil {
		w.InFlight = &s.Rollout.InFlight
	}
	return w
}
