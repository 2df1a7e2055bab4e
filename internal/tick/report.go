package tick

import (
	"errors"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Report is what a tick saw, decided and did.
type Report struct {
	Site    string
	Cluster string    // UID of the cluster that was sampled
	At      time.Time // of the sample
	DryRun  bool
	Observe bool // the site's policy writes nothing to git

	// NotRun is why the tick ended before it looked: another tick has the lease, or took
	// the turn. "" means that the tick ran.
	NotRun string

	Samples []workload.Sample // in the order of workload.Compare
	Unread  []workload.Unread // parts of the cluster that could not be read
	Kinds   workload.Kinds    // those that were looked for
	// Stop is why nothing was lowered, or changed at all, in the whole fleet.
	Stop policy.Stop
	// Drop is the mass drop that the fleet has not recovered from; nil is none.
	Drop *latch.Drop

	// Set is the policy that decided, and Latches are the latches after it, by
	// workload.
	Set     policy.Set
	Latches latch.Latches
	// Evidence is what git says keeps checkpoints inert.
	Evidence checkpoint.Evidence

	// InPlace are the marks in files that are edited in place, by file and workload. A tick
	// that reads no file has none.
	InPlace []inplace.Mark

	Decisions []policy.Decision // in the order of workload.Compare
	Notices   []Notice          // what was found in git, and done about it

	// Commit is what was published; nil where there was nothing to say. In a dry
	// run it is what would have been, without an id.
	Commit *Commit
	// Proposal is what people were asked for, or asked anew; nil where nothing
	// about it changed.
	Proposal *Proposed

	// UnpublishedSince is since when a crossing could not be published; zero is no such
	// crossing.
	UnpublishedSince time.Time
	// Conditions are what people should know as of this tick, and Alerts the
	// messages that follow from it, sent or not.
	Conditions []alert.Condition
	Alerts     []alert.Alert

	// Problems are what a person must fix. The tick went on without the parts that
	// have them.
	Problems []error
}

// A Notice is one thing found in git that is not as it was agreed.
type Notice struct {
	Kind    NoticeKind `json:"kind"`
	Subject string     `json:"subject"` // a workload, a commit or a file
	Text    string     `json:"text"`
}

// NoticeKind is a stable name for what a notice says.
type NoticeKind string

// The notices.
const (
	NoticeSeeded    NoticeKind = "seeded"          // state was new or lost, and read back from git
	NoticeLanded    NoticeKind = "landed"          // an earlier tick's push, which it did not live to hear of
	NoticeCut       NoticeKind = "cut"             // too much came to tell whose change each is
	NoticeReverted  NoticeKind = "reverted"        // a person reverted what gitlatch pushed
	NoticeAdopted   NoticeKind = "adopted"         // a person edited an entry
	NoticeOptedOut  NoticeKind = "opted-out"       // a person deleted an entry
	NoticeRemoved   NoticeKind = "entries-removed" // a user's commit removed the entry with many others
	NoticeRewritten NoticeKind = "rewritten"       // the branch does not descend from what was agreed
	NoticeMoved     NoticeKind = "moved"           // an entry moved while it was to be written
	NoticeMerged    NoticeKind = "merged"          // people merged what was proposed
	NoticeDeclined  NoticeKind = "declined"        // people closed the proposal, or took it over
	NoticeWithdrawn NoticeKind = "withdrawn"       // nothing was left of the proposal
	NoticeStale     NoticeKind = "stale"           // a Component or a marked count does not say what its record says
)

// A Commit is one that a tick made.
type Commit struct {
	ID      string
	Message string
	Changes []policy.Decision
}

// Proposed is a proposal as a tick left it.
type Proposed struct {
	URL     string
	Message string
	Changes []policy.Decision
}

// Err joins the report's problems and unread parts: what a person should be
// told although the tick came to its end.
func (r Report) Err() error {
	problems := append([]error(nil), r.Problems...)
	for _, part := range r.Unread {
		problems = append(problems, &workload.UnreadError{Unread: part})
	}
	return errors.Join(problems...)
}

// sampled adds the sample to the report.
func (r *Report) sampled(f workload.Fleet) {
	r.At = f.At.UTC()
	r.Cluster = f.Cluster
	r.Samples = f.Samples
	r.Unread = f.Unread
	r.Kinds = f.Kinds
}

// decided adds the decisions to the report.
func (r *Report) decided(set policy.Set, d policy.Decided) {
	r.Observe = !set.Latch
	r.Set = set
	r.Stop = d.Stop
	r.Drop = d.Head.Drop
	r.Decisions = d.Decisions
	r.Evidence = d.Head.Agreed.Evidence
}

// published adds what was published to the report.
func (r *Report) published(p Published) {
	r.Decisions = p.Decisions
	r.Commit = p.Commit
	r.Proposal = p.Asked
	r.InPlace = p.Markers.marks
}

// raised adds the alerts to the report.
func (r *Report) raised(head latch.Head, alerts []alert.Alert) {
	r.UnpublishedSince = head.UnpublishedSince
	r.Alerts = alerts
}
