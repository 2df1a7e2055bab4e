// Package report formats the result of a tick for users and machines: as a table, as JSON
// or YAML of a stable shape, as log lines and as metrics.
package report

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Document is the stable shape of a report.
type Document struct {
	term.Document
	Build   string    `json:"build,omitempty"` // the version of gitlatch
	Site    string    `json:"site"`
	Cluster string    `json:"cluster"` // UID of the kube-system namespace
	At      time.Time `json:"at"`      // of the sample
	Mode    string    `json:"mode"`    // latch or observe
	DryRun  bool      `json:"dryRun"`

	// Held is the reason why the tick did not run: another tick has the lease, or has
	// taken the turn.
	Held string `json:"held,omitempty"`
	// Unread names the parts of the cluster that could not be read.
	Unread []string `json:"unread"`
	// Stop is the reason why the site lowered no level, or changed no level.
	Stop policy.Stop `json:"stop,omitzero"`

	Workloads []Workload     `json:"workloads"`
	Notices   []notes.Notice `json:"notices"`
	Commit    *Commit        `json:"commit"` // null without a commit
	// Proposal is the open proposal, if the tick changed anything about it.
	Proposal *Proposal `json:"proposal,omitempty"`
	// Conditions are the open conditions after this tick.
	Conditions []Condition `json:"conditions"`
	// Alerts are the headlines of the alerts that were sent.
	Alerts   []string `json:"alerts"`
	Problems []string `json:"problems"`
}

// Workload contains the sample of one workload and the decision about it. Replica counts
// are in pods; null is unknown.
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

	// Rollout is the rollout in flight, or the rollout in git. It is omitted without a
	// rollout.
	Rollout *Rollout `json:"rollout,omitempty"`
}

// Rollout contains the sample of a rollout and the decision about it. Milestones are in
// percent; null means that git has no rollout.
type Rollout struct {
	Target    string `json:"target,omitempty"`  // hash of the template that it rolls out
	Desired   *int32 `json:"desired"`           // pods of all templates; null if unknown
	Available *int32 `json:"available"`         // pods of the target
	Failure   string `json:"failure,omitempty"` // the condition of the failure
	Halted    string `json:"halted,omitempty"`  // the reason why a user stopped it, for example a pause

	Returns string `json:"returns,omitempty"` // the template that a rebuild should create, in git: from or to
	Decided
}

// Decided is the decision about one reading of a workload. Declared and To are in pods or
// percent; null means no entry.
type Decided struct {
	Policy   string         `json:"policy,omitempty"`
	Declared *int32         `json:"declared"` // before the tick
	Verdict  policy.Verdict `json:"verdict"`
	Reason   policy.Reason  `json:"reason,omitempty"`
	Text     string         `json:"text"`
	To       *int32         `json:"to"` // the level after the level change, even if the change was not made
	Urgent   bool           `json:"urgent,omitempty"`
	Proposed bool           `json:"proposed,omitempty"` // true if the open proposal contains the change
}

// Condition is an open condition. It has a kind in the handbook's table of alerts, a
// subject, and sentences about the problem, its effect and the action.
type Condition struct {
	alert.Condition
	Severity alert.Severity `json:"severity"`
}

// Commit is the published commit. In a dry run, it is the commit that would be published.
type Commit struct {
	ID        string `json:"id,omitempty"`
	Subject   string `json:"subject"`
	Message   string `json:"message"`
	Crossings int    `json:"crossings"`
}

// Proposal is the state of a proposal after the tick.
type Proposal struct {
	URL       string `json:"url,omitempty"` // "" in a dry run
	Subject   string `json:"subject"`
	Crossings int    `json:"crossings"`
}

// New returns a report in its stable shape.
func New(r tick.Report) Document { return of(r, func(Workload) bool { return true }) }

// Brief returns the document without the workloads that are quiet or not latched.
func Brief(r tick.Report) Document {
	return of(r, func(w Workload) bool { return w.told() || w.Rollout != nil && w.Rollout.told() })
}

func of(r tick.Report, told func(Workload) bool) Document {
	d := Document{
		Document: term.DocumentOf("TickReport"),
		Site:     r.Site, Cluster: r.Cluster, At: r.At, Mode: "latch", DryRun: r.DryRun, Held: r.NotRun, Stop: r.Stop,
		Unread:     workload.Texts(r.Unread),
		Notices:    append([]notes.Notice{}, r.Notices...),
		Workloads:  []Workload{},
		Conditions: lists.Map(r.Conditions, func(c alert.Condition) Condition { return Condition{c, c.Kind.Severity()} }),
		Alerts:     lists.Map(r.Alerts, alert.Alert.Headline),
		Problems:   lists.Map(r.Problems, error.Error),
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

// told reports whether a table or a brief document includes the workload's replicas.
func (w Workload) told() bool {
	return w.Verdict != policy.Skip && (w.Verdict != policy.Quiet || w.Mismatch != nil)
}

// told reports whether a table or a brief document includes the rollout.
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
