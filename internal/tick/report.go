package tick

import (
	"errors"
	"slices"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Report contains the sample, the decisions and the effects of a tick.
type Report struct {
	Site string
	// Fleet is the sample. Its instant is in UTC.
	workload.Fleet
	DryRun  bool
	Observe bool // the site's policy writes nothing to git

	// NotRun is the reason for a tick without a sample: another tick has the lease, or took
	// the turn. "" means that the tick ran.
	NotRun string

	// Set is the policy that decided. Decided has its decisions, and the state after the tick.
	Set policy.Set
	policy.Decided

	// Commit is the commit of this tick; nil without a commit. In a dry run it has no id.
	Commit *Commit
	// Proposal is the proposal that this tick opened or updated; nil without a change.
	Proposal *Proposed

	Notes
	// Alerts are the messages about the conditions, sent or not.
	Alerts []alert.Alert
}

// A Notice is one difference between git and the agreement.
type Notice struct {
	Kind    NoticeKind `json:"kind"`
	Subject string     `json:"subject"` // a workload, a commit or a file
	Text    string     `json:"text"`
}

// NoticeKind is a stable name for a kind of notice.
type NoticeKind string

// The notices.
const (
	NoticeSeeded    NoticeKind = "seeded"          // the state was new or lost, and came from git
	NoticeLanded    NoticeKind = "landed"          // the push of an earlier tick landed without a reply
	NoticeCut       NoticeKind = "cut"             // the window is truncated, so authors are unknown
	NoticeReverted  NoticeKind = "reverted"        // a user reverted gitlatch's change
	NoticeAdopted   NoticeKind = "adopted"         // a user edited an entry
	NoticeOptedOut  NoticeKind = "opted-out"       // a user deleted an entry
	NoticeRemoved   NoticeKind = "entries-removed" // a user's commit removed the entry with many others
	NoticeRewritten NoticeKind = "rewritten"       // the tip does not descend from the agreed tip
	NoticeMoved     NoticeKind = "moved"           // an entry changed before the push
	NoticeMerged    NoticeKind = "merged"          // users merged proposed changes
	NoticeDeclined  NoticeKind = "declined"        // users closed the proposal, or took over its branch
	NoticeWithdrawn NoticeKind = "withdrawn"       // gitlatch closed the proposal
	NoticeStale     NoticeKind = "stale"           // a Component or the site's kustomization differs from the checkpoint files
)

// A Commit is one that a tick made.
type Commit struct {
	ID      string
	Message string
	Changes []policy.Decision
}

// Proposed is a proposal after a tick.
type Proposed struct {
	URL     string
	Message string
	Changes []policy.Decision
}

// Err joins the problems and the parts of the cluster that could not be listed. It can be
// non-nil although the tick succeeded.
func (r Report) Err() error {
	unread := lists.Map(r.Unread, func(part workload.Unread) error { return &workload.UnreadError{Unread: part} })
	return errors.Join(slices.Concat(r.Problems, unread)...)
}
